"""Models of any size with random weights, to look at shapes and at how a computation goes where no training is in the way.

    asked = Untrained.of("shared_heads", ["1 5 6 4 3 9 5 2 0"], ["1 7 4 3 5 9 2"])
    asked.parameters       # 7616010, counted without building anything
    asked.build().trace("1 5 6 4 3 9 5 2 0", "1 7 4 3 5 9 2")

Such a model has no vocabulary of its own. It is made of what a person typed: of the words, in the order they first stand; or,
where all that was typed are whole numbers, of ids, read as they are.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch.overrides import TorchFunctionMode

from transformer.errors import InputError
from transformer.network.config import TransformerConfig
from transformer.network.cost import parameters
from transformer.network.model import Transformer
from transformer.pipeline.card import Card
from transformer.pipeline.pipeline import Pipeline
from transformer.text.tokenizer import Tokenizer, tokenizer, unseen
from transformer.text.vocabulary import SPECIALS, Vocabulary

WORDS = "words and digits"
# Tokens of the longest text such a model reads, and the largest id: a slip of the finger must not fill the memory.
LONGEST, LARGEST_ID = 64, 999
LEAST_IDS = 10
ACCEPTS = f"up to {LONGEST} words, or whole numbers from 0 to {LARGEST_ID}, which are read as ids"
NUMBER = re.compile(r"-?\d+", re.ASCII)


def split_ids(text: str) -> list[str]:
    """`[1, 05, 6]` → `1`, `5`, `6`; anything that is no whole number stays as it is."""
    parts = re.sub(r"[\[\](),;]", " ", text).split()
    return [str(int(part)) if NUMBER.fullmatch(part) and len(part) < 20 else part for part in parts]


def are_ids(texts: Iterable[str]) -> bool:
    """Whether every token of some texts is a whole number; not where there is none."""
    tokens = [token for text in texts for token in split_ids(text)]
    return bool(tokens) and all(NUMBER.fullmatch(token) for token in tokens)


@dataclass(frozen=True)
class Ids(Vocabulary):
    """Ids without words: the token of id 7 is `7`. Nothing is put before or after a text. By custom 0 is padding, 1 starts and
    2 ends; what the model writes by itself starts from 1."""

    framed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        assert self.tokens == tuple(map(str, range(len(self.tokens))))

    @classmethod
    def up_to(cls, size: int) -> "Ids":
        """The ids from 0 to `size - 1`."""
        return cls(tuple(map(str, range(size))), "whole numbers")

    @property
    def pad(self) -> int:
        return 0

    @property
    def sos(self) -> int:
        return 1

    @property
    def eos(self) -> int:
        return 2

    @property
    def specials(self) -> range:
        return range(3)

    @property
    def words(self) -> tuple[str, ...]:
        return self.tokens

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(split_ids, " ".join, "id")

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The tokens as numbers.

        Raises:
            InputError: one of them is none, or beyond the last id.
        """
        tokens = list(tokens)
        for token in tokens:
            if token not in self._id_of:
                raise InputError("token id", token, f"allowed are 0 to {len(self.tokens) - 1}")
        return [self._id_of[token] for token in tokens]

    def text(self, tokens: Sequence[str]) -> str:
        return " ".join(tokens)

    def unknown(self, tokens: Iterable[str]) -> tuple[()]:
        return ()


@dataclass(frozen=True)
class Untrained:
    """What describes an untrained model wholly, so that it can stand in a cache key: two that are equal have equal weights.

    Attributes:
        preset: the variant.
        source, target: the words of each side in the order of their ids, without the special tokens; or the number of ids.
        sizes: fields of the configuration with other values than the preset's.
    """

    preset: str
    source: tuple[str, ...] | int
    target: tuple[str, ...] | int
    sizes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(
        cls, preset: str, sources: Sequence[str], targets: Sequence[str | None] = (), sizes: Mapping[str, int] | None = None
    ) -> "Untrained":
        """The model for some texts. Its target words are those of the typed targets; of the sources, where there are none.

        Raises:
            InputError: no lists of texts, or whole numbers that are no ids.
        """
        for side, texts in (("source", sources), ("target", targets)):
            if isinstance(texts, str) or not all(
                isinstance(text, str) or (text is None and side == "target") for text in texts
            ):
                raise InputError(f"{side} texts", texts, "must be a list of texts")
        given = [text for text in targets if text is not None]
        size = tuple((sizes or {}).items())
        if are_ids([*sources, *given]):
            return cls(preset, _ids_needed(sources), _ids_needed(given or sources), size)
        return cls(preset, _words_of(sources), _words_of(given) or _words_of(sources), size)

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Of the source and of the target."""
        return _vocabulary(self.source), _vocabulary(self.target)

    @property
    def config(self) -> TransformerConfig:
        """Raises:
        ConfigError: sizes that cannot be built.
        """
        source, target = (side if isinstance(side, int) else len(SPECIALS) + len(side) for side in (self.source, self.target))
        return TransformerConfig.preset(self.preset, source_vocab=source, target_vocab=target, **dict(self.sizes))

    @property
    def parameters(self) -> int:
        """How many there will be, counted without building it. Raises as `config`."""
        return parameters(self.config)

    def build(self) -> Pipeline:
        """The model, in evaluation mode, with the same weights each time. Raises as `config`."""
        config = self.config
        with _Drawn():
            model = Transformer(config).eval()
        card = Card(world="", description="random weights, never trained", accepts=ACCEPTS, longest=LONGEST, command="")
        return Pipeline(self.preset, model, *self.vocabularies, card, trained=False)


class _Drawn(TorchFunctionMode):
    """Within this context, and in this thread alone, what the initialisation draws comes from a generator of its own.

    PyTorch's global generator is one for all threads: seeding it, and putting its state back afterwards, would change the
    numbers another thread is drawing meanwhile. Each tensor gets a seed of its own, by its place in the order, so one more
    word in a table leaves the weights of the layers as they were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.generator, self.drawn = torch.Generator(), 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if "generator" in kwargs:
            self.drawn += 1
            kwargs = {**kwargs, "generator": self.generator.manual_seed(self.drawn)}
        return func(*args, **kwargs)


def _ids_needed(texts: Sequence[str]) -> int:
    found = [token for text in texts for token in split_ids(text)]
    for token in found:
        # By length first: Python refuses to make a number of thousands of digits.
        if len(token) > len(str(LARGEST_ID)) or not 0 <= int(token) <= LARGEST_ID:
            raise InputError("token id", token, f"allowed are 0 to {LARGEST_ID}")
    return max(LEAST_IDS, *(int(token) + 1 for token in found)) if found else LEAST_IDS


def _words_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Every word once, in the order they stand. What cannot be seen, such as a space of no width, is none: it would be a label
    with nothing on it. As every model does, this one reads it as `<unk>`."""
    tokens = [token for text in texts for token in tokenizer(WORDS).split(text)]
    return tuple(dict.fromkeys(token for token in tokens if not unseen(token)))


def _vocabulary(side: tuple[str, ...] | int) -> Vocabulary:
    return Ids.up_to(side) if isinstance(side, int) else Vocabulary((*SPECIALS, *side), WORDS)
