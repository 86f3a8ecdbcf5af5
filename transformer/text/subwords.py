"""A vocabulary of pieces of words, which reads any text: byte-pair encoding (Sennrich, Haddow and Birch 2016).

A word starts as its characters. Each step merges two neighbouring pieces: those whose merged piece comes first in the
vocabulary. The steps end when no two neighbours make a piece of the vocabulary. A character that the vocabulary lacks is read
as its bytes, so nothing is unknown.
"""

import json
import re
import string
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from transformer.errors import ConfigError, InputError
from transformer.text.pieces import SPACE, text_of_pieces, word_numbers
from transformer.text.tokenizer import APOSTROPHES, Tokenizer, a_text, unseen
from transformer.text.vocabulary import EOS, PAD, SOS, Unknown, Vocabulary, as_ids, as_tokens

PIECES = "pieces"  # the name of the tokenizer
MARKS = (PAD, SOS, EOS)
BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))
FIRST = (*MARKS, *BYTE_PIECES)  # the tokens with which each vocabulary of pieces starts
# Characters that are not read: control characters and halves of surrogate pairs, which become spaces; and signs without width
# that divide words or set the writing direction, which are removed.
CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]+")
DIVIDERS = re.compile("[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
TOO_LONG = "Your {side} has {{count}} pieces of words; this model reads up to {{most}}."
MOST_KEPT = 20_000  # words whose pieces are remembered
LONGEST_RUN = 100  # characters; the time to join a run grows with the square of its length


def typed(text: str) -> str:
    """`text` with composed accents (NFC), straight apostrophes and single spaces, without control characters and without
    invisible characters that divide words or set the writing direction. Upper case stays. The result is empty if nothing in
    `text` is visible.

    Raises:
        InputError: `text` is not a text.
    """
    if unseen(a_text(text)):
        return ""
    visible = CONTROLS.sub(" ", DIVIDERS.sub("", text))
    return " ".join(unicodedata.normalize("NFC", visible).translate(APOSTROPHES).split())


@dataclass(frozen=True, repr=False)
class Subwords(Vocabulary):
    """A vocabulary of pieces of words, in the order of their ids: special tokens, a piece for each byte, characters, then
    merged pieces.

    A piece that starts a word begins with `▁`, which stands for the space before it.

    Raises:
        ConfigError: the first tokens are not the special tokens and the bytes (`FIRST`); a token is not a text, is repeated or
            is invisible; or the argument `tokenizer_name` is not its default, `pieces`.
    """

    tokenizer_name: str = PIECES
    _kept: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def _check_first(self) -> None:
        if self.tokens[: len(FIRST)] != FIRST or self.tokenizer_name != PIECES:
            raise ConfigError(
                "A vocabulary of pieces starts with {marks} and a piece for each byte; its tokenizer is {name}.",
                marks=" ".join(MARKS),
                name=PIECES,
            )

    @property
    def unk(self) -> int:
        """−1: there is no unknown token, because a character that is not in the vocabulary is split into its bytes."""
        return -1

    @property
    def specials(self) -> range:
        """The ids of the special tokens `<pad>`, `<sos>` and `<eos>`."""
        return range(len(MARKS))

    @property
    def words(self) -> tuple[str, ...]:
        """All pieces except the special ones."""
        return self.tokens[len(MARKS) :]

    @property
    def tokenizer(self) -> Tokenizer:
        """The functions that split a text into pieces and join pieces to a text."""
        return Tokenizer(self.split, text_of_pieces, *(TOO_LONG.format(side=side) for side in ("text", "target")))

    def split(self, text: str) -> list[str]:
        """The pieces of a text: `It's 10!` → `▁It` `'` `s` `▁` `1` `0` `!`.

        Raises:
            InputError: `text` is not a text.
        """
        return [piece for word in typed(text).split() for piece in self._pieces_of(word)]

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The id of each piece.

        Raises:
            InputError: `tokens` is not an ordered collection of strings, or one of them is not a piece of this vocabulary.
        """
        listed = as_tokens(tokens)
        for token in listed:
            if token not in self._id_of:
                raise InputError("There is no token {token!r} in this vocabulary.", token=token)
        return [self._id_of[token] for token in listed]

    def unknown(self, tokens: Iterable[str]) -> tuple[Unknown, ...]:
        """Empty: no token is unknown, because a character that is not in the vocabulary is split into its bytes."""
        return ()

    def words_of(self, ids: Iterable[int]) -> tuple[int | None, ...]:
        """For each id, the number of the word that it is a piece of, counted from 0; None for special tokens.

        Raises:
            InputError: `ids` is not an ordered collection, or an item is not a whole number or not an id of the vocabulary.
        """
        listed = as_ids(ids)
        pieces = zip(listed, self.tokens_of(listed), strict=True)
        return word_numbers(None if index in self.specials else piece for index, piece in pieces)

    def _pieces_of(self, word: str) -> tuple[str, ...]:
        """The pieces of a word, which has no spaces. Digits and signs of punctuation are pieces of their own."""
        kept = self._kept.get(word)
        if kept is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            first, *others = runs(word)
            # A digit or a sign is never joined with the space before it, so that it is the same piece everywhere.
            starts = (SPACE, *self._characters(first))
            parts = [starts] if is_run(first) else [(SPACE,), starts[1:]]
            parts += [self._characters(run) for run in others]
            self._kept[word] = kept = tuple(piece for part in parts for piece in self._joined(part))
        return kept

    def _characters(self, run: str) -> tuple[str, ...]:
        """The pieces of a run before any merge: each character itself, or its bytes if the vocabulary lacks the character."""
        known = self._ranks
        return tuple(
            piece
            for character in run
            for piece in (
                [character] if character in known and character != SPACE else [BYTE_PIECES[byte] for byte in character.encode()]
            )
        )

    def _joined(self, pieces: Sequence[str]) -> list[str]:
        """The pieces after all merges that the vocabulary allows, the merged piece with the smallest id first."""
        joined = list(pieces)
        while len(joined) > 1:
            ranks = [self._ranks.get(left + right, len(self.tokens)) for left, right in pairwise(joined)]
            best = min(ranks)
            if best == len(self.tokens):
                break
            place = ranks.index(best)
            joined[place : place + 2] = [joined[place] + joined[place + 1]]
        return joined

    @cached_property
    def _ranks(self) -> dict[str, int]:
        """Character or merged piece → its id; without special tokens and pieces for bytes."""
        return {token: index for index, token in enumerate(self.tokens) if index >= len(FIRST)}


def runs(word: str) -> list[str]:
    """A word split into parts (runs), within which pieces may be merged. Each digit and each sign of punctuation is a part; so
    is each stretch of other characters, of at most `LONGEST_RUN` (100) characters: `isn't` → `isn` `'` `t`."""
    made: list[str] = []
    for character in word:
        if made and is_run(character) and is_run(made[-1]) and len(made[-1]) < LONGEST_RUN:
            made[-1] += character
        else:
            made.append(character)
    return made


def is_run(run: str) -> bool:
    """Whether a part of a word from `runs` may have several characters, because its first character is neither a digit nor a
    sign of punctuation."""
    first = run[0]
    return not (first.isnumeric() or first in string.punctuation or unicodedata.category(first).startswith("P"))


def read_vocabulary(text: str) -> Vocabulary:
    """The vocabulary, of words or of pieces of words, that `to_json` wrote as this text.

    Raises:
        ConfigError: `text` is not the JSON of a vocabulary.
    """
    try:
        of_pieces = json.loads(text)["tokenizer"] == PIECES
    except (KeyError, TypeError, ValueError, RecursionError):
        of_pieces = False  # refused below
    return (Subwords if of_pieces else Vocabulary).from_json(text)
