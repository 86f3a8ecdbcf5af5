"""The search for tensors of our `Transformer` among those of a user's network, which may have their axes in any order."""

import functools
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import torch
from torch import Tensor

from transformer.network.tap import Recording
from transformer.tracing.paths import TensorPath

# Tensors of our network that are looked for, by the last part of their path. Other tensors may be computed in another way.
MILESTONES = {"sum", "masked_scores", "weights", "head_output", "concatenated", "output", "normalized", "hidden", "activated"}
MILESTONES |= {"query.heads", "key.heads", "value.heads", "logits"}
# A number this many times larger than the usual one, such as a fill of −10⁹, does not set the unit of differences.
OUTLIER = 30.0
# About how many numbers of a tensor are compared first.
SAMPLE = 16
# A change does not help if the user's network still has none of this many tensors of ours, from the first difference on.
LOOK_AHEAD = 6
# Our run is stopped if the user's network has none of this many tensors: an attention and a feed-forward network have as many.
STOP_AHEAD = 15
# Tensors inside an attention. Even if one of them is equal in both networks, the queries may differ.
INSIDE = tuple(f"attention.{name}" for name in ("masked_scores", "weights", "head_output", "concatenated", "output"))
FIRST_CROSS = "decoder.layers.0.cross_attention.key.heads"


class Library:
    """The tensors of one pass of the user's network, to be searched by their numbers.

    Args:
        values: every tensor of that pass.
    """

    def __init__(self, values: Sequence[Tensor]) -> None:
        self._by_size: dict[int, list[Tensor]] = {}
        known = set()
        for each in values:
            form = (each.data_ptr(), tuple(each.shape), each.stride())
            if form not in known and each.numel() > 1:
                known.add(form)
                self._by_size.setdefault(each.numel(), []).append(each)
        self._stacks: dict[tuple[object, ...], Tensor] = {}
        self._samples: dict[tuple[object, ...], tuple[Tensor, Tensor]] = {}  # a few places, and their numbers there
        self._known: dict[tuple[object, ...], bool] = {}  # most changes that are tried leave most tensors as they were

    def of_size(self, count: int) -> Sequence[Tensor]:
        """The tensors with `count` numbers."""
        return self._by_size.get(count, ())

    def has(
        self, values: Tensor, axes: tuple[str, ...], keep: Tensor | None = None, key: object = None, tolerance: float = 0.0
    ) -> bool:
        """Whether a tensor of this library has a `distance` of at most `tolerance` from `values`, whose axes are called `axes`.
        `keep` is True where the numbers count (None: everywhere), and `key` identifies it in the cache. This is quicker than
        `distance`, because a few numbers distinguish most tensors, and the answer for the same numbers is cached."""
        numbers = hashlib.blake2b(values.contiguous().flatten().view(torch.uint8).numpy().tobytes(), digest_size=16).digest()
        form = (axes, values.dtype, values.shape, key, tolerance, numbers)
        if form not in self._known:
            self._known[form] = self._has(values, axes, keep, key, tolerance) or (
                "head" in axes and all(self._has(*head, tolerance) for head in _heads(values, axes, keep, key))
            )
        return self._known[form]

    def _has(self, values: Tensor, axes: tuple[str, ...], keep: Tensor | None, key: object, tolerance: float) -> bool:
        form = (axes, tuple(values.shape), key)
        if form not in self._samples:
            stack = self._stack(values, axes, keep, key)
            places = torch.arange(values.numel()) if keep is None else keep.expand(values.shape).flatten().nonzero()[:, 0]
            step = max(1, len(places) // SAMPLE)
            self._samples[form] = places[::step], stack[:, ::step] if len(stack) else stack
        places, rows = self._samples[form]
        if not len(rows) or not len(places):
            return bool(len(rows))
        few = values.take(places)
        most = OUTLIER * tolerance * float(few.abs().amax())  # `relative` allows no larger difference
        near = ((rows - few).abs() <= most).all(1) if 0 < most < math.inf else None
        if near is not None and not bool(near.any()):
            return False
        stack = self._stack(values, axes, keep, key)
        return bool((relative(stack if near is None else stack[near], _counted(values, keep), 1) <= tolerance).any())

    def distance(self, values: Tensor, axes: tuple[str, ...], keep: Tensor | None = None, key: object = None) -> float:
        """The largest difference between a tensor of our `Transformer` and the nearest tensor of this library, relative to the
        largest absolute value of ours; ∞ if the library has no tensor of this size.

        Args:
            values: a tensor of ours.
            axes: the names of its axes.
            keep: True where the numbers count; None for everywhere. Calls with an equal `key` and shape must give the same
                `keep`.
            key: identifies `keep` in the cache.
        """
        direct = self._distance(values, axes, keep, key)
        if "head" not in axes or direct < 1e-3:
            return direct
        return min(direct, max(self._distance(*head) for head in _heads(values, axes, keep, key)))

    def _distance(self, values: Tensor, axes: tuple[str, ...], keep: Tensor | None, key: object) -> float:
        stack, flat = self._stack(values, axes, keep, key), _counted(values, keep)
        if not len(stack):
            return math.inf
        return min(relative(stack, flat, 1).tolist()) if flat.numel() else 0.0

    def _stack(self, values: Tensor, axes: tuple[str, ...], keep: Tensor | None, key: object) -> Tensor:
        """The tensors of the library that may equal `values`, in our order of axes: a row for each tensor, with the numbers
        that count."""
        form = (axes, tuple(values.shape), key)
        if form not in self._stacks:
            found = [each for theirs in self._by_size.get(values.numel(), ()) for each in aligned(theirs, values.shape, axes)]
            stack = (
                torch.stack([each.reshape(values.shape) for each in found]).to(values.dtype) if found else values.new_empty(0)
            )
            self._stacks[form] = stack.flatten(1) if found and keep is None else stack
            if found and keep is not None:
                self._stacks[form] = stack[:, keep.expand(values.shape)]
        return self._stacks[form]


def _counted(values: Tensor, keep: Tensor | None) -> Tensor:
    """The numbers where `keep` is True, or all numbers if `keep` is None, as one row."""
    return values.flatten() if keep is None else values[keep.expand(values.shape)]


def _heads(
    values: Tensor, axes: tuple[str, ...], keep: Tensor | None, key: object
) -> Iterator[tuple[Tensor, tuple[str, ...], Tensor | None, object]]:
    """Yields the arguments of `_stack` for each head, because each head may be a tensor of its own in the user's network."""
    place, rest = axes.index("head"), tuple(axis for axis in axes if axis != "head")
    for number, head in enumerate(values.unbind(place)):
        yield head, rest, None if keep is None else keep.expand(values.shape).select(place, number), (key, number)


def relative(theirs: Tensor, ours: Tensor, axis: int | None = None) -> Tensor:
    """The largest difference along `axis`, or of all numbers, relative to the largest absolute value of `ours`. If a few
    numbers are far larger than the others, they do not set the unit for the others (`OUTLIER`). A NaN differs from everything
    but a NaN."""
    sizes = ours.abs()
    usual = sizes[sizes.isfinite() & (sizes > 0)]
    unit = torch.minimum(usual.amax(), OUTLIER * usual.median()) if usual.numel() else sizes.new_ones(())
    difference = (theirs - ours).abs() / sizes.nan_to_num(0.0, 0.0).clamp(min=unit)
    same = (theirs == ours) | (theirs.isnan() & ours.isnan())
    difference = torch.where(same, torch.zeros_like(difference), difference.nan_to_num(math.inf, math.inf))
    return difference.amax() if axis is None else difference.amax(axis)


@functools.lru_cache(256)
def _orders(axes: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """The orders of axes in which the user's network may have a tensor. Orders with the keys before the queries are left out,
    because transposed scores are different scores."""
    orders = permutations(range(len(axes)))
    if "query" in axes and "key" in axes:
        query, key = axes.index("query"), axes.index("key")
        return tuple(order for order in orders if order.index(query) < order.index(key))
    return tuple(orders)


def aligned(theirs: Tensor, shape: Sequence[int], axes: tuple[str, ...]) -> Iterator[Tensor]:
    """Yields the tensor `theirs` with our axes, which have the names `axes` and the sizes `shape`; once for each order in which
    its shape can hold them. In `theirs`, neighbouring axes of ours may be joined to one, such as head and d_head."""
    for order in _orders(axes):
        sizes = [shape[place] for place in order]
        if _joins(theirs.shape, sizes):
            inverse = [order.index(place) for place in range(len(order))]
            yield theirs.reshape(sizes).permute(inverse)


def _joins(theirs: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether the shape `theirs` is `sizes` in the same order, perhaps with neighbouring axes joined to one, such as head and
    d_head. Axes of size 1 are ignored."""
    rest = [size for size in sizes if size != 1]
    for size in (each for each in theirs if each != 1):
        part = 1
        while part < size and rest:
            part *= rest.pop(0)
        if part != size:
            return False
    return not rest


@dataclass(frozen=True)
class Standing:
    """How far a run of our `Transformer` agrees with a run of the user's network. Milestones are the tensors of ours that are
    looked for in the user's network (`milestones`).

    Attributes:
        logits: the largest difference of the logits, relative to the largest logit; ∞ if their shapes differ.
        place: index of the first milestone that the user's network does not have; the number of milestones if the logits agree.
        path: the path of this milestone; None if the logits agree.
        difference: the largest difference between this milestone and the nearest tensor of the user's network, relative to the
            largest number of ours.
        present: the number of milestones that the user's network has.
    """

    logits: float
    place: int
    path: str | None
    difference: float
    present: int


@dataclass(frozen=True, eq=False)
class Matching:
    """Compares runs of our `Transformer` with one run of the user's network.

    Attributes:
        library: the tensors of the user's network.
        axes: path of a tensor of ours → its axes.
        tolerance: the largest difference that counts as equal.
        pads: True at padding of the source, [batch, source].
    """

    library: Library
    axes: Mapping[str, tuple[str, ...]]
    tolerance: float
    pads: Tensor
    _regions: dict[tuple[str, tuple[int, ...]], tuple[Tensor | None, object]] = field(default_factory=dict)

    def region(self, recording: Recording, path: str) -> tuple[Tensor | None, object]:
        """The result of the function `region`: which numbers of a tensor count, and a cache key. It is computed once for each
        path and shape, unless it depends on a mask."""
        form = (path, recording.shape(path))
        if path.endswith("masked_scores"):
            return region(recording, path, self.axes[path], self.pads)
        if form not in self._regions:
            self._regions[form] = region(recording, path, self.axes[path], self.pads)
        return self._regions[form]

    def lacks(self, recording: Recording, paths: Sequence[str]) -> bool:
        """Whether the user's network has none of our tensors at these paths."""
        return not any(
            self.library.has(recording[path], self.axes[path], *self.region(recording, path), self.tolerance) for path in paths
        )

    def standing(self, recording: Recording, logits: float, reached: Standing | None = None) -> Standing:
        """How far our run agrees with the user's network.

        A tensor of ours that the user's network lacks does not count if that network has a later tensor of ours that is
        computed from it: then the user's network computes the same in another way.

        Args:
            recording: the tensors of our run.
            logits: the difference of the logits.
            reached: the standing before the last change; it is returned if the user's network still lacks the next `LOOK_AHEAD`
                tensors from its `place` on.
        """
        paths = milestones(recording)
        if logits <= self.tolerance:
            return Standing(logits, len(paths), None, logits, len(paths))
        if reached is not None and self.lacks(recording, paths[reached.place :][:LOOK_AHEAD]):
            return reached
        has = [not self.lacks(recording, [path]) for path in paths]
        first_cross = paths.index(FIRST_CROSS) if FIRST_CROSS in paths else 0
        for place, path in enumerate(paths):
            later = range(place + 1, len(paths))
            if not has[place] and not any(has[other] and _derives(paths, place, other, first_cross) for other in later):
                distance = self.library.distance(recording[path], self.axes[path], *self.region(recording, path))
                return Standing(logits, place, path, distance, sum(has))
        return Standing(logits, len(paths) - 1, paths[-1], logits, sum(has))


def milestones(paths: Iterable[str]) -> list[str]:
    """The paths among `paths` whose tensors are looked for in the user's network."""
    return [path for path in paths if is_milestone(path)]


def is_milestone(path: str) -> bool:
    """Whether a tensor of our `Transformer` is looked for in the user's network."""
    return path.rpartition(".")[2] in MILESTONES or ".".join(path.split(".")[-2:]) in MILESTONES


def _derives(paths: Sequence[str], one: int, other: int, first_cross: int) -> bool:
    """Whether the tensor at index `other` of the paths is computed from the earlier one at index `one`. `first_cross` is the
    index of `FIRST_CROSS`."""
    if paths[one].startswith(("target", "decoder")) and paths[other].endswith(
        ("cross_attention.key.heads", "cross_attention.value.heads")
    ):
        return False  # these are made of the encoder's output
    if (
        paths[one].endswith(".heads")
        and paths[other].endswith(".heads")
        and paths[one].split(".")[:-2] == paths[other].split(".")[:-2]
    ):
        return False
    place, later = TensorPath.parse(paths[one]), TensorPath.parse(paths[other])
    if (place.stack, place.layer, place.part) != (later.stack, later.layer, later.part) and paths[other].endswith(INSIDE):
        return False  # with a wrong mask, an attention can give the same for all queries
    in_encoder = paths[one].startswith(("source", "encoder"))
    return not (in_encoder and paths[other].startswith(("target", "decoder")) and other < first_cross)


def region(recording: Recording, path: str, axes: tuple[str, ...], pads: Tensor) -> tuple[Tensor | None, object]:
    """A mask that is True for the numbers of a tensor that count, and a cache key for this mask; None for both if all numbers
    count. Padding of the source (True in `pads`) does not count, because its vectors are not read. Neither do scores that a
    mask hides."""
    place = TensorPath.parse(path)
    kind = place.kind
    sides = {"source": pads} if kind is None else {}
    if kind is not None and kind.queries == "source":
        sides["query"] = pads
    if kind is not None and kind.keys == "source" and not path.endswith(("weights", "query.heads")):
        sides["key"] = pads
    shape = recording.shape(path)
    keep = torch.ones(shape, dtype=torch.bool)
    for axis, hidden in sides.items():
        if axis in axes and bool(hidden.any()) and hidden.shape[1] == shape[axes.index(axis)]:
            size = [1] * len(shape)
            size[0], size[axes.index(axis)] = hidden.shape
            keep &= ~hidden.view(size)
    if path.endswith("masked_scores"):
        keep &= recording.masks[path.rpartition(".")[0]]
    return (None, None) if bool(keep.all()) else (keep, (str(kind), path.rpartition(".")[2]))
