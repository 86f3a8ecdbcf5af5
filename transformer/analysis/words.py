"""Attention between words, from attention between the pieces of words that a tokenizer makes.

The weights on the pieces of a word, as keys, are added up: together they are what the word gets. The rows of its pieces, as
queries, are averaged. A row then still sums to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer.analysis.checks import check_array, check_trace
from transformer.errors import InputError
from transformer.text.pieces import joined_label
from transformer.tracing.paths import Kind, Side
from transformer.tracing.trace import Trace

Group = tuple[int, ...]


def groups(words: Sequence[int | None]) -> tuple[Group, ...]:
    """The positions of each word, in order; a special token, whose word is None, is alone.

    Raises:
        InputError: not a sequence of numbers of words.
    """
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise InputError("The words are {words!r}; a number for each token, or None, is needed.", words=words)
    made: list[list[int]] = []
    for position, word in enumerate(words):
        if made and word is not None and words[position - 1] == word:
            made[-1].append(position)
        else:
            made.append([position])
    return tuple(map(tuple, made))


def join(
    weights: Float[np.ndarray, "*more query key"], queries: Sequence[Group], keys: Sequence[Group]
) -> Float[np.ndarray, "*more query_word key_word"]:
    """Weights between words: the sum over the keys of a word, and the mean over its queries.

    Args:
        weights: between pieces.
        queries, keys: the positions of each word, in order (`groups`).

    Raises:
        InputError: the weights are not an array of numbers with those positions.
    """
    check_array(
        "weights", weights.reshape(-1, *weights.shape[-2:]) if isinstance(weights, np.ndarray) else weights, "n query key"
    )
    if weights.shape[-2:] != (sum(map(len, queries)), sum(map(len, keys))):
        raise InputError("weights has shape {shape}, which does not fit the words.", shape=weights.shape)
    summed = np.add.reduceat(weights, [group[0] for group in keys], axis=-1)
    rows = np.add.reduceat(summed, [group[0] for group in queries], axis=-2)
    return rows / np.array([len(group) for group in queries], weights.dtype)[:, None]


@dataclass(frozen=True, eq=False)
class WordAttention:
    """The attention of the first text of a trace, with the pieces of each word joined. It has the methods of a trace that are
    about attention.

    Attributes:
        trace: of pieces; it has their words.
    """

    trace: Trace

    def __post_init__(self) -> None:
        check_trace(self.trace)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention that ran."""
        return self.trace.kinds

    @cached_property
    def _groups(self) -> dict[Side, tuple[Group, ...]]:
        return {side: groups(self.trace.words_of(side)[0]) for side in self.trace.sides}

    def groups_of(self, side: Side) -> tuple[Group, ...]:
        """The positions of each word of a side."""
        return self._groups[side]

    def tokens(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words of the queries and of the keys of a kind of attention. Raises as `Trace.tokens`."""
        of, both = Kind.of(kind), self.trace.tokens(kind)
        queries, keys = (
            tuple(joined_label([tokens[place] for place in group]) for group in self.groups_of(side))
            for side, tokens in zip((of.queries, of.keys), both, strict=True)
        )
        return queries, keys

    def ids_of(self, side: Side) -> tuple[tuple[int, ...], ...]:
        """The id of the first piece of each word, of the first text."""
        ids = self.trace.ids_of(side)[0]
        return (tuple(ids[group[0]] for group in self.groups_of(side)),)

    def layers(self, kind: str) -> int:
        """The number of layers with that kind of attention. Raises as `Trace.layers`."""
        return self.trace.layers(kind)

    def heads(self, kind: str) -> int:
        """The number of heads in each layer of that kind. Raises as `Trace.heads`."""
        return self.trace.heads(kind)

    def attention(self, kind: str) -> Float[Tensor, "layer 1 head query key"]:
        """The weights between words of every layer and head of a kind. Raises as `Trace.attention`."""
        return torch.from_numpy(join(self.trace.attention(kind)[:, :1].numpy(), *self._sides(kind)))

    def weights(self, kind: str, layer: int) -> Float[Tensor, "1 head query key"]:
        """The weights between words in one layer. Raises as `Trace.weights`."""
        return torch.from_numpy(join(self.trace.weights(kind, layer)[:1].numpy(), *self._sides(kind)))

    def allowed(self, kind: str) -> Bool[Tensor, "layer 1 head query key"]:
        """True where any piece of a word may attend to any piece of another. Raises as `Trace.allowed`."""
        return torch.from_numpy(join(self.trace.allowed(kind)[:, :1].float().numpy(), *self._sides(kind)) > 0)

    def _sides(self, kind: str) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
        of = Kind.of(kind)
        return self.groups_of(of.queries), self.groups_of(of.keys)


# What has attention to be drawn: between tokens, or between words.
Attending = Trace | WordAttention


def in_pieces(trace: Trace) -> bool:
    """Whether a word of the first text of a trace has several pieces. Raises `InputError` for anything but a trace."""
    check_trace(trace)
    return any(len(group) > 1 for side in trace.sides for row in trace.words_of(side)[:1] for group in groups(row))
