"""Tokens ⇄ ids."""

import difflib
import json
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from transformer.errors import ConfigError, InputError
from transformer.text.tokenizer import Tokenizer, tokenizer, unseen
from transformer.validation import checked

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
        tokens: every token; `tokens[i]` has id `i`. Length `vocab`. Any sequence may be given.
        tokenizer_name: how a text is cut into such tokens (`transformer.text.tokenizer.TOKENIZERS`).

    Raises:
        ConfigError: the special tokens are missing, a token stands twice or cannot be seen, or no tokenizer has that name.
    """

    tokens: tuple[str, ...]
    tokenizer_name: str
    # Whether `<sos>` and `<eos>` are put around what a person typed (`transformer.pipeline.untrained.Ids` reads it as it is).
    framed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "tokens", tuple(self.tokens))
            "".join(self.tokens).encode()  # half of a surrogate pair could be neither written nor shown
        except (TypeError, UnicodeEncodeError):
            raise ConfigError("vocabulary", self.tokens, "every token must be a text") from None
        if self.tokens[: len(SPECIALS)] != SPECIALS:
            raise ConfigError("vocabulary", self.tokens[: len(SPECIALS)], f"must start with {' '.join(SPECIALS)}")
        for token in filter(unseen, self.tokens):
            raise ConfigError("vocabulary", token, "no token may be empty or blank: it could not be seen")
        if len(set(self.tokens)) != len(self.tokens):
            ((twice, _),) = Counter(self.tokens).most_common(1)
            raise ConfigError("vocabulary", twice, "every token may stand only once")
        tokenizer(checked("tokenizer", self.tokenizer_name, str))

    @classmethod
    def of(cls, tokens: Iterable[str], tokenizer_name: str) -> "Vocabulary":
        """The special tokens followed by `tokens`, sorted, each once: the same words always give the same ids.

        Raises:
            ConfigError: a token that is no text, or cannot be seen; no tokenizer of that name.
        """
        try:
            words = sorted(set(tokens))
        except TypeError:
            raise ConfigError("vocabulary", tokens, "every token must be a text") from None
        return cls((*SPECIALS, *words), tokenizer_name)

    def __len__(self) -> int:
        """Tokens in all, the special ones included."""
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
        """How a text is cut into tokens, and tokens are joined to a text."""
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
            InputError: an id that is not in the vocabulary, or is no whole number.
        """
        try:
            places = [operator.index(token_id) for token_id in ids]
        except TypeError:
            raise InputError("token ids", ids, "must be whole numbers") from None
        for place in places:
            if not 0 <= place < len(self.tokens):
                raise InputError("token id", place, f"allowed are 0 to {len(self.tokens) - 1}")
        return tuple(self.tokens[place] for place in places)

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
        """The tokenizer's name and the tokens, in the order of their ids, as JSON."""
        return json.dumps({"tokenizer": self.tokenizer_name, "tokens": self.tokens}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Vocabulary":
        """The inverse of `to_json`.

        Raises:
            ConfigError: `text` is not what `to_json` writes.
        """
        try:
            data = json.loads(text)
            return cls(tuple(data["tokens"]), data["tokenizer"])
        except ConfigError:
            raise
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ConfigError("vocabulary", text, "must hold a tokenizer's name and a list of tokens") from None

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {token: token_id for token_id, token in enumerate(self.tokens)}
