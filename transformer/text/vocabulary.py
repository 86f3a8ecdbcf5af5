"""Vocabularies: tokens to ids and back."""

import difflib
import json
import operator
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch

from transformer.errors import ConfigError, InputError
from transformer.text.tokenizer import TOKENIZERS, Tokenizer, a_text, tokenizer, unseen
from transformer.validation import as_list, one_of

PAD, SOS, EOS, UNK = "<pad>", "<sos>", "<eos>", "<unk>"
CLOSE = 0.66  # smallest similarity, 0 to 1, at which a known word is suggested for an unknown word
SPECIALS = (PAD, SOS, EOS, UNK)
SURROGATE = re.compile("[\ud800-\udfff]")  # halves of surrogate pairs, which UTF-8 cannot encode
NO_SUCH_ID = "There is no token id {token!r} here; allowed are 0 to {most}."


def as_tokens(tokens: Any) -> list[str]:
    """The tokens of any ordered collection as a list.

    Raises:
        InputError: `tokens` is not an ordered collection, or an item is not a text.
    """
    listed = as_list(tokens)
    if listed is None:
        raise InputError("Tokens must be a list of texts, not {tokens!r}.", tokens=tokens)
    for token in listed:
        if not isinstance(token, str):
            raise InputError("A token must be a text; this one is {token!r}.", token=token)
    return listed


def as_ids(ids: Any) -> list[int]:
    """The ids of any ordered collection as a list of Python integers.

    Raises:
        InputError: `ids` is not an ordered collection, or an item is not a whole number.
    """
    listed = as_list(ids)
    if listed is None:
        raise InputError("Token ids must be a list of whole numbers, not {ids!r}.", ids=ids)
    for token_id in listed:
        if type(token_id) is int:
            continue
        # A tensor of truth values has an index, too.
        if isinstance(token_id, bool) or not hasattr(token_id, "__index__") or getattr(token_id, "dtype", None) == torch.bool:
            raise InputError("A token id must be a whole number; this one is {id!r}.", id=token_id)
    try:
        return [operator.index(token_id) for token_id in listed]
    except (TypeError, RuntimeError):  # an item is a tensor or an array: of several numbers, of none, or not of whole ones
        raise InputError("Token ids must be a list of whole numbers, not {ids!r}.", ids=ids) from None


def known_ids(ids: Any, count: int) -> list[int]:
    """The ids of any ordered collection as a list of Python integers, after a check that each is an id of a vocabulary of
    `count` tokens.

    Raises:
        InputError: `ids` is not an ordered collection, an item is not a whole number, or an id is not from 0 to `count - 1`.
    """
    listed = as_ids(ids)
    for token_id in listed:
        if not 0 <= token_id < count:
            raise InputError(NO_SUCH_ID, token=token_id, most=count - 1)
    return listed


@dataclass(frozen=True)
class Unknown:
    """A token that is not in the vocabulary, with the known tokens of the most similar spelling."""

    token: str
    closest: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a model in the order of their ids. The special tokens come first: `<pad>`, `<sos>`, `<eos>`, `<unk>`.

    Attributes:
        tokens: every token; `tokens[i]` has id `i`. The constructor accepts any ordered collection.
        tokenizer_name: name of the tokenizer that splits a text into these tokens (`transformer.text.tokenizer.TOKENIZERS`).

    Raises:
        ConfigError: `tokens` does not start with the special tokens; a token is not a text, is repeated or is invisible; or
            there is no tokenizer with this name.
    """

    tokens: tuple[str, ...]
    tokenizer_name: str
    # Whether `<sos>` and `<eos>` are added around a text. `transformer.pipeline.untrained.Ids` does not add them.
    framed: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.tokens):,} tokens, tokenizer {self.tokenizer_name!r}>"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", _texts(self.tokens))
        self._check_first()
        for token in filter(unseen, self.tokens):
            raise ConfigError("The vocabulary has the token {token!r}; no token may be empty or invisible.", token=token)
        if len(set(self.tokens)) != len(self.tokens):
            ((twice, _),) = Counter(self.tokens).most_common(1)
            raise ConfigError("The vocabulary has {token!r} twice; every token may stand only once.", token=twice)

    def _check_first(self) -> None:
        """Check the tokens with which the vocabulary starts, and the name of its tokenizer."""
        if self.tokens[: len(SPECIALS)] != SPECIALS:
            raise ConfigError(
                "The vocabulary starts with {tokens!r}; it must start with {specials}.",
                tokens=self.tokens[: len(SPECIALS)],
                specials=" ".join(SPECIALS),
            )
        one_of("tokenizer", self.tokenizer_name, TOKENIZERS)

    @classmethod
    def of(cls, tokens: Iterable[str], tokenizer_name: str) -> "Vocabulary":
        """A vocabulary of the special tokens and then `tokens`, sorted and each once. Equal sets of tokens thus get equal ids.

        Raises:
            ConfigError: a token is not a text, is invisible or is a special token; or there is no tokenizer with this name.
        """
        return cls((*SPECIALS, *sorted(set(_texts(tokens)))), tokenizer_name)

    def __len__(self) -> int:
        """The number of tokens, including special tokens."""
        return len(self.tokens)

    @property
    def pad(self) -> int:
        """The id of `<pad>`."""
        return self._id_of[PAD]

    @property
    def sos(self) -> int:
        """The id of `<sos>`, with which a source and a decoder's input start."""
        return self._id_of[SOS]

    @property
    def eos(self) -> int:
        """The id of `<eos>`, with which a source and an answer end."""
        return self._id_of[EOS]

    @property
    def unk(self) -> int:
        """The id of `<unk>`, which stands for every unknown token."""
        return self._id_of[UNK]

    @property
    def specials(self) -> range:
        """The ids of the special tokens `<pad>`, `<sos>`, `<eos>` and `<unk>`."""
        return range(len(SPECIALS))

    @property
    def words(self) -> tuple[str, ...]:
        """All tokens except the special ones."""
        return self.tokens[len(SPECIALS) :]

    @property
    def tokenizer(self) -> Tokenizer:
        """The functions that split a text into tokens and join tokens to a text."""
        return tokenizer(self.tokenizer_name)

    def split(self, text: str) -> list[str]:
        """The tokens of a text. They need not be in the vocabulary.

        Raises:
            InputError: `text` is not a text.
        """
        return self.tokenizer.split(a_text(text))

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token. An unknown token has the id of `<unk>`.

        Raises:
            InputError: `tokens` is not an ordered collection of strings.
        """
        return [self._id_of.get(token, self._id_of[UNK]) for token in as_tokens(tokens)]

    def words_of(self, ids: Iterable[int]) -> tuple[int | None, ...]:
        """Empty, because each token is a whole word or a character. (`Subwords` overrides this, for pieces of words.)"""
        return ()

    def text_of(self, ids: Iterable[int]) -> str:
        """The text of ids in its usual spelling, without `<pad>`, `<sos>` and `<eos>`. Raises `InputError` as `tokens_of`."""
        return self.text(self.tokens_of(ids))

    def closest_to(self, token: str) -> tuple[str, ...]:
        """At most three known tokens with a similar spelling, the most similar first. Empty if `token` itself is known."""
        unknown = self.unknown([token])
        return unknown[0].closest if unknown else ()

    def tokens_of(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The token of each id, including special tokens.

        Raises:
            InputError: `ids` is not an ordered collection, or an item is not a whole number or not an id of the vocabulary.
        """
        return tuple(self.tokens[index] for index in known_ids(ids, len(self.tokens)))

    def text(self, tokens: Iterable[str]) -> str:
        """Tokens joined to a text in its usual spelling, without `<pad>`, `<sos>` and `<eos>`.

        Raises:
            InputError: `tokens` is not an ordered collection of strings.
        """
        return self.tokenizer.join([token for token in as_tokens(tokens) if token not in (PAD, SOS, EOS)])

    def unknown(self, tokens: Iterable[str]) -> tuple[Unknown, ...]:
        """The tokens that are not in the vocabulary, each once, in the order of their first use. Raises `InputError` as
        `ids`."""
        missing = dict.fromkeys(token for token in as_tokens(tokens) if token not in self._id_of)
        return tuple(
            Unknown(token, tuple(difflib.get_close_matches(token, self.words, n=3, cutoff=CLOSE))) for token in missing
        )

    def to_json(self) -> str:
        """The tokenizer's name and the tokens, in the order of their ids, as JSON."""
        return json.dumps({"tokenizer": self.tokenizer_name, "tokens": self.tokens}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Vocabulary":
        """The vocabulary that `to_json` wrote as this text.

        Raises:
            ConfigError: `text` is not the JSON of a vocabulary.
        """
        try:
            data = json.loads(text)
            return cls(tuple(data["tokens"]), data["tokenizer"])
        except ConfigError:
            raise
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ConfigError(
                "The vocabulary {text!r} is not a JSON object of a `tokenizer` and its `tokens`.", text=text
            ) from None

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {token: token_id for token_id, token in enumerate(self.tokens)}


def _texts(tokens: Any) -> tuple[str, ...]:
    """The tokens of any collection as a tuple. It may also be a set or a mapping, because `Vocabulary.of` sorts the tokens.

    Raises:
        ConfigError: `tokens` is not a collection, or a token is not a text that UTF-8 can encode.
    """
    listed = list(tokens) if isinstance(tokens, Mapping | Set) else as_list(tokens)
    if listed is None:
        raise ConfigError("A vocabulary must be a list of texts, not {tokens!r}.", tokens=tokens)
    for token in listed:
        if not isinstance(token, str) or SURROGATE.search(token):
            raise ConfigError("The vocabulary has the token {token!r}; every token must be a text.", token=token)
    return tuple(listed)
