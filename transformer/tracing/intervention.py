"""The base class of interventions, which edit a tensor of a forward pass, or its part at some heads, positions or items."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from transformer.errors import PathError
from transformer.network.tap import Edit, Scope, Tap, Traceable
from transformer.tracing.paths import check_index, find_tap

# Keys and values may have fewer heads than queries; then several heads of queries share one head of keys and values.
HEAD_AXES = ("head", "key_head")
LENGTH_AXES = ("query", "source", "target", "position", "key")
# More positions or batch items than any tensor has. The actual number is known only when the pass runs.
MOST_POSITIONS = 1 << 20


@dataclass(frozen=True)
class Intervention(Edit):
    """The base class of interventions: edits that name a tap (a tensor of the forward pass) and the part of the tensor to
    change.

    Attributes:
        path: path of a tap, such as `encoder.layers.0.self_attention.weights`, or of an attention, without `.weights`.
        heads: heads to change, counted from 0; None for all. Only for a tensor that has a head axis.
        items: items of the batch to change, counted from 0; None for all. So each item of a batch can have its own edit.
            Items beyond the batch are ignored, because the size of a batch is known only when the pass runs.

    Raises:
        PathError: the tap or the head does not exist, or the tensor has no head axis. Raised by `place`, before anything runs.
            The constructor itself raises it for values that cannot be stored (`plain`).
    """

    # The tap of an attention that the edit acts on if `path` is the path of the attention itself.
    of_attention: ClassVar[str] = "weights"

    path: str
    heads: tuple[int, ...] | None = field(default=None, kw_only=True)  # the second argument is what the edit itself needs
    items: tuple[int, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            if name != "path":
                object.__setattr__(self, name, plain(given))

    def place(self, model: Traceable) -> str:
        """The path of the tap that this edit acts on. Everything that can be checked before the pass runs is checked here.

        Raises:
            PathError: the tap or a head does not exist, or heads or items are chosen and the tensor has no axis of them.
                Subclasses also raise it if one of their own values is invalid.
        """
        path = find_tap(model.taps, self.path, self.of_attention)
        tap = model.taps[path]
        axes, count = tap.axes, tap.heads or model.config.heads
        chosen = ((head_axis(tap), "head", self.heads, count), ("batch", "item", self.items, MOST_POSITIONS))
        for axis, name, indices, count in chosen:
            if indices is None:
                continue
            if axis not in axes:
                template, beside = "{path} has no {axis} axis, only {axes}.", _with_heads(model, path) if name == "head" else []
                if beside:
                    template = "{path} has no {axis} axis, only {axes}. Tensors with one: {beside}."
                raise PathError(template, path=path, axis=axis, axes=" ".join(axes), beside=", ".join(beside[-3:]))
            for index in check_row(f"{name}s", indices):
                check_index(name, index, count)
        return path

    def needs(self, model: Traceable) -> Iterable[str]:
        """The paths of the tensors that `change` may read from `scope.values`: those of the same module. The scope keeps these
        tensors even if it keeps no others."""
        owner = self.place(model).rpartition(".")[0]
        return [path for path in model.taps if path.rpartition(".")[0] == owner]

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        """A copy of `values` in which the selected part has the values that `change` returns."""
        edited = values.clone()
        where = self.selection(tap, values)
        edited[where] = self.change(values[where], tap, where, scope).to(values.dtype)
        return edited

    def selection(self, tap: Tap, values: Tensor) -> tuple[Any, ...]:
        """An index into `values` that selects the part to change: the chosen indices along some axes, everything along the
        other axes. Indices beyond the end of an axis are left out, because they may exist only later, when the answer has
        grown."""
        chosen = {
            axis: [index for index in indices if index < values.shape[axis]]
            for axis, indices in self.chosen(tap).items()
            if indices is not None
        }
        if len(chosen) < 2:
            return tuple(chosen.get(axis, slice(None)) for axis in range(values.ndim))
        every = [torch.tensor(chosen.get(axis, range(size)), dtype=torch.long) for axis, size in enumerate(values.shape)]
        return tuple(torch.meshgrid(*every, indexing="ij"))

    def chosen(self, tap: Tap) -> dict[int, tuple[int, ...] | None]:
        """Index of an axis of the tap's tensor → the chosen indices along this axis; None for all."""
        named = (("batch", self.items), (head_axis(tap), self.heads))
        return {tap.axes.index(name): what for name, what in named if name in tap.axes}

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        """The new values of the selected part. They may have any dtype, because `apply` converts them to the dtype of the
        tensor.

        Args:
            values: the present values of the selected part.
            tap: the tap whose tensor is edited.
            where: the selected part, as an index into the tensor.
            scope: contains the tensors that were computed earlier in the pass, at least those of `needs`.

        Raises:
            PathError: the new values do not fit the tensors of this pass (only in some subclasses).
        """
        raise NotImplementedError(f"{type(self).__name__} does not define `change`")


def _with_heads(model: Traceable, path: str) -> list[str]:
    """The paths of the tensors that have an axis of heads, in the module of the tap at `path`."""
    owner = path.rpartition(".")[0]
    return [each for each, tap in model.taps.items() if each.rpartition(".")[0] == owner and head_axis(tap) in tap.axes]


def head_axis(tap: Tap) -> str:
    """The name of the tensor's axis of heads, `head` or `key_head`; `head` if the tensor has no such axis."""
    return next((axis for axis in HEAD_AXES if axis in tap.axes), "head")


def plain(given: Any) -> Any:
    """`given` as a value that can be hashed and compared: lists, arrays and tensors become nested tuples of Python numbers.
    Other values are returned unchanged; `Intervention.place` raises an error if they are not allowed.

    Raises:
        PathError: a list contains itself, or a tensor has no values (the device `meta`).
    """
    try:
        return _plain(given)
    except (RecursionError, NotImplementedError, RuntimeError):
        raise PathError(
            "{given!r} cannot be a value of an edit; allowed are numbers and rows of numbers.", given=given
        ) from None


def _plain(given: Any) -> Any:
    if isinstance(given, Tensor | np.ndarray | np.generic):
        given = given.tolist()
    # A set has no order, so it is no row.
    is_row = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping | Set)
    return tuple(map(_plain, given)) if is_row else given


def check_row(name: str, given: object) -> tuple[Any, ...]:
    """Return `given` if it is a tuple. `name` is its name in the error message.

    Raises:
        PathError: `given` is not a tuple, but for example a single number.
    """
    if not isinstance(given, tuple):
        raise PathError("{name} is {given!r}; it must be a row of whole numbers, such as (0,).", name=name, given=given)
    return given


def length_axis(
    tap: Tap, positions: tuple[int, ...] | None, longest: int = MOST_POSITIONS
) -> dict[int, tuple[int, ...] | None]:
    """A mapping with one item: the index of the axis of positions → the chosen positions. Empty if `positions` is None. In an
    attention's weights and scores, the axis of positions is the axis of the queries.

    Args:
        tap: the tap of the tensor.
        positions: the chosen positions, counted from 0; None for all.
        longest: the largest possible number of positions.

    Raises:
        PathError: the tensor has no axis of positions, or a position is not from 0 to `longest - 1`.
    """
    for position in check_row("positions", positions) if positions is not None else ():
        check_index("position", position, longest)
    axes = [index for index, axis in enumerate(tap.axes) if axis in LENGTH_AXES]
    if positions is not None and not axes:
        raise PathError("{path} has no axis of positions, only {axes}.", path=tap.path, axes=" ".join(tap.axes))
    return {axes[0]: positions} if positions is not None else {}
