"""Tests of attribution patching: exact in a linear network, and equal to finite differences in ours."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.patching.circuits import linear
from tests.transformer.patching.hooked import HEADS, LAYERS
from tests.transformer.patching.loud import loud
from tests.transformer.patching.pairs import SIZES, SOURCES, alone_of, last, pair_of
from transformer.errors import InputError
from transformer.patching import RunPair, agreement, attribute_everywhere, attribute_place, patch_everywhere
from transformer.patching.bench import Bench
from transformer.patching.places import Place, Swap, taken
from transformer.patching.sweep import all_places
from transformer.tracing.interventions import Change


@pytest.mark.parametrize("direction", ["denoise", "noise"])
@pytest.mark.parametrize("positions", ["together", "each"])
def test_in_a_linear_network_the_estimate_is_exact(direction: str, positions: str) -> None:
    for what in ("head_output", "value", "embedding"):
        settings: dict[str, Any] = {"what": what, "direction": direction, "positions": positions}
        estimated, patched = attribute_everywhere(linear(), **settings), last(linear(), **settings)
        assert estimated.keys() == patched.moved["logit"].keys()
        for grid, values in estimated.items():
            assert values == pytest.approx(patched.moved["logit"][grid], abs=1e-5)
        assert np.abs(estimated["decoder"]).max() > 0.1
        if patched.total > 1:
            assert agreement(estimated, patched) == pytest.approx(1)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("what", [*HEADS, *LAYERS])
@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_the_terms_of_a_place_add_up_to_its_estimate(what: str, direction: str) -> None:
    pair = pair_of(loud(**SIZES, preset="pytorch", seed=2))
    for steps, positions in (("all", "each"), ("all", "together"), ("this", "together")):
        estimated = attribute_everywhere(pair, what, direction, positions, steps)
        for place in all_places(pair, Swap(what, steps), positions == "each")[1][::13]:
            terms = attribute_place(pair, place, what, direction, steps)
            expected = estimated[place.grid][place.layer, place.head, place.position or 0]
            assert terms.estimate == pytest.approx(float(expected), abs=1e-6)
            assert terms.gradients.shape == terms.changes.shape


def test_a_place_that_does_not_exist_has_no_terms() -> None:
    pair = pair_of(loud(**SIZES, preset="pytorch", seed=2))
    for place in (Place("cross", 9, 0), Place("nowhere", 0, 0), Place("cross", 0, 0, 99)):
        with pytest.raises(InputError):
            attribute_place(pair, place)


def nudged(pair: RunPair, swap: Swap, place: Place, amount: float) -> float:
    """The logit difference of the base run, with a place moved by a small part of the way to the other run."""
    bench = Bench(pair, swap, "denoise", 1)
    edits = []
    for edit in taken(pair.network, swap, [[place]], pair.row, bench.other):
        whole = edit.apply(bench.values[edit.path], pair.network.taps[edit.path], None)
        edits.append(Change(edit.path, lambda values, whole=whole: values + amount * (whole - values)))
    row = bench.run(bench.base, (), edits)[1][0, 0]
    return float(row[pair.tokens[0]] - row[pair.tokens[1]])


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("what", [*HEADS, *LAYERS])
def test_the_estimate_is_the_slope_of_a_finite_difference(what: str) -> None:
    model = loud(**SIZES, preset="pytorch", seed=2).double()
    for steps, positions in (("all", "each"), ("this", "together")):
        pair = pair_of(model)
        estimated = attribute_everywhere(pair, what, "denoise", positions, steps)
        _, places = all_places(pair, Swap(what, steps), positions == "each")
        for place in places[:: 17 if positions == "each" else 3]:
            slope = (nudged(pair, Swap(what, steps), place, 1e-4) - nudged(pair, Swap(what, steps), place, -1e-4)) / 2e-4
            estimate = estimated[place.grid][place.layer, place.head, place.position or 0]
            assert estimate == pytest.approx(slope, abs=1e-5)
        assert max(np.abs(values).max() for values in estimated.values()) > 0.01


def test_a_decoder_alone_and_a_frozen_model_have_estimates() -> None:
    model = loud(**SIZES)
    expected = attribute_everywhere(alone_of(model))
    assert expected.keys() == {"decoder"}
    frozen = attribute_everywhere(alone_of(loud(**SIZES).requires_grad_(False)))
    assert frozen["decoder"] == pytest.approx(expected["decoder"])
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_estimate_works_within_inference_mode_but_not_for_a_model_built_there() -> None:
    model = loud(**SIZES)
    with torch.inference_mode():
        pair = pair_of(model)
        assert attribute_everywhere(pair)["cross"] == pytest.approx(attribute_everywhere(pair_of(model))["cross"])
        built = loud(**SIZES)
    with pytest.raises(InputError, match="built within"):
        attribute_everywhere(pair_of(built))


def test_agreement_is_the_correlation_of_all_places() -> None:
    pair = pair_of(loud(**SIZES))
    patched = last(pair)
    exact = patched.moved["logit"]
    assert agreement(exact, patched) == pytest.approx(1)
    assert agreement({grid: -values for grid, values in exact.items()}, patched) == pytest.approx(-1)
    assert math.isnan(agreement({grid: 0 * values for grid, values in exact.items()}, patched))
    assert math.isnan(agreement(attribute_everywhere(pair_of(pair.network, SOURCES[0])), patched))
    with pytest.raises(InputError, match="different places"):
        agreement(attribute_everywhere(pair, positions="each"), patched)
    with pytest.raises(InputError, match="different places"):
        agreement({}, patched)


def test_agreement_needs_all_places() -> None:
    pair = pair_of(loud(**SIZES))
    first = next(patch_everywhere(pair))  # the places that are equal in both runs
    with pytest.raises(InputError, match=f"Only {first.done} of 10 places"):
        agreement(attribute_everywhere(pair), first)
