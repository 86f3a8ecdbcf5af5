"""Where a tensor is in the network: its dotted path as a typed value, and the three kinds of attention.

    path = TensorPath.parse("encoder.layers.0.self_attention.scores")
    path.stack, path.layer, path.sublayer, path.name      # "encoder", 0, "self_attention", "scores"
    str(path)                                              # the same text again
    Kind.CROSS.path(1) / "weights"                         # decoder.layers.1.cross_attention.weights

This is the only module that takes paths apart or puts them together. Layers are counted from 0, as in the module tree.
"""

import difflib
import functools
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Integral
from typing import Literal

from transformer.errors import InputError, PathError

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")
# The side whose tokens each stack works on.
STACK_SIDES: dict[str, Side] = {"encoder": "source", "decoder": "target"}
# The tensors of an attention that an edit may set to −∞.
SCORES = ("scores", "scaled_scores", "masked_scores")
# The sub-layers of a layer of each stack, in the order they run.
SUBLAYERS = {
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}
ADD_NORM = "_add_norm"


@dataclass(frozen=True)
class TensorPath:
    """The place of a tap, or of the module it belongs to, in the module tree.

    Attributes:
        stack: `encoder` or `decoder`; empty for embeddings, masks and what follows the decoder.
        layer: counted from 0; None outside the layers.
        sublayer: the module within the layer: `self_attention`, `self_attention_add_norm`, `feed_forward`, …; or empty.
        name: the rest, with dots where it has several parts: `scores`, `query.heads`; empty for a sub-layer itself.
    """

    stack: str = ""
    layer: int | None = None
    sublayer: str = ""
    name: str = ""

    @classmethod
    def parse(cls, text: "str | TensorPath") -> "TensorPath":
        """The path that is written as a text; whether a model has it is not checked (`find_tap` does).

        Raises:
            PathError: not a text.
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
        """What has that name within the module at this path: `path / "query.heads"`."""
        return replace(self, name=f"{self.name}.{name}" if self.name else name)

    @property
    def last(self) -> str:
        """The last part: the name of the tap in its module."""
        return str(self).rpartition(".")[2]

    @property
    def owner(self) -> "TensorPath":
        """The path of the module that has this tap."""
        return _parsed(str(self).rpartition(".")[0])

    @property
    def part(self) -> str:
        """The sub-layer it belongs to, of which its residual connection and LayerNorm are part; empty outside the layers."""
        return self.sublayer.removesuffix(ADD_NORM)

    @property
    def whole(self) -> "TensorPath":
        """The path of that sub-layer: of the attention or the feed-forward network."""
        return TensorPath(self.stack, self.layer, self.part)

    @property
    def add_norm(self) -> "TensorPath":
        """The path of the residual connection and LayerNorm around that sub-layer."""
        return TensorPath(self.stack, self.layer, f"{self.part}{ADD_NORM}")

    @property
    def side(self) -> Side:
        """Whose tokens it is about; a mask is about its keys."""
        if self.stack:
            return STACK_SIDES[self.stack]
        return "source" if self.name.startswith("source_") else "target"

    @property
    def kind(self) -> "Kind | None":
        """The kind of attention it belongs to; None where it belongs to none."""
        return next((kind for kind in Kind if (kind.stack, kind.sublayer) == (self.stack, self.sublayer)), None)

    def near(self, other: "TensorPath") -> str:
        """The path without what it has in common with another at its start: `query.heads` seen from the same attention."""
        mine, others = str(self).split("."), str(other).split(".")
        same = next((index for index, pair in enumerate(zip(mine, others, strict=False)) if pair[0] != pair[1]), 0)
        return ".".join(mine[same:])

    def template(self, layer: str) -> str:
        """The path as a text with a placeholder for the number of the layer: `encoder.layers.{index}.feed_forward.hidden`."""
        return ".".join((self.stack, "layers", layer, self.sublayer, self.name))


class Kind(StrEnum):
    """One of the three kinds of attention. Equal to its name, so it may stand wherever a name does: `Kind.CROSS == "cross"`.

    Attributes:
        stack, sublayer: where it is in the network.
        queries, keys: whose tokens its queries and its keys are, `source` or `target`.
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
        """The kind of that name.

        Raises:
            InputError: there is none.
        """
        for kind in cls:
            if isinstance(name, str) and kind == name:
                return kind
        raise InputError("{kind!r} is not a kind of attention; allowed are {kinds}.", kind=name, kinds=", ".join(cls))

    @property
    def mask(self) -> TensorPath:
        """The path of the mask that is laid on its scores."""
        return TensorPath(name=f"{self.keys}_mask")

    def path(self, layer: int) -> TensorPath:
        """The path of this attention in a layer, counted from 0."""
        return TensorPath(self.stack, layer, self.sublayer)


def find_tap(taps: Collection[str], path: object, of_attention: str = "weights") -> str:
    """The path of a tap as a text, given its path or that of the attention it belongs to.

    Args:
        taps: the paths there are.
        path: a text or a `TensorPath`.
        of_attention: which tap is meant where `path` is that of an attention.

    Raises:
        PathError: there is none; names the paths spelled most like it.
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
    """Refuse an index, counted from 0, that is not one of `count`.

    Args:
        name: what it is an index of, for the message: `head`.

    Raises:
        PathError: not a whole number from 0 to `count - 1`.
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
    """Whether a text is a number of a layer as a path prints it, so that what is parsed prints the same again."""
    return len(text) <= 4 and text.isascii() and text.isdecimal() and str(int(text)) == text
