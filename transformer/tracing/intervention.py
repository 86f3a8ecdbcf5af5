"""The base class of all interventions: which tap an edit acts on, and which heads, positions and batch items of its tensor."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from torch import Tensor

from transformer.errors import PathError
from transformer.network.tap import Scope, Tap, Traceable
from transformer.tracing.paths import check_index, find_tap

# Keys and values may have fewer heads than queries, each shared by a group of them.
HEAD_AXES = ("head", "key_head")
LENGTH_AXES = ("query", "source", "target", "position", "key")
# More than any sequence or batch has; what is really there is known only when the pass runs.
MOST_POSITIONS = 1 << 20


@dataclass(frozen=True)
class Intervention:
    """The base class of every edit: it names a tap, and the part of its tensor that is changed.

    Attributes:
        path: of a tap, or of an attention.
        heads: which heads, counted from 0; None for all. Only where the tensor has a head axis.
        items: which items of the batch, counted from 0; None for all. One batch can so hold many edits side by side.

    Raises:
        PathError: (from `place`, before anything runs) no such tap or head, or no head axis to choose from.
    """

    # Which tap of an attention is meant when `path` names the attention as a whole.
    of_attention: ClassVar[str] = "weights"

    path: str
    heads: tuple[int, ...] | None = None
    items: tuple[int, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            if name != "path":
                object.__setattr__(self, name, plain(given))

    def place(self, model: Traceable) -> str:
        """The path of the tap this edit acts on. Everything that can be checked before the pass runs is checked here.

        Raises:
            PathError: no such tap, head or batch item, or no axis to choose them on; in a subclass also an unfit value.
        """
        path = find_tap(model.taps, self.path, self.of_attention)
        tap = model.taps[path]
        axes, count = tap.axes, tap.heads or model.config.heads
        chosen = ((head_axis(tap), "head", self.heads, count), ("batch", "item", self.items, MOST_POSITIONS))
        for axis, name, indices, count in chosen:
            if indices is None:
                continue
            if axis not in axes:
                raise PathError("{path} has no {axis} axis, only {axes}.", path=path, axis=axis, axes=" ".join(axes))
            for index in check_row(f"{name}s", indices):
                check_index(name, index, count)
        return path

    def reads(self, model: Traceable) -> Iterable[str]:
        """The paths of the tensors that `change` may read in the scope: those of the same attention or layer. A pass that keeps
        no others keeps these."""
        owner = self.place(model).rpartition(".")[0]
        return [path for path in model.taps if path.rpartition(".")[0] == owner]

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        """The edited tensor, a new one of the same shape."""
        edited = values.clone()
        where = self.selection(tap, values)
        edited[where] = self.change(values[where], tap, where, scope).to(values.dtype)
        return edited

    def selection(self, tap: Tap, values: Tensor) -> tuple[Any, ...]:
        """An index into the tensor: what is meant along some axes, everything along the others. What is not there, or not
        yet while an answer grows, is left out."""
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
        """Axis, by its number → the indices that are meant along it; None for all."""
        named = (("batch", self.items), (head_axis(tap), self.heads))
        return {tap.axes.index(name): what for name, what in named if name in tap.axes}

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        """The new values of the selected part, of whatever type of number; they get that of the tensor.

        Args:
            values: of the selected part.
            tap: whose tensor is edited.
            where: the selected part, as an index into that tensor.
            scope: with what has passed before, at least of what it `reads`.

        Raises:
            PathError: the values do not fit what has passed before (only in some subclasses).
        """
        raise NotImplementedError(f"{type(self).__name__} does not define `change`")


def head_axis(tap: Tap) -> str:
    """The name of the axis of heads, also where the tensor has none."""
    return next((axis for axis in HEAD_AXES if axis in tap.axes), "head")


def plain(given: Any) -> Any:
    """Rows of numbers as tuples of Python's own numbers, whether they come as lists, arrays or tensors, so that an edit can be
    hashed and compared. Other values are returned unchanged; an edit refuses them when it is placed."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    is_row = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    return tuple(map(plain, given)) if is_row else given


def check_row(name: str, given: object) -> tuple[Any, ...]:
    """A tuple, as it was given.

    Raises:
        PathError: anything else, such as a single number; the error calls it `name`.
    """
    if not isinstance(given, tuple):
        raise PathError("{name} is {given!r}; it must be a row of whole numbers, such as (0,).", name=name, given=given)
    return given


def length_axis(
    tap: Tap, positions: tuple[int, ...] | None, longest: int = MOST_POSITIONS
) -> dict[int, tuple[int, ...] | None]:
    """The number of the axis that `positions` counts along → the positions meant there; nothing where all are.

    Args:
        tap: whose tensor it is.
        positions: counted from 0; None for all.
        longest: the most positions there can be.

    Raises:
        PathError: the tensor has no axis of positions, or one of them cannot be.
    """
    for position in check_row("positions", positions) if positions is not None else ():
        check_index("position", position, longest)
    axes = [index for index, axis in enumerate(tap.axes) if axis in LENGTH_AXES]
    if positions is not None and not axes:
        raise PathError("{path} has no axis of positions, only {axes}.", path=tap.path, axes=" ".join(tap.axes))
    return {axes[0]: positions} if positions is not None else {}
