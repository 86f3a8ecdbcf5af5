"""A trace whose tokens are words, computed from a trace whose tokens are pieces of words.

The pieces of a word are joined. If the pieces are keys, their attention weights are summed, because the sum is the weight of
the word. If the pieces are queries, their rows are averaged, so each row still sums to 1. In other tensors the rows of the
pieces are averaged. A mask hides a word if it hides all pieces of the word.
"""

from collections.abc import Mapping, Sequence
from itertools import starmap

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer.analysis.checks import check_array, check_number, check_text_pipeline, check_trace, listed_items
from transformer.errors import InputError
from transformer.network.masks import hidden_keys, last_scores
from transformer.pipeline.protocol import TextPipeline
from transformer.text.pieces import SPACE, joined_label
from transformer.tracing.computed import Computed, Value
from transformer.tracing.paths import Side, TensorPath, check_index
from transformer.tracing.trace import Activation, Ids, Trace, Words, as_array

Group = tuple[int, ...]
# For each text of a batch, the positions of each word.
Groups = tuple[tuple[Group, ...], ...]
# Token and id that fill the row of a text which has fewer words than another text of the batch.
FILLER, FILLER_ID = "<pad>", -1
NO_WORDS = "The words are {words!r}; a number for each token, or None, is needed."


def groups(words: Sequence[int | None]) -> tuple[Group, ...]:
    """For each word, in order, the positions of its tokens. Each special token is a group of its own.

    Args:
        words: for each token, the number of the word that the token is a piece of, or None for a special token.

    Raises:
        InputError: `words` is not a sequence, or is a string.
    """
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise InputError(NO_WORDS, words=words)
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
    """Attention weights between words: summed over the keys of a word, and averaged over the queries of a word.

    Args:
        weights: attention weights between tokens, which are pieces of words.
        queries, keys: for each word, in order, the positions of its pieces, as `groups` returns them.

    Raises:
        InputError: the weights are not an array of numbers, or do not have one row and one column for each position of the
            words; or `queries` or `keys` is not a list of groups of positions.
    """
    check_array(
        "weights", weights.reshape(-1, *weights.shape[-2:]) if isinstance(weights, np.ndarray) else weights, "n query key"
    )
    _check_words("weights", weights.shape[-2:], queries, keys)
    summed = np.add.reduceat(weights, [group[0] for group in keys], axis=-1)
    rows = np.add.reduceat(summed, [group[0] for group in queries], axis=-2)
    return rows / np.array([len(group) for group in queries], weights.dtype)[:, None]


def join_allowed(
    allowed: Bool[np.ndarray, "query key"], queries: Sequence[Group], keys: Sequence[Group]
) -> Bool[np.ndarray, "query_word key_word"]:
    """True where at least one piece of the query word may attend to at least one piece of the key word.

    Args:
        allowed: True where a query token may attend to a key token.
        queries, keys: for each word, in order, the positions of its pieces, as `groups` returns them.

    Raises:
        InputError: `allowed` is not an array with one row and one column for each position of the words, or `queries` or `keys`
            is not a list of groups of positions.
    """
    check_array("allowed", allowed, "query key")
    _check_words("allowed", allowed.shape, queries, keys)
    return _merged(_merged(allowed, keys, 1, False), queries, 0, False)


class WordTrace(Trace):
    """A trace whose tokens are words: all tensors of a forward pass, with one position for each word instead of each piece. The
    pieces are joined when a tensor is read. All methods of `Trace` can be used.

    The id of a word is the id of its first piece. In a batch, a text with fewer words than another text is filled up with
    `<pad>` at its end. The filled positions are masked.
    """

    @classmethod
    def of(cls, trace: Trace) -> "WordTrace":
        """The trace with its tokens joined into words. The WordTrace is created once and kept in the trace (`Trace.derived`).

        Raises:
            InputError: `trace` is not a Trace.
        """
        check_trace(trace)
        if "words" not in trace.derived:
            trace.derived["words"] = cls._joined(trace)
        words = trace.derived["words"]
        assert isinstance(words, cls)
        return words

    @classmethod
    def _joined(cls, trace: Trace) -> "WordTrace":
        groups_of: dict[Side, Groups] = {side: tuple(starmap(row_groups, _rows(trace, side))) for side in trace.sides}
        ids, tokens, words = {}, {}, {}
        for side, rows in groups_of.items():
            longest = max(map(len, rows))
            ids[side] = tuple(
                _filled([row[group[0]] for group in of], longest, FILLER_ID)
                for row, of in zip(trace.ids_of(side), rows, strict=True)
            )
            tokens[side] = tuple(
                _filled([joined_label([row[place] for place in group]) for group in of], longest, FILLER)
                for row, of in zip(trace.tokens_of(side), rows, strict=True)
            )
            words[side] = tuple(
                _filled([row[group[0]] for group in of], longest, None)
                for row, of in zip(trace.words_of(side), rows, strict=False)
            )
        # The functions below do not refer to the trace, because the trace refers to this object (`Trace.derived`).
        steps, masks, config = trace.activations, trace.used_masks, trace.config

        def activation(path: str) -> Activation:
            given, place = steps[path], TensorPath.parse(path)
            values = as_array(given.values)
            if str(place.owner) in masks and place.last in ("masked_scores", last_scores(config)):
                # −∞ is left out of the mean of a word that is only partly hidden. A finite fill would be counted.
                hidden = hidden_keys(masks[str(place.owner)], given.values).numpy()
                values = np.where(hidden, np.asarray(-np.inf, values.dtype), values)
            axes, values = _joined_values(path, given.axes, values, groups_of)
            return Activation(given.path, axes, torch.from_numpy(values))

        def mask(path: str) -> Tensor:
            scores = steps[str(TensorPath.parse(path) / last_scores(config))].values
            axes = ("batch", "head", "query", "key")
            allowed = (~hidden_keys(masks[path], scores)).numpy()
            return torch.from_numpy(_joined_values(path, axes, allowed, groups_of)[1])

        return cls(
            config,
            Computed(tuple(steps), activation),
            ids.get("source", ()),
            ids.get("target", ()),
            tokens.get("source", ()),
            tokens.get("target", ()),
            Computed(tuple(masks), mask),
            words.get("source", ()),
            words.get("target", ()),
        )

    def hidden(self, attention: str | TensorPath) -> Bool[Tensor, "batch head query key"]:
        """True where no piece of the query word may attend to any piece of the key word. `attention` is a path such as
        `encoder.layers.0.self_attention`. Raises `PathError` if there is no such attention."""
        return ~self.used_masks[str(self._attention(attention))]


def check_run(pipeline: TextPipeline, trace: Trace) -> None:
    """Check that `trace` can be a trace of the model in `pipeline`: their configurations are equal, and the tokens of the trace
    are not joined into words.

    Raises:
        InputError: `pipeline` is not a pipeline; or `trace` is not a Trace, is a WordTrace, or is of a network with another
            configuration.
    """
    check_text_pipeline(pipeline)
    check_trace(trace)
    if isinstance(trace, WordTrace):
        raise InputError("The trace must be of the tokens that the model reads, not of words.")
    if trace.config != pipeline.config:
        raise InputError("The pipeline must be the one that was traced; this one has another configuration.")


def word_groups(trace: Trace, side: Side, item: int = 0) -> tuple[Group, ...]:
    """For each word of a text, the positions of its tokens. If every token is a word, each position is a group of its own.

    Args:
        trace: every tensor of a forward pass over the text, as `Pipeline.trace` returns it.
        side: `source` or `target`.
        item: number of the text in the batch, counted from 0.

    Raises:
        InputError: `trace` is not a Trace, or the side did not run.
        ConfigError: there is no such side.
        PathError: there is no such text.
    """
    check_trace(trace)
    if not trace.ids_of(side):
        raise InputError("This run has no {side}; it has {sides}.", side=side, sides=", ".join(trace.sides))
    check_index("item", item, trace.batch_size)
    return row_groups(*_rows(trace, side)[item])


def _rows(trace: Trace, side: Side) -> list[tuple[Sequence[int | None], int]]:
    """For each text: the number of each token's word (empty if every token is a word), and the number of tokens."""
    ids: Ids = trace.ids_of(side)
    words: Words = trace.words_of(side) or ((),) * len(ids)
    return [(of, len(row)) for row, of in zip(ids, words, strict=True)]


def row_groups(words: Sequence[int | None], count: int) -> tuple[Group, ...]:
    """For each word of a text with `count` tokens, the positions of the word's tokens.

    Args:
        words: for each token, the number of the word that the token is a piece of, or None for a special token. If `words` does
            not have `count` items, for example none, each position is a group of its own.
        count: number of tokens of the text.

    Raises:
        InputError: `words` is not a sequence, or is a string; or `count` is not a whole number of at least 0.
    """
    check_number("count", count, 0)
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise InputError(NO_WORDS, words=words)
    return groups(words) if len(words) == count else tuple((place,) for place in range(count))


def _filled(row: Sequence[Value], count: int, filler: Value) -> tuple[Value, ...]:
    return (*row, *[filler] * (count - len(row)))


def _joined_values(
    path: str, axes: Sequence[str], values: np.ndarray, groups_of: Mapping[Side, Groups]
) -> tuple[tuple[str, ...], np.ndarray]:
    """The axes and the values of a tensor after the pieces of words are joined. A tensor without an axis of tokens is returned
    unchanged."""
    place = TensorPath.parse(path)
    sides: dict[str, Side] = {"source": "source", "target": "target", "position": place.side}
    if place.kind is not None:
        sides |= {"query": place.kind.queries, "key": place.kind.keys}
    sides = {name: side for name, side in sides.items() if side in groups_of}

    def of_tokens(item: int) -> list[int]:
        """The indices of the axes that have a position for each token of the text `item` of the batch."""
        return [
            index
            for index, name in enumerate(axes)
            if name in sides and values.shape[index] == sum(map(len, groups_of[sides[name]][item]))
        ]

    if not of_tokens(0):
        return tuple(axes), values
    if "batch" not in axes:
        axes, values = ("batch", *axes), values[None]
    batch = axes.index("batch")
    count = len(next(iter(groups_of.values())))
    rows = []
    for item in range(count):
        row = values.take([item if values.shape[batch] > 1 else 0], axis=batch)
        for index in reversed(of_tokens(item)):
            of = groups_of[sides[axes[index]]]
            row = _merged(row, of[item], index, place.last == "weights" and axes[index] == "key")
            fill = [(0, max(map(len, of)) - len(of[item]) if other == index else 0) for other in range(row.ndim)]
            row = np.pad(row, fill)
        rows.append(row)
    return tuple(axes), np.concatenate(rows, axis=batch)


def word_means(values: Float[np.ndarray, "piece ..."], words: Sequence[Group]) -> Float[np.ndarray, "word ..."]:
    """The mean of `values` over the pieces of each word. For each word, `words` has the positions of its pieces (`groups`).

    Raises:
        InputError: `values` is not an array with one row for each position of the words, or `words` is not a list of groups of
            positions.
    """
    check_array("values", values.reshape(len(values), -1) if isinstance(values, np.ndarray) else values, "piece number")
    _check_words("values", values.shape[:1], words)
    return _merged(values, words, 0, False)


def _check_words(name: str, shape: tuple[int, ...], *words: Sequence[Group]) -> None:
    """Check that each axis has one position for each piece of its words. Raises InputError."""
    for of_axis in words:
        if not all(isinstance(group, tuple | list) and group for group in listed_items("words", of_axis)):
            raise InputError("Words are tuples of positions, as `groups` returns them, not {words!r}.", words=of_axis)
    if shape != tuple(sum(map(len, of_axis)) for of_axis in words):
        raise InputError("{name} has shape {shape}, which does not fit the words.", name=name, shape=shape)


def _merged(values: np.ndarray, of: Sequence[Group], axis: int, summed: bool) -> np.ndarray:
    """The values with one position for each word of `of` on an axis. Truth values: True if at least one piece of the word is
    True. Numbers: the sum over the pieces if `summed`, else the mean of the finite numbers, or −∞ if no number is finite."""
    starts = [group[0] for group in of]
    if values.dtype == bool:
        return np.logical_or.reduceat(values, starts, axis=axis)
    if summed:
        return np.add.reduceat(values, starts, axis=axis)
    finite = np.isfinite(values)
    if finite.all():
        counts = np.array([len(group) for group in of], values.dtype)
        return np.add.reduceat(values, starts, axis=axis) / np.expand_dims(counts, [*range(1, values.ndim - axis)])
    counts = np.add.reduceat(finite, starts, axis=axis, dtype=values.dtype)
    sums = np.add.reduceat(np.where(finite, values, 0), starts, axis=axis)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.asarray(-np.inf, values.dtype))


def in_pieces(trace: Trace) -> bool:
    """Whether the tokens of a trace are pieces of words: at least one word has several tokens, or starts with `▁`, the mark of
    a word's first piece. False for a WordTrace.

    Raises:
        InputError: `trace` is not a Trace.
    """
    check_trace(trace)
    return not isinstance(trace, WordTrace) and any(
        are_pieces(tokens, groups(words))
        for side in trace.sides
        for tokens, words in zip(trace.tokens_of(side), trace.words_of(side), strict=False)
    )


def are_pieces(tokens: Sequence[str], of: Sequence[Group]) -> bool:
    """Whether the tokens of a text are pieces of words: at least one word has several tokens, or starts with `▁`, the mark of a
    word's first piece. For each word, `of` has the positions of its tokens."""
    return any(tokens[group[0]].startswith(SPACE) or len(group) > 1 for group in of)
