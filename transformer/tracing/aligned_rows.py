"""The rows of two texts set side by side: which token of one belongs to which token of the other."""

import difflib
from collections.abc import Sequence
from itertools import zip_longest

from transformer.errors import InputError
from transformer.tracing.computed import Value
from transformer.tracing.paths import Side
from transformer.tracing.trace import Tokens

# For each aligned row, the position of its token in A and in B; None if this text has no such token.
Places = tuple[tuple[int | None, int | None], ...]


def aligned_rows(side: Side, a: Tokens, b: Tokens) -> Places:
    """The aligned rows of all texts of a side."""
    aligned = {_rows(one, other) for one, other in zip(a, b, strict=True)}
    if len(aligned) > 1:
        template = "The {side} texts of the batch are aligned in different ways; compare one text at a time."
        raise InputError(template, side=side)
    return aligned.pop()


def _rows(a: Sequence[str], b: Sequence[str]) -> Places:
    """The aligned rows of two texts. A stretch of tokens that replaces another is paired token by token as far as both go."""
    if len(a) == len(b):
        return tuple((row, row) for row in range(len(a)))
    rows: list[tuple[int | None, int | None]] = []
    for _, first, last, begin, end in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        rows += zip_longest(range(first, last), range(begin, end))
    return tuple(rows)


def pair_of(pair: tuple[int | None, int | None], a: Sequence[Value], b: Sequence[Value], missing: Value) -> tuple[Value, Value]:
    """What A and B have at an aligned row."""
    one, other = (missing if row is None else of[row] for row, of in zip(pair, (a, b), strict=True))
    return one, other
