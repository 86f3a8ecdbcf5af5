"""The place of a tensor in the network: `TensorPath`, its dotted path taken apart, and `Kind`, the three kinds of attention.

    path = TensorPath.parse("encoder.layers.0.self_attention.scores")
    path.stack, path.layer, path.sublayer, path.name      # "encoder", 0, "self_attention", "scores"
    str(path)                                              # the same text again
    Kind.CROSS.path(1) / "weights"                         # decoder.layers.1.cross_attention.weights

This is the only module that takes paths apart or puts them together. Layers are counted from 0, as in the module tree.
"""

import difflib
import functools
import itertools
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Integral
from typing import Literal

from transformer.errors import InputError, PathError

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")
Branch = Literal["query", "key", "value"]
BRANCHES: tuple[Branch, ...] = ("query", "key", "value")
# Stack → the side whose tokens it reads.
STACK_SIDES: dict[str, Side] = {"encoder": "source", "decoder": "target"}
# The tensors of an attention that an edit may set to −∞.
SCORES = ("scores", "scaled_scores", "masked_scores")
# Stack → the sub-layers of each of its layers, in the order in which they run.
SUBLAYERS = {
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}
ADD_NORM = "_add_norm"


@dataclass(frozen=True)
class TensorPath:
    """The dotted path of a tap (a tensor of the forward pass), or of the module that has the tap, taken apart.

    Attributes:
        stack: `encoder` or `decoder`; empty for embeddings, for masks, and for the tensors after the decoder.
        layer: number of the layer, counted from 0; None outside the layers.
        sublayer: the module within the layer: `self_attention`, `self_attention_add_norm`, `feed_forward`, …; or empty.
        name: the rest of the path, whose parts are separated by dots: `scores`, `query.heads`; empty for a sub-layer itself.
    """

    stack: str = ""
    layer: int | None = None
    sublayer: str = ""
    name: str = ""

    @classmethod
    def parse(cls, text: "str | TensorPath") -> "TensorPath":
        """The path that a text describes, such as `encoder.layers.0.self_attention.scores`. A TensorPath is returned unchanged.
        The path is not checked against a model (`find_tap` does this).

        Raises:
            PathError: `text` is neither a `str` nor a TensorPath.
        """
        if isinstance(text, TensorPath):
            return text
        if not isinstance(text, str):
            raise PathError("A path must be a text, not {path!r}.", path=text)
        return _parsed(text)

    def __str__(self) -> str:
        layer = () if self.layer is None else ("layers", str(self.layer))
        return ".".join(part for part in (self.stack, *layer, self.sublayer, self.name) if part)

    def __truediv__(self, name: str) -> "TensorPath":
        """The path of the tap or module `name` in the module at this path: `path / "query.heads"`."""
        return replace(self, name=f"{self.name}.{name}" if self.name else name)

    @property
    def last(self) -> str:
        """The last part of the path, such as `scores`: the name of the tap in its module."""
        return str(self).rpartition(".")[2]

    @property
    def owner(self) -> "TensorPath":
        """The path of the module that has this tap (a tensor of the forward pass): the path without its last part."""
        return _parsed(str(self).rpartition(".")[0])

    @property
    def part(self) -> str:
        """The name of the attention or feed-forward network that the tensor belongs to, such as `cross_attention`. The tensors
        of its residual connection and LayerNorm (`…_add_norm`) belong to it, too. Empty outside the layers."""
        return self.sublayer.removesuffix(ADD_NORM)

    @property
    def whole(self) -> "TensorPath":
        """The path of the attention or feed-forward network that the tensor belongs to (`part`)."""
        return TensorPath(self.stack, self.layer, self.part)

    @property
    def add_norm(self) -> "TensorPath":
        """The path of the module with the residual connection and LayerNorm around the sub-layer `part`."""
        return TensorPath(self.stack, self.layer, f"{self.part}{ADD_NORM}")

    @property
    def side(self) -> Side:
        """Whether the tensor belongs to tokens of the `source` or of the `target`. For a mask, the side of its keys."""
        if self.stack:
            return STACK_SIDES[self.stack]
        return "source" if self.name.startswith("source_") else "target"

    @property
    def kind(self) -> "Kind | None":
        """The kind of attention that the tensor belongs to; None if it does not belong to an attention."""
        return next((kind for kind in Kind if (kind.stack, kind.sublayer) == (self.stack, self.sublayer)), None)

    @property
    def branch(self) -> Branch | None:
        """The branch of an attention, `query`, `key` or `value`, that the tensor belongs to; None for a tensor outside
        the branches."""
        name = self.name.partition(".")[0]
        return next((branch for branch in BRANCHES if branch == name), None)

    def near(self, other: "TensorPath") -> str:
        """The path as a text, without the leading parts that `other` has too: `query.heads` if `other` is in the same
        attention. The last part always stays, also if the paths are equal."""
        mine, others = str(self).split("."), str(other).split(".")
        pairs = zip(mine[:-1], others, strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        return ".".join(mine[same:])

    def template(self, layer: str) -> str:
        """The path as a text, with the text `layer` in place of the layer's number. For example, with `layer` = "N":
        `encoder.layers.N.feed_forward.hidden`."""
        return ".".join((self.stack, "layers", layer, self.sublayer, self.name))


class Kind(StrEnum):
    """One of the three kinds of attention. A kind is equal to its name (`Kind.CROSS == "cross"`), so code can use either.

    Attributes:
        stack, sublayer: the place of this attention in the network.
        queries, keys: the side of its queries and of its keys, `source` or `target`.
    """

    stack: str
    sublayer: str
    queries: Side
    keys: Side

    ENCODER = "encoder", "encoder", "self_attention", "source", "source"
    DECODER = "decoder", "decoder", "self_attention", "target", "target"
    CROSS = "cross", "decoder", "cross_attention", "target", "source"

    def __new__(cls, name: str, stack: str, sublayer: str, queries: Side, keys: Side) -> "Kind":
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.stack, kind.sublayer, kind.queries, kind.keys = stack, sublayer, queries, keys
        return kind

    @classmethod
    def of(cls, name: object) -> "Kind":
        """The kind called `name`: `encoder`, `decoder` or `cross`.

        Raises:
            InputError: there is no such kind.
        """
        for kind in cls:
            if isinstance(name, str) and kind == name:
                return kind
        raise InputError("{kind!r} is not a kind of attention; allowed are {kinds}.", kind=name, kinds=", ".join(cls))

    @property
    def mask(self) -> TensorPath:
        """The path of the mask that hides scores of this attention: `source_mask` or `target_mask`."""
        return TensorPath(name=f"{self.keys}_mask")

    def path(self, layer: int) -> TensorPath:
        """The path of this attention in a layer. Layers are counted from 0.

        Raises:
            PathError: `layer` is not a whole number, or is negative.
        """
        if isinstance(layer, bool) or not isinstance(layer, Integral) or layer < 0:
            raise PathError("layer is {layer!r}; it must be a whole number, counted from 0.", layer=layer)
        return TensorPath(self.stack, layer, self.sublayer)


def find_tap(taps: Collection[str], path: object, of_attention: str = "weights") -> str:
    """The path of a tap (a tensor of the forward pass) as a text, after a check that the model has this tap.

    Args:
        taps: the paths of the model's taps.
        path: path of the tap, or of the attention that the tap belongs to: a text or a `TensorPath`.
        of_attention: the name of the tap to return if `path` is the path of an attention.

    Raises:
        PathError: there is no such tap. The message names the paths with the most similar spelling.
    """
    text = str(path) if isinstance(path, TensorPath) else path
    if not isinstance(text, str):
        raise PathError("A path must be a text, not {path!r}.", path=path)
    if text in taps:
        return text
    if f"{text}.masked_scores" in taps:
        return f"{text}.{of_attention}"
    close = difflib.get_close_matches(text, taps, n=3, cutoff=0.4) or [*taps][:3]
    raise PathError("In this model there is no such tap as {path!r}; nearest are {near}.", path=text, near=", ".join(close))


def check_index(name: str, index: object, count: int) -> None:
    """Check that `index` is a whole number from 0 to `count - 1`.

    Args:
        name: what `index` counts, such as `head`, for the error message.

    Raises:
        PathError: `index` is not such a number.
    """
    if isinstance(index, bool) or not isinstance(index, Integral) or not 0 <= int(index) < count:
        raise PathError("{name} is {index!r}; allowed are 0 to {last}.", name=name, index=index, last=count - 1)


@functools.lru_cache(4096)
def _parsed(text: str) -> TensorPath:
    parts = text.split(".")
    if parts[0] not in STACK_SIDES:
        return TensorPath(name=text)
    stack, *rest = parts
    if len(rest) > 1 and rest[0] == "layers" and _is_number(rest[1]):
        return TensorPath(stack, int(rest[1]), ".".join(rest[2:3]), ".".join(rest[3:]))
    return TensorPath(stack, name=".".join(rest))


def _is_number(text: str) -> bool:
    """Whether a text is the number of a layer in the form in which paths are printed (`1`, not `01`). So a parsed path prints
    as the same text."""
    return len(text) <= 4 and text.isascii() and text.isdecimal() and str(int(text)) == text
