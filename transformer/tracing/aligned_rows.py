"""The rows of two texts set side by side: which token of text A belongs to which token of text B."""

import difflib
from collections.abc import Sequence
from itertools import zip_longest

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from transformer.errors import InputError
from transformer.tracing.computed import Value
from transformer.tracing.paths import Side, TensorPath
from transformer.tracing.trace import Tokens

# For each aligned row, the position of its token in A and in B; None if this text has no such token.
Places = tuple[tuple[int | None, int | None], ...]


def aligned_rows(side: Side, a: Tokens, b: Tokens) -> Places:
    """The tokens of two runs, A and B, set side by side. For each aligned row: the position of its token in A and in B, counted
    from 0; None for a run that has no token in this row.

    Args:
        side: `source` or `target`, for the error message.
        a, b: the tokens of the texts of the batch, in A and in B. The aligned rows are the same for all texts.

    Raises:
        InputError: the texts of the batch are aligned in different ways.
    """
    aligned = {_rows(one, other) for one, other in zip(a, b, strict=True)}
    if len(aligned) > 1:
        template = "The {side} texts of the batch are aligned in different ways; compare one text at a time."
        raise InputError(template, side=side)
    return aligned.pop()


def _rows(a: Sequence[str], b: Sequence[str]) -> Places:
    """The aligned rows of two texts: by position if they have equally many tokens, else by equal tokens, in order. Unequal
    tokens between two equal tokens are paired one by one; the tokens of the longer text that are left over stand alone."""
    if len(a) == len(b):
        return tuple((row, row) for row in range(len(a)))
    rows: list[tuple[int | None, int | None]] = []
    for _, first, last, begin, end in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        rows += zip_longest(range(first, last), range(begin, end))
    return tuple(rows)


def pair_of(pair: tuple[int | None, int | None], a: Sequence[Value], b: Sequence[Value], missing: Value) -> tuple[Value, Value]:
    """An item of `a` and an item of `b`: those at the two positions in `pair` (an aligned row). If a position is None, the item
    is `missing`."""
    one, other = (missing if row is None else of[row] for row, of in zip(pair, (a, b), strict=True))
    return one, other


def sides_of_axes(path: str, axes: Sequence[str]) -> list[tuple[Side, ...]]:
    """For each axis of the tensor at a path: the sides, `source` or `target`, whose tokens may lie on this axis, the likeliest
    side first; an empty tuple for an axis without tokens."""
    place = TensorPath.parse(path)
    sides: dict[str, tuple[Side, ...]] = {
        "source": ("source",),
        "target": ("target",),
        # `place.side` is the target for the output layer of an encoder without a decoder, but its positions are source tokens.
        "position": (place.side, "source", "target"),
    }
    if place.kind is not None:
        sides |= {"query": (place.kind.queries,), "key": (place.kind.keys,)}
    return [sides.get(axis, ()) for axis in axes]


def over_rows(values: Shaped[Tensor, "*axes"], rows: Sequence[Sequence[int | None] | None]) -> Float[Tensor, "*rows"]:
    """A tensor of one of two runs, as floating-point numbers, with the aligned rows of both runs on its axes of tokens (see
    `aligned_rows`); NaN in rows where this run has no token.

    Args:
        values: a tensor that has, on some axes, an index for each token.
        rows: for each axis with tokens, a list: the position of the token in each aligned row, None if the run has no token
            in the row. For an axis without tokens, None in place of the list.

    Raises:
        InputError: an axis with tokens does not have one index for each token.
    """
    values = values if values.dtype in (torch.float32, torch.float64) else values.float()
    for axis, places in enumerate(rows):
        if places is None:
            continue
        count = len(places) - places.count(None)
        if values.shape[axis] != count:
            template = "Axis {axis} has size {size}; this run has {count} tokens."
            raise InputError(template, axis=axis, size=values.shape[axis], count=count)
        if count < len(places):
            values = values.index_select(axis, torch.tensor([place or 0 for place in places]))
            values.index_fill_(axis, torch.tensor([row for row, place in enumerate(places) if place is None]), torch.nan)
    return values
