"""Maps of many heads with fewer cells than weights: a cell stands for several weights and shows the largest of them."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

LEAST_CELLS = 8  # least number of cells on a side of a map


class Reduced(NamedTuple):
    """Attention weights in which neighbouring tokens are joined, so that a cell stands for several weights.

    Attributes:
        weights: the largest allowed weight of each cell; 0 if no weight of the cell is allowed.
        allowed: whether any weight of the cell is allowed, because its query may attend to its key.
        queries, keys: a name for each row and column: its first and its last token.
    """

    weights: Float[np.ndarray, "layer head query_cell key_cell"]
    allowed: Bool[np.ndarray, "layer head query_cell key_cell"]
    queries: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays. The labels are small and not counted."""
        return self.weights.nbytes + self.allowed.nbytes


def most_cells(layers: int, heads: int, nbytes: int) -> int:
    """The most cells that a side of each head's square map can have if all maps together must fit into `nbytes` bytes, at one
    byte per cell. At least 8 (`LEAST_CELLS`), even if the maps then do not fit."""
    return max(LEAST_CELLS, math.isqrt(nbytes // (layers * heads)))


def reduced(
    weights: Iterable[Float[np.ndarray, "head query key"]],
    allowed: Iterable[Bool[np.ndarray, "head query key"]],
    queries: Sequence[str],
    keys: Sequence[str],
    most: int,
) -> Reduced:
    """Attention weights with at most `most` rows and `most` columns for each head. Neighbouring rows are joined in groups of
    equal size, and columns too. The last group may be smaller.

    Args:
        weights, allowed: an array for each layer. An iterator keeps only one layer in memory at a time.
        queries, keys: the token of each row and of each column.
        most: most rows, and most columns.
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
    """The weights of one head reduced to at most `most` rows and columns; whether each cell is allowed; the names of the rows;
    and the names of the columns. A smaller map is returned unchanged."""
    if max(weights.shape) <= most:
        return weights, allowed, queries, keys
    small = reduced([weights[None]], [allowed[None]], queries, keys, most)
    return small.weights[0, 0], small.allowed[0, 0], small.queries, small.keys


def _labels(tokens: Sequence[str], starts: np.ndarray) -> tuple[str, ...]:
    ends = [*starts[1:].tolist(), len(tokens)]
    groups = [tokens[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]
    return tuple(group[0] if len(group) == 1 else f"{group[0]} … {group[-1]}" for group in groups)
