"""`Tokens`: the protocol of all vocabularies, our own and those of Hugging Face tokenizers."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol, runtime_checkable


@runtime_checkable
class Tokens(Protocol):
    """A vocabulary: the tokens of one side of a model (source or target), in the order of their ids."""

    # Whether special tokens are put around a text.
    framed: ClassVar[bool]

    def __len__(self) -> int: ...

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token, in the order of the ids."""
        ...

    @property
    def words(self) -> tuple[str, ...]:
        """Every token except the special tokens."""
        ...

    @property
    def tokenizer_name(self) -> str:
        """The name of the tokenizer, which shows the kind of the tokens: `characters`, `english`, `pieces`, …"""
        ...

    @property
    def pad(self) -> int:
        """The id of padding; negative if there is no padding token."""
        ...

    @property
    def sos(self) -> int | None:
        """The id with which the decoder's input starts; None if this input starts with the text itself."""
        ...

    @property
    def eos(self) -> int | None:
        """The id that ends an answer; None if there is no such id."""
        ...

    @property
    def unk(self) -> int:
        """The id that stands for every unknown token; negative if there is no such id."""
        ...

    @property
    def specials(self) -> Sequence[int]:
        """The ids of the special tokens."""
        ...

    def tokens_of(self, ids: Iterable[int]) -> tuple[str, ...]:
        """The token of each id. Raises `InputError` for an id that is not in the vocabulary."""
        ...

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token. An unknown token has the id `unk`, or raises `InputError`."""
        ...

    def text_of(self, ids: Iterable[int]) -> str:
        """The text of the ids, as a person would write it."""
        ...

    def words_of(self, ids: Iterable[int]) -> tuple[int | None, ...]:
        """For each id, the number of the word that its token belongs to, counted from 0; None for a special token. Empty if
        tokens are not pieces of words."""
        ...

    def closest_to(self, token: str) -> tuple[str, ...]:
        """Tokens of the vocabulary with a similar spelling; empty for a vocabulary that does not compare spellings."""
        ...
