"""Pairs of runs of small models, and the results of patching them."""

from collections.abc import Sequence
from typing import Any

import torch

from transformer.network.model import Transformer
from transformer.patching import Patched, Place, RunPair, patch_everywhere
from transformer.patching.bench import Bench
from transformer.patching.scores import METRICS
from transformer.tracing.trace import run_traced

SOURCES = torch.tensor([[1, 5, 6, 2]]), torch.tensor([[1, 8, 6, 2]])
TARGET = torch.tensor([[1, 7, 4]])
SIZES: dict[str, Any] = {"d_model": 8, "heads": 2, "d_ff": 10, "encoder_layers": 1}


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


def changes(bench: Bench, places: Sequence[Place]) -> dict[str, dict[Place, float]]:
    """Measure → place → how much patching the place changes the measure. Every place is run, also one that is equal in both
    runs."""
    changes: dict[str, dict[Place, float]] = {metric: {} for metric in METRICS}
    for chunk, moved in bench.changes(places):
        for metric, values in zip(METRICS, moved, strict=True):
            changes[metric] |= zip(chunk, values.tolist(), strict=False)  # the rest of the batch has no place
    return changes
