"""The shared caches of models and traces: keys, limits and errors."""

import gc

import pytest
from torch.multiprocessing.reductions import StorageWeakRef

from pages.shell.models import untrained_models
from pages.shell.view import runs
from pages.shell.view.view import FIELDS
from pages.ui.caches import Store
from pages.ui.limits import CACHE_MEGABYTES, PARAMETERS, SIZES
from transformer import Ablate, ConfigError, InputError
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.untrained import LARGEST_ID, Untrained, Weights


def test_models_are_cached_by_value_within_bytes() -> None:
    own = runs.Runs()
    one, same, other = (Untrained.of("vanilla", [words], sizes={"d_model": 16, "d_ff": 8}) for words in "aab")
    assert own.pipeline(one) is own.pipeline(same)
    assert own.pipeline(one) is not own.pipeline(other)
    assert own.trace(one, ("a",), (None,), ()) is own.trace(same, ("a",), (None,), ())
    assert own.trace(one, ("a",), (None,), ()) is not own.trace(one, ("a", "a"), (None, None), ())
    assert own.trace(one, ("a",), (None,), ()) is not own.trace(one, ("a",), ("a",), ())
    base = Untrained.of("vanilla", ["a"])
    # The cache has room for a model of the paper's size and its traces. Heavy runs are drawn one at a time, so it need not have
    # room for two such models.
    assert 1.5 * 4 * base.parameters < CACHE_MEGABYTES << 20
    tables = 3 * SIZES["d_model"] * (LARGEST_ID + 1)  # the embeddings of source and target, and the output
    assert 4 * (PARAMETERS + untrained_models.BUILT * tables) < CACHE_MEGABYTES << 20


def test_model_errors_are_not_cached() -> None:
    own = runs.Runs()
    for _ in range(2):
        with pytest.raises(InputError):
            own.pipeline("nobody")


class Unbuilt(Untrained):
    """A model that must not be built."""

    def build(self, weights: Weights | None = None) -> Pipeline:
        raise AssertionError("built")


def test_too_many_parameters_are_refused_before_building() -> None:
    largest = {field: most for name, most in SIZES.items() for field in FIELDS[name]}
    with pytest.raises(ConfigError, match=f"parameters; one that is built here has up to {PARAMETERS:,}"):
        runs.Runs().pipeline(Unbuilt.of("vanilla", ["a"], sizes=largest))


def test_untrained_models_of_one_preset_and_sizes_share_their_layers() -> None:
    sizes = {"d_model": 64, "d_ff": 128, "encoder_layers": 1, "decoder_layers": 1}
    keys = [Untrained.of("vanilla", [f"word{number}"], sizes=sizes) for number in range(untrained_models.BUILT + 1)]
    store = Store(10**8)
    own = runs.Runs(store)
    first = own.pipeline(keys[0])
    held = store.nbytes
    built = [own.pipeline(key) for key in keys]
    assert built[0] is first
    assert own.pipeline(keys[-1]) is built[-1]
    assert own.pipeline(keys[0]) is not first  # it was dropped, because its last use was the oldest
    assert first.nbytes < held == store.nbytes
    layers = {own.own_network(key).encoder.layers[0].feed_forward.up_projection.weight.data_ptr() for key in keys}
    assert len(layers) == 1


@pytest.mark.slow
def test_the_predictions_of_an_edited_run_are_cached_even_if_its_trace_is_too_large() -> None:
    own = runs.Runs(Store(200_000))  # bytes; a trace is larger
    edits = [(Ablate("decoder.layers.0.cross_attention", heads=(head,)),) for head in (0, 1)]
    asked = [own.edited("reverse", "abcdefgh", None, some, (3, 4)) for some in (*edits, *edits)]
    assert own.trace("reverse", ("abcdefgh",), (None,), ()).nbytes > 200_000
    assert asked[0] is asked[2]
    assert asked[1] is asked[3]
    assert asked[0].given.tolist() != asked[1].given.tolist()


def test_weights_that_are_still_in_use_are_shared_after_the_cache_has_dropped_them() -> None:
    sizes = {"d_model": 64, "d_ff": 128, "encoder_layers": 1, "decoder_layers": 1}
    one, other = (Untrained.of("vanilla", [text], sizes=sizes) for text in ("held", "later"))
    held = runs.Runs(Store(10**8)).pipeline(one)
    later = runs.Runs(Store(10**8)).pipeline(other)
    first, second = (
        pipeline.network.get_parameter("encoder.layers.0.feed_forward.up_projection.weight") for pipeline in (held, later)
    )
    assert first.data_ptr() == second.data_ptr()
    memory = StorageWeakRef(first.untyped_storage())
    del held, later, first, second
    gc.collect()
    assert memory.expired()
