"""Tests of `patch_everywhere`: every place against plain hooks; patching a run into itself; `also`; what is left as it was."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.patching.hooked import HEADS, LAYERS, Hooked, side_of
from tests.transformer.small import small
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.network.tap import watched
from transformer.patching import Patched, Place, RunPair, patch_everywhere
from transformer.patching.bench import Bench
from transformer.patching.scores import METRICS
from transformer.tracing.trace import run_traced

SOURCES = torch.tensor([[1, 5, 6, 2]]), torch.tensor([[1, 8, 6, 2]])
TARGET = torch.tensor([[1, 7, 4]])
SIZES = {"d_model": 8, "heads": 2, "d_ff": 10, "encoder_layers": 1}
WHATS = (*HEADS, *LAYERS)
DIRECTIONS = ("denoise", "noise")
MODELS: dict[str, dict[str, Any]] = {
    "vanilla": {},
    "vanilla, pre-norm": {"norm_first": True},
    "pytorch": {"preset": "pytorch"},
    "pytorch, pre-norm": {"preset": "pytorch", "norm_first": True},
    "shared heads": {"preset": "shared_heads"},
}


def pair_of(model: Transformer, other: torch.Tensor = SOURCES[1], row: int | None = 1) -> RunPair:
    traces = [run_traced(model, source, TARGET) for source in (SOURCES[0], other)]
    return RunPair.of(model, traces[0], traces[1], row, tokens=(3, 7))


def alone_of(model: Transformer) -> RunPair:
    """The decoder alone. Its targets differ at position 2."""
    targets = torch.tensor([[1, 7, 4, 3, 5]]), torch.tensor([[1, 7, 6, 3, 5]])
    traces = [run_traced(model, None, target) for target in targets]
    return RunPair.of(model, traces[0], traces[1], tokens=(3, 7))


def last(pair: RunPair, **settings: Any) -> Patched:
    *_, patched = patch_everywhere(pair, **settings)
    return patched


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


@pytest.mark.parametrize("what", WHATS)
@pytest.mark.parametrize("name", MODELS)
def test_every_place_is_patched_as_by_hooks(name: str, what: str) -> None:
    pair = pair_of(small(**SIZES | MODELS[name], seed=2))
    check(pair, what, DIRECTIONS[(len(name) + len(what)) % 2] if name != "pytorch" else "denoise")
    if name == "pytorch":
        check(pair, what, "noise")


@pytest.mark.parametrize(("what", "direction"), [*itertools.product(WHATS, DIRECTIONS)])
def test_every_place_of_a_decoder_alone_is_patched_as_by_hooks(what: str, direction: str) -> None:
    check(alone_of(small(**SIZES, seed=2, norm_first=True)), what, direction)
