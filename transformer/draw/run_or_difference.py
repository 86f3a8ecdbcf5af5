"""Helpers for drawings of one run, or of the difference of two runs: maps of queries × keys, bars and tensors."""

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go
import torch

from transformer.analysis.walk import Stop, walk
from transformer.figures.attention_figures import head_map
from transformer.figures.comparison_figures import three_bars, three_maps
from transformer.tracing.difference import Difference
from transformer.tracing.paths import Kind, Side
from transformer.tracing.trace import Trace

# The numbers of a run with an axis of queries and an axis of keys, and whether each query may attend to each key.
MapOfRun = Callable[[Trace], tuple[np.ndarray, np.ndarray]]


def weight_map(trace: Trace | Difference, kind: str, item: int, of: MapOfRun) -> go.Figure:
    """The map of queries × keys of a run as a figure; for a Difference, the maps of A, B and B − A.

    Args:
        of: returns the numbers of one run, and whether each query may attend to each key. For a Difference, it is called with A
            and with B, before their tokens are aligned.
    """
    queries, keys = trace.query_names(kind, item), trace.tokens(kind, item)[1]
    if not isinstance(trace, Difference):
        return head_map(*of(trace), queries, keys)
    sides = Kind.of(kind).queries, Kind.of(kind).keys
    maps = [of(run) for run in (trace.a, trace.b)]
    a, b = (over_rows(trace, run, weights, *sides) for run, (weights, _) in enumerate(maps))
    # A token that a run does not have may not be attended to: NaN is not 1.
    allowed_a, allowed_b = (over_rows(trace, run, allowed, *sides) == 1 for run, (_, allowed) in enumerate(maps))
    return three_maps(a, b, allowed_a, allowed_b, queries, keys)


def token_bars(
    difference: Difference, tokens: Sequence[Sequence[str]], values: Sequence[np.ndarray], value: str | None = None
) -> go.Figure:
    """A number for each position of the target, as bars of A, of B and of B − A.

    Args:
        tokens, values: for A and for B, the token that each position predicts, and the number. Numbers of the last positions
            may be missing.
        value: what the numbers are; by default probabilities.
    """
    names, numbers = [], []
    for run, (trace, words, of) in enumerate(zip((difference.a, difference.b), tokens, values, strict=True)):
        missing = len(trace.tokens_of("target")[0]) - len(of)
        names.append([*words, *["…"] * missing])
        numbers.append(over_rows(difference, run, np.append(of, [np.nan] * missing), "target"))
    a, b = numbers
    return three_bars(difference.joined_names("target", *names), a, b, value=value)


def over_rows(difference: Difference, run: int, values: np.ndarray, *sides: Side | None) -> np.ndarray:
    """`Difference.over_rows` for an array of run 0 (A) or 1 (B), in single precision: NaN in rows without a token of this
    run."""
    return difference.over_rows(run, torch.from_numpy(np.array(values, np.float32)), sides).numpy()


def tensors_of(trace: Trace | Difference) -> Trace:
    """The tensors to draw, as a Trace: the run itself, or for a Difference, B − A."""
    return trace.change if isinstance(trace, Difference) else trace


def stops_of(trace: Trace | Difference) -> list[Stop]:
    """Every tensor of a run, described by a `Stop`, in the order of computation; for a Difference, those that both runs
    have."""
    return [stop for stop in walk(trace.a if isinstance(trace, Difference) else trace) if stop.path in trace]
