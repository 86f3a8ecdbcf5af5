"""Maps of many heads with fewer cells than weights: a cell shows the largest weight among those it stands for."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

LEAST_CELLS = 8  # on a side of a map


class Reduced(NamedTuple):
    """Weights with neighbouring tokens joined.

    Attributes:
        weights: the largest of each cell; of weights that are allowed, if there are any.
        allowed: whether any weight of a cell is.
        queries, keys: the first and the last token of each cell.
    """

    weights: Float[np.ndarray, "layer head query_cell key_cell"]
    allowed: Bool[np.ndarray, "layer head query_cell key_cell"]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays; the labels count little."""
        return self.weights.nbytes + self.allowed.nbytes


def most_cells(layers: int, heads: int, nbytes: int) -> int:
    """The cells on a side of each map, of one byte each, so that all maps fit into so many bytes."""
    return max(LEAST_CELLS, math.isqrt(nbytes // (layers * heads)))


def reduced(
    weights: Iterable[Float[np.ndarray, "head query key"]],
    allowed: Iterable[Bool[np.ndarray, "head query key"]],
    queries: Sequence[str],
    keys: Sequence[str],
    most: int,
) -> Reduced:
    """Weights with at most `most` rows and columns. Rows are joined in groups of one size, and columns too; the last may have
    fewer.

    Args:
        weights, allowed: of each layer. One is reduced at a time, so that little memory is needed besides.
        queries, keys: the tokens.
        most: rows and columns.
    """
    rows, columns = (np.arange(0, len(tokens), -(-len(tokens) // most)) for tokens in (queries, keys))
    of_layers: list[np.ndarray] = []
    allowed_of_layers: list[np.ndarray] = []
    for layer, open_cells in zip(weights, allowed, strict=True):
        for made, values in ((of_layers, np.where(open_cells, layer, 0)), (allowed_of_layers, open_cells)):
            made.append(np.maximum.reduceat(np.maximum.reduceat(values, columns, axis=-1), rows, axis=-2))
    labels = (_labels(tokens, starts) for tokens, starts in ((queries, rows), (keys, columns)))
    return Reduced(np.stack(of_layers), np.stack(allowed_of_layers), *labels)


def reduced_map(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    most: int,
) -> tuple[Float[np.ndarray, "row column"], Bool[np.ndarray, "row column"], Sequence[str], Sequence[str]]:
    """One map with at most `most` rows and columns, and their labels; unchanged if it has no more."""
    if max(weights.shape) <= most:
        return weights, allowed, queries, keys
    small = reduced([weights[None]], [allowed[None]], queries, keys, most)
    return small.weights[0, 0], small.allowed[0, 0], small.queries, small.keys


def _labels(tokens: Sequence[str], starts: np.ndarray) -> tuple[str, ...]:
    ends = [*starts[1:].tolist(), len(tokens)]
    groups = [tokens[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]
    return tuple(group[0] if len(group) == 1 else f"{group[0]} … {group[-1]}" for group in groups)
