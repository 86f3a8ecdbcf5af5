"""Tokens ⇄ ids."""

import difflib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from transformer.errors import ConfigError, InputError
from transformer.tokenizer import Tokenizer, tokenizer

PAD, SOS, EOS, UNK = "<pad>", "<sos>", "<eos>", "<unk>"
CLOSE = 0.55  # of 1: how alike a known word must be to be offered for an unknown one
SPECIALS = (PAD, SOS, EOS, UNK)


@dataclass(frozen=True)
class Unknown:
    """A token that is not in the vocabulary, and the known ones spelled most like it."""

    token: str
    closest: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """The tokens a model knows, in the order of their ids; the four special tokens come first.

    Attributes:
        tokens: every token; `tokens[i]` has id `i`. Length `vocab`.
        tokenizer_name: how a text is cut into such tokens (`transformer.tokenizer.TOKENIZERS`).

    Raises:
        ConfigError: the special tokens are missing, or a token stands twice.
    """

    tokens: tuple[str, ...]
    tokenizer_name: str
    # Whether `<sos>` and `<eos>` are put around what a person typed (`transformer.untrained.Ids` reads it as it is).
    framed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.tokens[: len(SPECIALS)] != SPECIALS:
            raise ConfigError("vocabulary", self.tokens[: len(SPECIALS)], f"must start with {' '.join(SPECIALS)}")
        if len(set(self.tokens)) != len(self.tokens):
            twice = next(token for token in self.tokens if self.tokens.count(token) > 1)
            raise ConfigError("vocabulary", twice, "every token may stand only once")
        tokenizer(self.tokenizer_name)

    @classmethod
    def of(cls, tokens: Iterable[str], tokenizer_name: str) -> "Vocabulary":
        """The special tokens followed by `tokens`, sorted, each once: the same words always give the same ids."""
        return cls((*SPECIALS, *sorted(set(tokens))), tokenizer_name)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def pad(self) -> int:
        """The id of `<pad>`."""
        return self._id_of[PAD]

    @property
    def sos(self) -> int:
        """The id of `<sos>`, with which every sequence starts."""
        return self._id_of[SOS]

    @property
    def eos(self) -> int:
        """The id of `<eos>`, with which every sequence ends."""
        return self._id_of[EOS]

    @property
    def specials(self) -> range:
        """The ids of the special tokens."""
        return range(len(SPECIALS))

    @property
    def words(self) -> tuple[str, ...]:
        """Every token but the special ones."""
        return self.tokens[len(SPECIALS) :]

    @property
    def tokenizer(self) -> Tokenizer:
        return tokenizer(self.tokenizer_name)

    def split(self, text: str) -> list[str]:
        """A person's text as tokens, known or not."""
        return self.tokenizer.split(text)

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token; that of `<unk>` for a token that is not known."""
        return [self._id_of.get(token, self._id_of[UNK]) for token in tokens]

    def tokens_of(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The token of each id, special ones included: what stands on an axis.

        Raises:
            InputError: an id that is not in the vocabulary.
        """
        ids = tuple(ids)
        for token_id in ids:
            if not 0 <= token_id < len(self.tokens):
                raise InputError("token id", token_id, f"allowed are 0 to {len(self.tokens) - 1}")
        return tuple(self.tokens[token_id] for token_id in ids)

    def text(self, tokens: Sequence[str]) -> str:
        """Tokens as a person would write them, without `<pad>`, `<sos>` and `<eos>`."""
        return self.tokenizer.join([token for token in tokens if token not in (PAD, SOS, EOS)])

    def unknown(self, tokens: Iterable[str]) -> tuple[Unknown, ...]:
        """The tokens that will be read as `<unk>`, each once, in the order they stand."""
        missing = dict.fromkeys(token for token in tokens if token not in self._id_of)
        return tuple(
            Unknown(token, tuple(difflib.get_close_matches(token, self.words, n=3, cutoff=CLOSE))) for token in missing
        )

    def to_json(self) -> str:
        return json.dumps({"tokenizer": self.tokenizer_name, "tokens": self.tokens}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Vocabulary":
        """The inverse of `to_json`.

        Raises:
            ConfigError: `text` is not what `to_json` writes.
        """
        try:
            data = json.loads(text)
            name, tokens = str(data["tokenizer"]), tuple(data["tokens"])
            # Refuses what is not text, half of a surrogate pair included: it could never be shown.
            "".join(tokens).encode()
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ConfigError("vocabulary", text, "must hold a tokenizer's name and a list of tokens") from None
        return cls(tokens, name)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {token: token_id for token_id, token in enumerate(self.tokens)}
