"""A text as tokens and ids, before a model runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.errors import InputError
from transformer.text.tokens import Tokens
from transformer.text.vocabulary import Unknown, Vocabulary, a_text, as_ids
from transformer.tracing.paths import Side
from transformer.validation import as_list

CHARACTERS_PER_TOKEN = 100  # a text with more characters per allowed token is refused before it is split
NO_TEXT = "There is no text; at least one is needed."
TOO_MANY_CHARACTERS = "Your text has {count} characters; texts of more than {most} are not read."


@dataclass(frozen=True)
class Encoding:
    """A text as tokens and ids. `Pipeline.answers` and `Pipeline.trace` also accept an encoding instead of the text.

    Attributes:
        tokens: the tokens that the model reads: `<sos>`, the tokens of the text with `<unk>` for unknown tokens, and `<eos>` in
            a source. A target is the decoder's input, which has no `<eos>`: the last position must predict `<eos>`. If the
            vocabulary's `framed` is False, `<sos>` and `<eos>` are not added.
        ids: the id of each of `tokens`.
        unknown: each unknown token of the text, with the known tokens of the most similar spelling.
        typed: the tokens of the text itself, known or unknown, without special tokens.
        side: `source` or `target`.
        words: if tokens are pieces of words, the index of the word of each token, counted from 0; None for special tokens,
            including `<unk>`. Empty if every token is a word.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    unknown: tuple[Unknown, ...]
    typed: tuple[str, ...]
    side: Side
    words: tuple[int | None, ...] = ()


def encode(text: str, side: Side, vocabulary: Vocabulary, most: int, accepts: str) -> Encoding:
    """The tokens and ids that a model reads for a text.

    Args:
        text: the text.
        side: `source` or `target`.
        vocabulary: the vocabulary of this side.
        most: the most tokens that the text may have, without special tokens.
        accepts: what a person may type, for error messages: "1 to 12 letters".

    Raises:
        InputError: `text` is not a string; it has more than `most` tokens, or more than `100 * (most + 1)` characters; it has
            no tokens (allowed in a target if the vocabulary adds `<sos>`); or a vocabulary of ids lacks one of its tokens.
    """
    most_characters = CHARACTERS_PER_TOKEN * (most + 1)
    if len(a_text(text)) > most_characters:
        raise InputError(TOO_MANY_CHARACTERS, count=len(text), most=most_characters)
    typed = vocabulary.split(text)
    if len(typed) > most:
        tokenizer = vocabulary.tokenizer
        template = tokenizer.source_too_long if side == "source" else tokenizer.target_too_long
        raise InputError(template, count=len(typed), most=most)
    # The vocabulary of an untrained model has no words if its texts had none.
    if not (typed and vocabulary.words):
        if side == "source":
            raise InputError("There is nothing to read in your text; type {accepts}.", accepts=accepts)
        if not vocabulary.framed:
            raise InputError("There is nothing to read in your target; type {accepts}.", accepts=accepts)
    ids = vocabulary.ids(typed)
    if vocabulary.framed:
        ids = [vocabulary.sos, *ids, *([vocabulary.eos] if side == "source" else [])]
    words = vocabulary.words_of(ids)
    return Encoding(vocabulary.tokens_of(ids), tuple(ids), vocabulary.unknown(typed), tuple(typed), side, words)


def padded(rows: Sequence[Sequence[int]], vocabulary: Tokens) -> Int[Tensor, "batch length"]:
    """Rows of token ids as one tensor; shorter rows are padded at the end with `vocabulary.pad`.

    Raises:
        InputError: there are no rows, or a row is not a list of at least one id of the vocabulary.
    """
    listed = as_list(rows)
    if listed is None:
        raise InputError("A batch must be a list of rows of token ids, not {rows!r}.", rows=rows)
    if not listed:
        raise InputError(NO_TEXT)
    lists = [as_ids(row) for row in listed]
    if not all(lists):
        raise InputError("A row of the batch is empty; each row needs at least one token id.")
    length = max(map(len, lists))
    result = [[*row, *[vocabulary.pad] * (length - len(row))] for row in lists]
    for row in result:
        vocabulary.tokens_of(row)  # raises for ids that are not in the vocabulary
    return torch.tensor(result, dtype=torch.long)
