"""Tests of `patch_everywhere`: every place against plain hooks; patching a run into itself; `also`; what is left as it was."""

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.patching.hooked import HEADS, LAYERS, Hooked, side_of
from tests.transformer.patching.loud import loud
from tests.transformer.patching.pairs import SIZES, SOURCES, alone_of, changes, last, pair_of
from transformer.errors import InputError
from transformer.network.tap import tracing, watched
from transformer.patching import Patched, Place, RunPair, patch_everywhere
from transformer.patching.bench import Bench
from transformer.patching.places import Swap, taken
from transformer.patching.scores import METRICS
from transformer.patching.sweep import all_places
from transformer.tracing.interventions import Ablate
from transformer.tracing.trace import run_traced

WHATS = (*HEADS, *LAYERS)
DIRECTIONS = ("denoise", "noise")
MODELS: dict[str, dict[str, Any]] = {
    "vanilla": {},
    "vanilla, pre-norm": {"norm_first": True},
    "pytorch": {"preset": "pytorch"},
    "pytorch, pre-norm": {"preset": "pytorch", "norm_first": True},
    "shared heads": {"preset": "shared_heads"},
}
DEEP = SIZES | {"encoder_layers": 6, "decoder_layers": 6}  # so many places that patching each takes several passes


def places_of(patched: Patched) -> Iterator[tuple[str, int, int, int]]:
    for grid, values in patched.moved["logit"].items():
        for layer, head, position in np.ndindex(values.shape):
            yield grid, layer, head, position


def check(pair: RunPair, what: str, direction: str) -> None:
    """Every place, in each choice of positions and steps, against hooks."""
    hooked = Hooked(pair, direction)
    clean = hooked.logits(pair.clean)[pair.row].log_softmax(-1)
    for positions, steps in (("together", "all"), ("together", "this"), ("each", "all")):
        patched = last(pair, what=what, direction=direction, positions=positions, steps=steps)
        assert patched.done == patched.total
        values = {name: patched.values(name) for name in METRICS}
        for grid, layer, head, position in places_of(patched):
            chosen = [position] if positions == "each" else None
            if steps == "this" and side_of(what, grid) == "target":
                chosen = [pair.row]
            logits = hooked.patched(what, grid, layer, head, chosen)
            found = {name: of[grid][layer, head, position] for name, of in values.items()}
            row = logits[pair.row].log_softmax(-1)
            assert found["logit"] == pytest.approx(float(row[3] - row[7]), abs=1e-4)
            assert found["probability"] == pytest.approx(float(row[3].exp()), abs=1e-5)
            assert found["divergence"] == pytest.approx(float((clean.exp() * (clean - row)).sum()), abs=1e-5)
            rows = len(pair.wanted)
            assert found["exact"] == (logits[pair.row : pair.row + rows].argmax(-1).tolist() == [*pair.wanted])


@pytest.mark.slow
@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("name", MODELS)
def test_every_place_is_patched_as_by_hooks(name: str, what: str) -> None:
    pair = pair_of(loud(**SIZES | MODELS[name], seed=2))
    check(pair, what, DIRECTIONS[(len(name) + len(what)) % 2] if name != "pytorch" else "denoise")
    if name == "pytorch":
        check(pair, what, "noise")


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(("what", "direction"), [*itertools.product(WHATS, DIRECTIONS)])
def test_every_place_of_a_decoder_alone_is_patched_as_by_hooks(what: str, direction: str) -> None:
    check(alone_of(loud(**SIZES, seed=2, norm_first=True)), what, direction)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", MODELS)
def test_patching_a_run_into_itself_moves_nothing(name: str) -> None:
    pair = pair_of(loud(**SIZES | MODELS[name]), SOURCES[0], row=None)
    for what, direction, positions in itertools.product(WHATS, DIRECTIONS, ("together", "each")):
        patched = last(pair, what=what, direction=direction, positions=positions)
        assert patched.done == patched.total
        assert all((of == 0).all() for grids in patched.moved.values() for of in grids.values())
        for metric in METRICS:
            assert not patched.differs(metric)
            with pytest.raises(InputError, match="barely differ"):
                patched.shares(metric)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_places_that_are_equal_in_both_runs_move_nothing_if_they_are_run(name: str) -> None:
    pair = pair_of(loud(**SIZES | MODELS[name]), SOURCES[0], row=None)
    for what, (direction, each) in itertools.product(WHATS, zip(DIRECTIONS, (False, True), strict=True)):
        _, places = all_places(pair, Swap(what), each)
        moved = changes(Bench(pair, Swap(what), direction, 8), places)
        assert moved == {metric: dict.fromkeys(places, 0.0) for metric in METRICS}


@torch.inference_mode()
def test_the_logits_of_a_run_patched_into_itself_are_equal_bit_for_bit() -> None:
    for pair in (pair_of(loud(**SIZES), SOURCES[0]), alone_of(loud(**SIZES))):
        pair = dataclasses.replace(pair, corrupt=pair.clean)
        for what in WHATS:
            bench = Bench(pair, Swap(what), "denoise", 8)
            _, places = all_places(pair, bench.swap, each=True)
            edits = taken(pair.network, bench.swap, [[place] for place in places[:8]], pair.row, bench.other)
            assert torch.equal(bench.run(bench.base, (), edits)[1], bench.run(bench.base)[1])


@pytest.mark.slow
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_shared_prefix_changes_no_result(direction: str, norm_first: bool) -> None:
    pair = alone_of(loud(**SIZES, norm_first=norm_first))
    for what in WHATS:
        also = (Place("decoder", 0, 0, 3),) if direction == "noise" else ()
        bench = Bench(pair, Swap(what), direction, 3, also)
        _, places = all_places(pair, bench.swap, each=True)
        assert bench.shares_prefix
        fast = changes(bench, places)
        bench.shares_prefix = False
        slow = changes(bench, places)
        for metric in METRICS:
            assert fast[metric] == pytest.approx(slow[metric], abs=1e-5)
        # The first two tokens are the same in both runs, and nothing after the compared row can matter.
        swept = last(pair, what=what, direction=direction, positions="each", also=also)
        assert (swept.moved["logit"]["decoder"][..., :2] == 0).all()
        assert {place: swept.moved["logit"]["decoder"][place[1:]] for place in places} == pytest.approx(slow["logit"], abs=1e-5)


def test_a_target_with_padding_is_computed_whole() -> None:
    """In `vanilla`, a padded query attends to later positions too, so a prefix would be another one."""
    model = loud(**SIZES)
    traces = [run_traced(model, None, torch.tensor([ids])) for ids in ([1, 0, 4, 3], [1, 0, 6, 3])]
    check(RunPair.of(model, traces[0], traces[1], tokens=(3, 7)), "head_output", "denoise")


def test_a_row_before_the_patched_position_is_not_changed() -> None:
    model = loud(**SIZES)
    traces = [run_traced(model, None, torch.tensor([ids])) for ids in ([1, 7, 4, 3], [1, 8, 6, 3])]
    pair = RunPair.of(model, traces[0], traces[1], row=1, tokens=(3, 7))
    check(pair, "residual_stream", "noise")
    assert (last(pair, positions="each").moved["logit"]["decoder"][..., 2:] == 0).all()


def test_places_of_also_are_taken_in_the_base_run_too() -> None:
    pair = pair_of(loud(**SIZES))
    hooked = Hooked(pair, "noise")
    also = Place("encoder", 0, 1)
    patched = last(pair, direction="noise", also=[also])
    row = hooked.patched("head_output", "encoder", 0, 1, None)[pair.row]
    assert patched.base["logit"] == pytest.approx(float(row[3] - row[7]), abs=1e-5)
    assert patched.ends == last(pair, direction="noise").ends
    assert patched.moved["logit"]["encoder"][0, 1] == 0  # it is taken already
    # Both heads together are one layer of attention: the output of its projection.
    both = hooked.patched("attention", "encoder", 0, 0, None)[pair.row]
    assert patched.values()["encoder"][0, 0, 0] == pytest.approx(float(both[3] - both[7]), abs=1e-5)


def test_shares_are_0_at_the_corrupt_and_1_at_the_clean_run() -> None:
    pair = pair_of(loud(**SIZES, seed=5))
    all_tokens = last(pair, what="embedding")  # the whole input of the encoder
    assert all_tokens.differs()
    assert all_tokens.shares()["encoder"][0, 0, 0] == pytest.approx(1)
    assert all_tokens.shares()["decoder"][0, 0, 0] == 0  # both runs read the same target
    noised = last(pair, what="embedding", direction="noise")
    assert noised.shares()["encoder"][0, 0, 0] == pytest.approx(0, abs=1e-5)
    assert noised.shares()["decoder"][0, 0, 0] == 1
    assert noised.values()["decoder"][0, 0, 0] == noised.ends["logit"][1] == all_tokens.ends["logit"][1]


def test_reports_fill_the_grids_and_do_not_change_later() -> None:
    reports = [*patch_everywhere(pair_of(loud(**DEEP)), positions="each")]
    assert len(reports) > 2
    for report in reports:
        assert sum(int(np.isfinite(of).sum()) for of in report.moved["logit"].values()) == report.done
    assert [report.done for report in reports] == sorted({report.done for report in reports})
    assert reports[-1].done == reports[-1].total == sum(of.size for of in reports[-1].moved["logit"].values())


def test_a_scope_of_the_caller_has_no_effect() -> None:
    model = loud(**SIZES)
    pair = alone_of(model)
    expected = last(pair, positions="each")
    with tracing(model, [Ablate("decoder.layers.0.self_attention")]) as values:
        patched = last(pair, positions="each")
        RunPair.of(model, *(run_traced(model, ids.source, ids.target) for ids in (pair.clean, pair.corrupt)))
    assert np.array_equal(patched.moved["logit"]["decoder"], expected.moved["logit"]["decoder"])
    assert not values


def test_a_sweep_that_is_cancelled_leaves_everything_as_it_was() -> None:
    model = loud(**DEEP)
    before = {name: values.clone() for name, values in model.state_dict().items()}
    pair = pair_of(model)
    state = torch.get_rng_state()
    sweep = patch_everywhere(pair, positions="each")
    equal, unequal = next(sweep), next(sweep)
    assert equal.done < unequal.done < unequal.total
    assert not watched()
    assert not torch.is_inference_mode_enabled()
    sweep.close()
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(values, before[name]) for name, values in model.state_dict().items())
    assert all(parameter.grad is None and parameter.requires_grad for parameter in model.parameters())
    assert not any(module._forward_hooks or module._forward_pre_hooks or module.training for module in model.modules())
    finished = last(pair, positions="each")
    assert finished.done == finished.total
