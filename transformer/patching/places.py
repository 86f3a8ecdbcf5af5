"""The places of a run whose tensors patching can take from another run, and the edit that takes them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer.analysis.checks import check_number, is_whole
from transformer.errors import InputError
from transformer.network.tap import Edit, Scope, Tap, Traceable
from transformer.tracing.paths import SIDES, STACK_SIDES, Kind, Side
from transformer.validation import one_of

# What is taken → the taps of an attention that are taken together. Each has an axis of heads.
OF_HEADS = {
    "head_output": ("head_output",),
    "weights": ("weights",),
    "query": ("query.heads",),
    "key": ("key.heads",),
    "value": ("value.heads",),
    # In cross-attention, keys and values are all that a head reads of the encoder's output.
    "key_and_value": ("key.heads", "value.heads"),
}
# What is taken → taps of a layer, of which the first one that the network has is taken. These have no axis of heads.
OF_LAYERS = {
    "attention": ("output",),
    "feed_forward": ("feed_forward.output",),
    "residual_stream": ("feed_forward_add_norm.normalized", "feed_forward_add_norm.sum"),
    "embedding": ("sum", "stream", "scaled", "token"),
}
WHATS = (*OF_HEADS, *OF_LAYERS)
# What is taken of a stack, not of an attention. `BEFORE_LAYERS` comes before the first layer.
BEFORE_LAYERS = "embedding"
OF_STACKS = ("feed_forward", "residual_stream", BEFORE_LAYERS)
STEPS = ("all", "this")


class Head(NamedTuple):
    """A head: its kind of attention (`encoder`, `decoder` or `cross`), its layer, and its number; both are counted from 0."""

    kind: str
    layer: int
    head: int


class Place(NamedTuple):
    """A place in a run: the tensor of one head or of one layer, at one position or at all positions.

    Attributes:
        grid: the kind of attention that the place belongs to: `encoder`, `decoder` or `cross`. Tensors of a layer outside of
            an attention belong to `encoder` or `decoder`.
        layer, head: counted from 0; the head is 0 for tensors without an axis of heads.
        position: the token, counted from 0; None for all tokens.
    """

    grid: str
    layer: int
    head: int
    position: int | None = None


# An item of the batch, a head (None if there is no axis of heads), and positions (None for all).
Part = tuple[int, int | None, tuple[int, ...] | None]


@dataclass(frozen=True, eq=False)
class Taken(Edit):
    """An edit that replaces parts of a tensor by the same parts of the tensor of another run.

    Attributes:
        path: path of the tap.
        other: the tensor of the other run, with all positions. With a cache, the edited tensor may have only the last
            positions.
        parts: the parts that are replaced: (item of the batch, head or None, positions or None for all), counted from 0.
    """

    path: str
    other: Tensor
    parts: tuple[Part, ...]

    def place(self, model: Traceable) -> str:
        return self.path

    def needs(self, model: Traceable) -> Iterable[str]:
        return ()

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        edited = values.clone()
        # The axis of positions comes after the batch axis, and after the axis of heads if there is one.
        axis = len(tap.axes) - 2
        first = self.other.shape[axis] - values.shape[axis]
        for part in self.parts:
            edited[_index(part, first)] = self.other[_index(part)]
        return edited

    def is_equal(self, values: Tensor) -> bool:
        """Whether the edit would leave `values`, a tensor with all positions, unchanged."""
        return all(torch.equal(values[_index(part)], self.other[_index(part)]) for part in self.parts)


@dataclass(frozen=True)
class Swap:
    """Which tensor of a place patching takes from the other run, and at which steps of the decoder.

    Attributes:
        what: one of `WHATS`, as explained in `patch_everywhere`.
        steps: `all` steps of the decoder, or only `this` one, which writes the token of the compared row. Used only
            if all positions of the decoder are taken together.

    Raises:
        ConfigError: `what` or `steps` is not one of these.
    """

    what: str = "head_output"
    steps: str = "all"

    def __post_init__(self) -> None:
        one_of("what", self.what, WHATS)
        one_of("steps", self.steps, STEPS)

    def paths(self, network: Any, grid: str, layer: int) -> tuple[str, ...]:
        """The paths of the tensors that are taken in a layer (counted from 0) of `grid` (`encoder`, `decoder` or `cross`);
        empty if the network has no such tensor there."""
        kind = Kind.of(grid)
        if self.what in OF_HEADS:
            paths = [str(kind.path(layer) / name) for name in OF_HEADS[self.what]]
            return tuple(paths) if all(path in network.taps for path in paths) else ()
        names, prefix = OF_LAYERS[self.what], f"{kind.stack}.layers.{layer}."
        if self.what == "attention":
            prefix = f"{kind.path(layer)}."
        elif kind == Kind.CROSS:
            return ()
        elif self.what == "embedding":
            prefix = f"{STACK_SIDES[kind.stack]}_embedding."
            names = names if layer == 0 else ()
        elif self.what == "residual_stream" and network.config.norm_first:
            names = names[::-1]
        return next(((path,) for name in names if (path := prefix + name) in network.taps), ())

    def grids(self, network: Any, sides: Collection[str] = SIDES) -> dict[str, tuple[int, int]]:
        """`Place.grid` (`encoder`, `decoder` or `cross`) → its number of layers, and of heads in each (1 for tensors without
        heads), for a run with these sides (`source`, `target`). A decoder that runs alone has no `cross`."""
        config, grids = network.config, {}
        for kind in Kind:
            if not {kind.queries, kind.keys} <= {*sides}:
                continue
            depth = config.encoder_layers if kind.stack == "encoder" else config.decoder_layers
            layers = sum(bool(self.paths(network, kind, layer)) for layer in range(depth))
            if layers:
                tap = network.taps[self.paths(network, kind, 0)[0]]
                grids[str(kind)] = (layers, (tap.heads or config.heads) if self.what in OF_HEADS else 1)
        return grids

    def side(self, grid: str) -> Side:
        """The side, `source` or `target`, whose tokens are the positions of `grid` (`encoder`, `decoder` or `cross`): the side
        of the keys if keys or values are taken, otherwise the side of the queries."""
        kind = Kind.of(grid)
        return kind.keys if self.what in ("key", "value", "key_and_value") else kind.queries

    def positions(self, place: Place, row: int) -> tuple[int, ...] | None:
        """The positions that are taken at a place, counted from 0; None for all. `row` is the compared row (`RunPair.row`)."""
        if place.position is not None:
            return (place.position,)
        return (row,) if self.steps == "this" and self.side(place.grid) == "target" else None


def check_head(network: Any, head: object, sides: Collection[str] = SIDES) -> Head:
    """`head` as a `Head`, after a check that the network has this head in a run with these sides (`source`, `target`).

    Raises:
        InputError: `head` is not a tuple of a kind of attention, a layer and a head of this network.
    """
    grids = Swap().grids(network, sides)
    if isinstance(head, tuple) and len(head) == 3 and isinstance(head[0], str) and head[0] in grids:
        counts = grids[head[0]]
        if all(is_whole(index) and 0 <= index < count for index, count in zip(head[1:], counts, strict=True)):
            return Head(str(head[0]), int(head[1]), int(head[2]))
    allowed = "; ".join(f"{grid}: {layers} layers of {heads} heads" for grid, (layers, heads) in grids.items())
    raise InputError(
        "{head!r} is not a head of this network; give its kind, layer and head, counted from 0. It has {allowed}.",
        head=head,
        allowed=allowed,
    )


def check_places(
    name: str, places: object, shapes: Mapping[str, tuple[int, int, int]], lengths: Mapping[str, int]
) -> tuple[Place, ...]:
    """`places` as a tuple, after a check that each place exists.

    Args:
        name: name of the argument in the message.
        places: a list of places.
        shapes: `Place.grid` (`encoder`, `decoder` or `cross`) → its number of layers, and of heads in each layer. The third
            number is not used.
        lengths: `Place.grid` → its number of positions.

    Raises:
        InputError: `places` is not a list of places, or a place is not in the grids.
    """
    if isinstance(places, str) or not isinstance(places, Sequence):
        template = '`{name}` must be a list of places, such as [Place("cross", 0, 1)], not {places!r}.'
        raise InputError(template, name=name, places=places)
    for place in places:
        if not isinstance(place, Place) or not isinstance(place.grid, str) or place.grid not in shapes:
            allowed = ", ".join(shapes)
            raise InputError("{place!r} is not a Place in one of the grids {allowed}.", place=place, allowed=allowed)
        layers, heads, _ = shapes[place.grid]
        check_number("layer", place.layer, 0, layers - 1)
        check_number("head", place.head, 0, heads - 1)
        if place.position is not None:
            check_number("position", place.position, 0, lengths[place.grid] - 1)
    return tuple(places)


def taken(network: Any, swap: Swap, places: Sequence[Collection[Place]], row: int, other: Any) -> list[Taken]:
    """The edits that take places from another run, with other places for each item of a batch.

    Args:
        network: the network.
        swap: which tensors are taken.
        places: for each item, its places.
        row: the compared row of the logits (`RunPair.row`).
        other: path → tensor of the other run, for a batch of the same size.
    """
    parts: dict[str, list[Part]] = {}
    for item, of_item in enumerate(places):
        for place in of_item:
            head = place.head if swap.what in OF_HEADS else None
            for path in swap.paths(network, place.grid, place.layer):
                parts.setdefault(path, []).append((item, head, swap.positions(place, row)))
    return [Taken(path, other[path], tuple(listed)) for path, listed in parts.items()]


def _index(part: Part, first: int = 0) -> tuple[Any, ...]:
    """The index of a part in a tensor whose first position is `first`."""
    item, head, positions = part
    index: tuple[Any, ...] = (item,) if head is None else (item, head)
    return index if positions is None else (*index, [position - first for position in positions])
