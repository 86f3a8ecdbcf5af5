"""The vocabulary of one side of a model: pieces of words to ids and back, by a tokenizer of `transformers`."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar, NamedTuple

from transformer.errors import CheckpointError, InputError
from transformer.huggingface.tokenizer_rules import caught_panics
from transformer.text.pieces import BYTE_SPACE, CONTINUES, SPACE, readable, word_numbers
from transformer.text.vocabulary import NO_SUCH_ID, PAD, Unknown, as_ids
from transformer.tracing.paths import Side

# The least share of the rows of a table for which the tokenizer must have a piece. Tables are often rounded up, but not to
# twice the size.
LEAST_SHARE = 0.5


class Pieces(NamedTuple):
    """A text split into pieces of words (subword tokens).

    Attributes:
        ids: the ids of the pieces, including the special tokens that the tokenizer adds.
        unknown: the parts of the text that are read as the unknown token; empty if the tokenizer does not give their places.
    """

    ids: list[int]
    unknown: tuple[Unknown, ...]


class PieceVocabulary:
    """The vocabulary of one side of a model: the pieces of words of a tokenizer, in the order of their ids.

    Args:
        tokenizer: a tokenizer of `transformers`.
        lock: held during each call of the tokenizer, because a call that reads a target changes the tokenizer for its duration.
        rows: number of rows of the model's embedding table, which is the number of ids.
        side: `source` or `target`; some tokenizers treat targets differently.
        pad: id of padding; negative if there is none.
        sos, eos: ids with which a decoder starts and ends; None for an id that does not exist.

    Attributes:
        tokens: the label of each id: its piece, with `▁` for a space before it; or the id in angle brackets if it has no piece.
        pad, sos, eos: as given.

    Raises:
        CheckpointError: the tokenizer has ids that the model lacks, or fewer than half as many ids as the model.
    """

    framed: ClassVar[bool] = True
    tokenizer_name = "pieces"

    def __init__(
        self,
        tokenizer: Any,
        lock: Lock,
        rows: int,
        side: Side,
        pad: int,
        sos: int | None = None,
        eos: int | None = None,
    ) -> None:
        self._lock = lock
        self.tokenizer, self.rows, self.side, self.pad, self.sos, self.eos = tokenizer, rows, side, pad, sos, eos
        if not LEAST_SHARE * rows <= len(tokenizer) <= rows or max(tokenizer.get_vocab().values(), default=0) >= rows:
            raise CheckpointError(
                "The tokenizer has {count} pieces and the model {rows}; they do not belong together.",
                count=len(tokenizer),
                rows=rows,
            )

        # Codes of languages, which the tokenizer of M2M-100 keeps apart from its pieces.
        self._languages: dict[int, str] = getattr(tokenizer, "id_to_lang_token", {})
        self.tokens = self._labels()

    def __len__(self) -> int:
        return self.rows

    def _labels(self) -> tuple[str, ...]:
        written = {index: piece for piece, index in self.tokenizer.get_vocab().items()} | self._languages
        pieces = [written.get(index, f"<{index}>") for index in range(self.rows)]
        labels = [readable(piece) for piece in pieces]
        count = Counter(labels)
        # Two pieces can have the same label, such as two halves of letters. Such pieces keep the names that the tokenizer gives
        # them.
        return tuple(label if count[label] == 1 else piece for label, piece in zip(labels, pieces, strict=True))

    @property
    def unk(self) -> int:
        """The id of the unknown token; −1 if there is none, or if that token also begins or ends a text, as in GPT-2."""
        unk = self.tokenizer.unk_token_id
        return -1 if unk in (None, self.tokenizer.bos_token_id, self.tokenizer.eos_token_id) else unk

    @property
    def specials(self) -> tuple[int, ...]:
        """The ids of the special tokens."""
        return tuple(sorted(index for index in {*self.tokenizer.all_special_ids, *self._languages} if index < self.rows))

    @property
    def words(self) -> tuple[str, ...]:
        """Every token except the special tokens."""
        special = set(self.specials)
        return tuple(token for index, token in enumerate(self.tokens) if index not in special)

    def split(self, text: str, special: bool = True) -> Pieces:
        """The ids of the pieces of a text, and the parts of the text that the tokenizer does not know.

        Args:
            text: the text to read.
            special: whether the special tokens of the tokenizer are put around the text.

        Raises:
            InputError: the tokenizer's rules fail on the text.
        """
        given = {"text_target": text} if self.side == "target" and special else {"text": text}
        fast = getattr(self.tokenizer, "is_fast", False)
        try:
            with self._lock, caught_panics():
                encoded = self.tokenizer(**given, add_special_tokens=special, return_offsets_mapping=fast, truncation=False)
        except Exception as error:  # noqa: BLE001 (a tokenizer's rules can cause any exception)
            raise InputError("The tokenizer of this model cannot read your text ({problem}).", problem=str(error)) from None
        ids = [int(index) for index in encoded["input_ids"]]
        unknown: dict[str, None] = {}
        if fast:
            spans = zip(ids, encoded["offset_mapping"], strict=True)
            unknown = {text[start:end]: None for index, (start, end) in spans if index == self.tokenizer.unk_token_id}
        return Pieces(ids, tuple(Unknown(piece, ()) for piece in unknown))

    def tokens_of(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The piece of each id as a readable label. If the tokenizer has no token for padding, `<pad>` is the label of the id
        −1, which then stands for padding.

        Raises:
            InputError: `ids` is not an ordered collection, or an item is not a whole number or not an id of the vocabulary.
        """
        labels = []
        for index in as_ids(ids):
            if index == self.pad and index < 0:
                labels.append(PAD)
            elif not 0 <= index < self.rows:
                raise InputError(NO_SUCH_ID, token=index, most=self.rows - 1)
            else:
                labels.append(self.tokens[index])
        return tuple(labels)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {token: index for index, token in enumerate(self.tokens)}

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token, by its label.

        Raises:
            InputError: there is no such token.
        """
        listed = list(tokens)
        for token in listed:
            if token not in self._id_of:
                raise InputError("There is no token {token!r} in this vocabulary.", token=token)
        return [self._id_of[token] for token in listed]

    def text_of(self, ids: Iterable[int]) -> str:
        """The text of the ids, as a person would write it, without special tokens; the same as `text`."""
        return self.text(ids)

    @cached_property
    def _marks(self) -> str:
        """The mark in the labels of pieces: `##` if it marks pieces that continue a word, `▁` if it marks pieces that start a
        word, or empty if each piece is a word."""
        labels = [token for token in self.tokens if len(token) > 2]
        return next((mark for mark in (CONTINUES, SPACE) if any(label.startswith(mark) for label in labels)), "")

    @cached_property
    def _byte_letters(self) -> bool:
        """Whether the tokenizer writes bytes as letters, as GPT-2's tokenizer does."""
        return any(piece.startswith(BYTE_SPACE) for piece in self.tokenizer.get_vocab())

    def words_of(self, ids: Iterable[int]) -> tuple[int | None, ...]:
        """For each id, the index of the word that it is a piece of, counted from 0; None for special tokens and padding. A sign
        of punctuation is a word of its own."""
        special = set(self.specials)
        labels = [None if index < 0 or index in special else self.tokens[index] for index in ids]
        if self._marks == SPACE:
            return word_numbers(labels, self._byte_letters)
        numbers: list[int | None] = []
        word, before = -1, None
        for label in labels:
            if label is not None:
                word += not (before is not None and self._marks == CONTINUES and label.startswith(CONTINUES))
            numbers.append(None if label is None else word)
            before = label
        return tuple(numbers)

    def closest_to(self, token: str) -> tuple[str, ...]:
        """Empty, because the spellings of pieces are not compared."""
        return ()

    def text(self, ids: Iterable[int]) -> str:
        """The text of the ids, as a person would write it, without special tokens."""
        known = [index for index in as_ids(ids) if 0 <= index < len(self.tokenizer)]
        with caught_panics():
            return self.tokenizer.decode(known, skip_special_tokens=True).strip()
