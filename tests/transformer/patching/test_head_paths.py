"""Tests of path patching: three passes by hand with `Patch` edits, and the sum of all paths in a linear network."""

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.transformer.patching.circuits import Circuit, linear
from tests.transformer.patching.loud import loud
from tests.transformer.patching.pairs import SIZES, SOURCES, last, pair_of
from transformer.errors import InputError
from transformer.network.tap import Edit
from transformer.patching import RunPair, path_effects
from transformer.tracing.interventions import Patch
from transformer.tracing.paths import Kind
from transformer.tracing.trace import Trace, run_traced

LAYERS = {"encoder": 1, "decoder": 2, "cross": 2}


def by_hand(pair: RunPair, sender: tuple[str, int, int], through: str, direction: str) -> dict[str, np.ndarray]:
    """The logit difference that each receiver carries on, by runs of the network with edits."""
    model = pair.network

    def run(ids: object, edits: list[Edit]) -> Trace:
        return run_traced(model, ids.source, ids.target, edits)

    def difference(trace: Trace) -> float:
        row = trace.logits[0, pair.row]
        return float(row[pair.tokens[0]] - row[pair.tokens[1]])

    clean, corrupt = run(pair.clean, []), run(pair.corrupt, [])
    base, other, ids = (corrupt, clean, pair.corrupt) if direction == "denoise" else (clean, corrupt, pair.clean)

    def edit(path: str, head: int, trace: Trace) -> Edit:
        return Patch(path, heads=(head,), values=trace[path].values[:, head : head + 1])

    edits = []
    for kind, layers in LAYERS.items():
        for layer, head in np.ndindex(layers, 2):
            path = str(Kind.of(kind).path(layer) / "head_output")
            edits.append(edit(path, head, other if (kind, layer, head) == sender else base))
    reached = run(ids, edits)
    effects = {kind: np.zeros((layers, 2)) for kind, layers in LAYERS.items()}
    for kind, values in effects.items():
        for layer, head in np.ndindex(values.shape):
            path = str(Kind.of(kind).path(layer) / f"{through}.heads")
            moved = difference(run(ids, [edit(path, head, reached)])) - difference(base)
            values[layer, head] = moved / (difference(clean) - difference(corrupt))
    return effects


@pytest.mark.slow
@pytest.mark.parametrize(("through", "direction"), [("query", "denoise"), ("key", "noise"), ("value", "denoise")])
def test_path_effects_are_three_passes_by_hand(through: str, direction: str) -> None:
    pair = pair_of(loud(**SIZES, norm_first=True, seed=2))
    for sender in (("encoder", 0, 1), ("decoder", 0, 0), ("cross", 0, 1)):
        effects = path_effects(pair, sender, through, direction)
        expected = by_hand(pair, sender, through, direction)
        assert effects.keys() == expected.keys()
        for kind, values in effects.items():
            assert values == pytest.approx(expected[kind], abs=1e-5)
        # The encoder reads nothing of the decoder.
        assert sender[0] == "encoder" or (effects["encoder"] == 0).all()
    assert np.abs(path_effects(pair, ("encoder", 0, 1), "value")["cross"]).max() > 0.01


@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_in_a_linear_network_all_paths_and_the_direct_effect_are_the_whole_effect(direction: str) -> None:
    pair = linear()
    network = pair.network
    assert isinstance(network, Circuit)
    clean, corrupt = network.trace(pair.clean.target), network.trace(pair.corrupt.target)
    patched, sign = last(pair, direction=direction), 1 if direction == "denoise" else -1
    gap = patched.ends["logit"][1] - patched.ends["logit"][0]
    for layer, head in np.ndindex(3, 2):
        path = f"decoder.layers.{layer}.self_attention.head_output"
        change: Tensor = (clean[path].values - corrupt[path].values)[:, head]
        direct = sign * float(torch.diff(network.read(change))[0, pair.row, 0])  # of token 1 minus token 0
        paths = path_effects(pair, ("decoder", layer, head), "value", direction)["decoder"]
        assert (paths[: layer + 1] == 0).all()
        total = patched.moved["logit"]["decoder"][layer, head, 0] / gap
        assert direct / gap + paths.sum() == pytest.approx(total, abs=1e-5)
        assert layer == 2 or np.abs(paths).max() > 0.01


def test_runs_that_barely_differ_and_other_networks_have_no_paths() -> None:
    with pytest.raises(InputError, match="barely differ"):
        path_effects(pair_of(loud(**SIZES), SOURCES[0]), ("encoder", 0, 1))
    with pytest.raises(InputError, match="no tensors query"):
        path_effects(linear(), ("decoder", 0, 0), "query")
