"""Maps of many heads with fewer cells than weights: a cell shows the largest weight among those it stands for."""

import math
from collections.abc import Sequence
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
    weights: Float[np.ndarray, "layer head query key"],
    allowed: Bool[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    most: int,
) -> Reduced:
    """Weights with at most `most` rows and columns. Rows are joined in groups of one size, and columns too; the last may have
    fewer. One layer is reduced at a time, so that little memory is needed besides."""
    rows, columns = (np.arange(0, count, -(-count // most)) for count in weights.shape[2:])
    of_layers: list[np.ndarray] = []
    allowed_of_layers: list[np.ndarray] = []
    for layer, open_cells in zip(weights, allowed, strict=True):
        for made, values in ((of_layers, np.where(open_cells, layer, 0)), (allowed_of_layers, open_cells)):
            made.append(np.maximum.reduceat(np.maximum.reduceat(values, columns, axis=-1), rows, axis=-2))
    labels = (_labels(tokens, starts) for tokens, starts in ((queries, rows), (keys, columns)))
    return Reduced(np.stack(of_layers), np.stack(allowed_of_layers), *labels)


def _labels(tokens: Sequence[str], starts: np.ndarray) -> tuple[str, ...]:
    ends = [*starts[1:].tolist(), len(tokens)]
    groups = [tokens[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]
    return tuple(group[0] if len(group) == 1 else f"{group[0]} … {group[-1]}" for group in groups)
