"""Models of any size with random weights, to study the shapes of tensors and the computation.

    untrained = Untrained.of("shared_heads", ["1 5 6 4 3 9 5 2 0"], ["1 7 4 3 5 9 2"])
    untrained.parameters       # 7616010, counted without building anything
    untrained.build().trace("1 5 6 4 3 9 5 2 0", "1 7 4 3 5 9 2")

The vocabulary of such a model comes from the texts that were typed: their words, in the order they first occur; or, if all
words are whole numbers, the ids from 0 up to the largest number, and at least 0 to 9.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from transformer.errors import ConfigError, InputError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.cost import parameters
from transformer.network.model import Transformer
from transformer.pipeline.card import Card
from transformer.pipeline.encoding import CHARACTERS_PER_TOKEN, TOO_MANY_CHARACTERS
from transformer.pipeline.pipeline import Pipeline
from transformer.text.tokenizer import Tokenizer, tokenizer, unseen
from transformer.text.vocabulary import NO_SUCH_ID, SPECIALS, Vocabulary, a_text, as_tokens
from transformer.validation import as_list, one_of

WORDS = "words and digits"
# Tokens of the longest text such a model reads, and the largest id; without limits a mistyped digit could fill the memory.
LONGEST, LARGEST_ID = 64, 999
LEAST_IDS = 10
ACCEPTS = f"up to {LONGEST} words, or whole numbers from 0 to {LARGEST_ID}, which are read as ids"
NUMBER = re.compile(r"-?\d+", re.ASCII)


def split_ids(text: str) -> list[str]:
    """The items of a list that a person typed: `[1, 05, 6]` → `1`, `5`, `6`. Whole numbers lose leading zeros. Items that are
    not whole numbers, or have 20 or more characters, are unchanged."""
    parts = re.sub(r"[\[\](),;]", " ", text).split()
    return [str(int(part)) if NUMBER.fullmatch(part) and len(part) < 20 else part for part in parts]


def are_ids(texts: Iterable[str]) -> bool:
    """Whether the texts have at least one token and all their tokens are whole numbers."""
    tokens = [token for text in texts for token in split_ids(text)]
    return bool(tokens) and all(NUMBER.fullmatch(token) for token in tokens)


@dataclass(frozen=True)
class Ids(Vocabulary):
    """A vocabulary whose tokens are the ids themselves: the token of id 7 is `7`. No special tokens are put around a text. By
    convention, id 0 is padding, 1 starts a text and 2 ends it; the decoder starts an answer with id 1."""

    framed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        assert self.tokens == tuple(map(str, range(len(self.tokens))))

    @classmethod
    def up_to(cls, size: int) -> "Ids":
        """The vocabulary of the ids from 0 to `size - 1`."""
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
    def unk(self) -> int:
        """−1: there is no id for unknown tokens."""
        return -1

    @property
    def specials(self) -> range:
        return range(3)

    @property
    def words(self) -> tuple[str, ...]:
        return self.tokens

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(
            split_ids,
            " ".join,
            "Your text has {count} ids; this model reads up to {most}.",
            "Your target has {count} ids; this model reads up to {most}.",
        )

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The id of each token: the token as a number.

        Raises:
            InputError: a token is not a whole number from 0 to the last id, or `tokens` is not a list of texts.
        """
        listed = as_tokens(tokens)
        for token in listed:
            if token not in self._id_of:
                raise InputError(NO_SUCH_ID, token=token, most=len(self.tokens) - 1)
        return [self._id_of[token] for token in listed]

    def text(self, tokens: Iterable[str]) -> str:
        return " ".join(as_tokens(tokens))

    def unknown(self, tokens: Iterable[str]) -> tuple[()]:
        return ()


@dataclass(frozen=True)
class Untrained:
    """A complete description of an untrained model. It can be a cache key: equal descriptions build equal weights.

    Attributes:
        preset: the name of a preset of `TransformerConfig`: `vanilla`, `pytorch` or `shared_heads`.
        source, target: the words of each side in the order of their ids, without the special tokens; if the tokens are ids
            (`Ids`), the size of the vocabulary.
        sizes: (field, value) tuples of `TransformerConfig`, in place of the preset's values.
    """

    preset: str
    source: tuple[str, ...] | int
    target: tuple[str, ...] | int
    sizes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(
        cls, preset: str, sources: Sequence[str], targets: Sequence[str | None] = (), sizes: Mapping[str, int] | None = None
    ) -> "Untrained":
        """The description of a model whose vocabularies are the words of some texts. If all words of all texts are whole
        numbers, the tokens are ids.

        Args:
            preset: the name of a preset of `TransformerConfig`: `vanilla`, `pytorch` or `shared_heads`.
            sources: the texts with the words of the source.
            targets: the texts with the words of the target; an item may be None. If there is no text, the words of `sources`
                are taken.
            sizes: field of `TransformerConfig` → the value that replaces the preset's value.

        Raises:
            InputError: a value is not a list of texts; a text has more than 6,500 characters; or all words are whole numbers,
                but not all are from 0 to 999.
            ConfigError: there is no preset of that name, or `sizes` does not map names to values, or has the size of a
                vocabulary. The fields and their values are checked when `config` is read.
        """
        if isinstance(sources, str):
            raise InputError("Sources must be a list of texts, not the text {text!r}.", text=sources)
        if isinstance(targets, str):
            raise InputError("Targets must be a list of texts, not the text {text!r}.", text=targets)
        typed, forced = _texts(sources), [text for text in _texts(targets, may_lack=True) if text is not None]
        one_of("preset", preset, PRESETS)
        fields = _fields({} if sizes is None else sizes)
        if are_ids([*typed, *forced]):
            return cls(preset, _ids_needed(typed), _ids_needed(forced or typed), fields)
        return cls(preset, _words_of(typed), _words_of(forced) or _words_of(typed), fields)

    @property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """The vocabularies of the source and of the target."""
        return _vocabulary(self.source), _vocabulary(self.target)

    @property
    def config(self) -> TransformerConfig:
        """The preset's configuration, with the sizes of the vocabularies and the fields in `sizes`.

        Raises:
            ConfigError: a model of these sizes cannot be built.
        """
        source, target = (side if isinstance(side, int) else len(SPECIALS) + len(side) for side in (self.source, self.target))
        return TransformerConfig.preset(self.preset, source_vocab=source, target_vocab=target, **dict(self.sizes))

    @property
    def parameters(self) -> int:
        """The number of parameters of the model, counted without building it. Raises the same errors as `config`."""
        return parameters(self.config)

    def build(self, weights: "Weights | None" = None) -> Pipeline:
        """Build the model with its random weights, the same each time, and return its pipeline. The model is in evaluation
        mode. Raises the same errors as `config`.

        Args:
            weights: a store of the weights of earlier models with the same preset and sizes. Weights of this model that are not
                in the store are added to it. Models share the memory of stored weights, so never write to them. None to share
                no weights.
        """
        config = self.config
        with _Sampled(Weights() if weights is None else weights, config.initialization == "xavier"):
            model = Transformer(config).eval()
        card = Card(task="", description="random weights, never trained", accepts=ACCEPTS, longest=LONGEST, command="")
        return Pipeline(self.preset, model, *self.vocabularies, card, trained=False)


class Weights:
    """A store of the random weights that models of one preset and sizes share, numbered in the order of initialisation.

    Such models differ only in their vocabularies, so their weights are equal, except those whose shape depends on a vocabulary.
    Sampling 44 million weights takes half a second; building another model from sampled weights takes 0.02 s.
    """

    def __init__(self) -> None:
        self._tensors: dict[int, Tensor] = {}

    @property
    def nbytes(self) -> int:
        """Memory of all weights in bytes; weights that several models share are counted once."""
        return sum({values.data_ptr(): values.nbytes for values in self._tensors.values()}.values())

    def fill(self, number: int, tensor: Tensor, sample: Callable[[], object]) -> None:
        """Make `tensor` use the memory of the stored weights with this number. If no weights are stored under the number, or
        their shape differs, call `sample`, which samples new values into `tensor`; store these if the number is new."""
        known = self._tensors.get(number)
        if known is not None and known.shape == tensor.shape:
            tensor.data = known
            return
        sample()
        self._tensors.setdefault(number, tensor.data)


class _Sampled(TorchFunctionMode):
    """A context in which, for this thread only, initialisation samples from its own generator.

    PyTorch's global generator is shared by all threads, so seeding it and restoring its state would change the numbers that
    another thread samples meanwhile. The seed of each tensor is its number in the order of initialisation, so one more word in
    an embedding table leaves the weights of the layers unchanged.

    Args:
        weights: the weights that were sampled before.
        xavier: whether the model initialises every matrix again with Xavier uniform; PyTorch's own sampling is then skipped.
    """

    def __init__(self, weights: Weights, xavier: bool) -> None:
        super().__init__()
        self.weights, self.generator, self.count = weights, torch.Generator(), 0
        self.left_out = (nn.init.kaiming_uniform_, nn.init.normal_) if xavier else ()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if "generator" not in kwargs:
            return func(*args, **kwargs)
        self.count += 1
        tensor: Tensor = args[0] if args else kwargs["tensor"]
        seeded = kwargs | {"generator": self.generator.manual_seed(self.count)}
        self.weights.fill(self.count, tensor, lambda: None if func in self.left_out else func(*args, **seeded))
        return tensor


def _texts(texts: Any, may_lack: bool = False) -> list[Any]:
    """The texts as a list. If `may_lack` is True, an item may be None, for a missing text.

    Raises:
        InputError: the value is not a list of texts, or a text is longer than any that the model reads.
    """
    listed, most = as_list(texts), CHARACTERS_PER_TOKEN * (LONGEST + 1)
    if listed is None:
        raise InputError("Give a list of texts, not {texts!r}.", texts=texts)
    for text in listed:
        if not (may_lack and text is None) and len(a_text(text)) > most:
            raise InputError(TOO_MANY_CHARACTERS, count=len(text), most=most)
    return listed


def _fields(sizes: Any) -> tuple[tuple[str, Any], ...]:
    if not isinstance(sizes, Mapping):
        raise ConfigError("Sizes must be fields with their values, such as {{'d_model': 64}}, not {sizes!r}.", sizes=sizes)
    for name, value in sizes.items():
        if not isinstance(name, str):
            raise ConfigError("Sizes must be fields with their values; {name!r} is not the name of a field.", name=name)
        if name in ("source_vocab", "target_vocab"):
            raise ConfigError("{name} follows from the texts; leave it out.", name=name)
        if not isinstance(value, str | Number | np.bool_):  # other values may be unhashable, so they could not be cache keys
            raise ConfigError("{name} is {value!r}; it must be a number, a text, True or False.", name=name, value=value)
    return tuple(sizes.items())


def _ids_needed(texts: Sequence[str]) -> int:
    ids = [token for text in texts for token in split_ids(text)]
    for token in ids:
        # Length is tested first because Python refuses to convert thousands of digits.
        if len(token) > len(str(LARGEST_ID)) or not 0 <= int(token) <= LARGEST_ID:
            raise InputError(NO_SUCH_ID, token=token, most=LARGEST_ID)
    return max([LEAST_IDS, *(int(token) + 1 for token in ids)])


def _words_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Every word once, in order of first use. Invisible tokens, such as half of a surrogate pair, are left out: they
    would be empty labels. The model reads them as `<unk>`."""
    tokens = [token for text in texts for token in tokenizer(WORDS).split(text)]
    return tuple(dict.fromkeys(token for token in tokens if not unseen(token)))


def _vocabulary(side: tuple[str, ...] | int) -> Vocabulary:
    return Ids.up_to(side) if isinstance(side, int) else Vocabulary((*SPECIALS, *side), WORDS)
