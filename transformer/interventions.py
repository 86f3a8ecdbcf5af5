"""Edits of a forward pass. Each is a frozen dataclass of plain values, so it can be a cache key, a link or a sentence.

    with tracing(model, [Ablate("decoder.layers.0.cross_attention.weights", heads=(2,))]):
        logits = model(source, target)

A path names a tap (`encoder.layers.0.self_attention.weights`). Where an edit is about a whole attention, the path of the
attention itself (`encoder.layers.0.self_attention`) is enough.
"""

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from transformer.errors import PathError
from transformer.tap import Scope, Tap, Traceable

LENGTH_AXES = ("query", "source", "target", "position")
SCORES = ("scores", "scaled_scores", "masked_scores")
# Beyond these, what follows in float32 would no longer be finite.
LARGEST_FACTOR, LARGEST_VALUE = 1_000_000, 1e12


@dataclass(frozen=True)
class Intervention:
    """What every edit has in common: where it acts.

    Attributes:
        path: of a tap, or of an attention.
        heads: which heads, counted from 0; None for all. Only where the tensor has a head axis.

    Raises:
        PathError: (from `place`, before anything runs) no such tap or head, or no head axis to choose from.
    """

    # Which tap of an attention is meant when `path` names the attention as a whole.
    of_attention: ClassVar[str] = "weights"

    path: str
    heads: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.heads is not None:
            object.__setattr__(self, "heads", tuple(self.heads))

    def place(self, model: Traceable) -> str:
        """The path of the tap this edit acts on, once everything that can be checked beforehand is."""
        path = find_tap(model.taps, self.path, self.of_attention)
        if self.heads is not None:
            if "head" not in model.taps[path].axes:
                raise PathError("heads", self.heads, f"{path} has no head axis, only {' '.join(model.taps[path].axes)}")
            for head in self.heads:
                _check_index("head", head, model.config.heads)
        return path

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        """The edited tensor, a new one of the same shape."""
        edited = values.clone()
        where = self.selection(tap, values)
        edited[where] = self.change(values[where], tap, where, scope)
        return edited

    def selection(self, tap: Tap, values: Tensor) -> tuple[Any, ...]:
        """An index into the tensor: the heads that are meant, everything along the other axes."""
        return tuple(list(self.heads) if axis == "head" and self.heads is not None else slice(None) for axis in tap.axes)

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        """The new values of the selected part."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ablate(Intervention):
    """Take away what heads (or a whole tensor) contribute.

    Attributes:
        to: `zero` sets the values to 0. `uniform` is for attention weights: each query looks equally at every key its mask
            allows, so the head hands on the plain average of the values.
    """

    to: Literal["zero", "uniform"] = "zero"

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if self.to not in ("zero", "uniform"):
            raise PathError("to", self.to, "allowed are zero and uniform")
        if self.to == "uniform" and not path.endswith(".weights"):
            raise PathError("path", self.path, "only attention weights can become uniform")
        return path

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        if self.to == "zero":
            return torch.zeros_like(values)
        scores = scope.values[tap.path.removesuffix("weights") + "masked_scores"][where]
        allowed = scores > scope.config.mask_fill
        count = allowed.sum(-1, keepdim=True)
        # A row that may look nowhere keeps what the variant makes of it: zeros under −∞, uniform under −10 000.
        return torch.where(count > 0, allowed / count.clamp(min=1), values)


@dataclass(frozen=True)
class Scale(Intervention):
    """Multiply by a factor: 0 removes, 1 changes nothing, 2 doubles, −1 turns round.

    Attributes:
        factor: any number up to a million either way. Scores that a mask hides stay hidden.
        positions: which positions (queries, source or target tokens), counted from 0; None for all.
    """

    of_attention = "output"

    factor: float = 0.0
    positions: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _freeze_positions(self)

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if not isinstance(self.factor, int | float) or not abs(self.factor) <= LARGEST_FACTOR:
            raise PathError("factor", self.factor, f"must be a number from {-LARGEST_FACTOR} to {LARGEST_FACTOR}")
        _length_axis(model.taps[path], self.positions)
        return path

    def selection(self, tap: Tap, values: Tensor) -> tuple[Any, ...]:
        return _at_positions(super().selection(tap, values), tap, values, self.positions)

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        scaled = (values * self.factor).to(values.dtype)
        # 0 × −∞ would be NaN, and −1 × −∞ the only key anyone looks at.
        return torch.where(values <= scope.config.mask_fill, values, scaled) if _are_scores(tap.path) else scaled


@dataclass(frozen=True)
class Patch(Intervention):
    """Put other values in, for example those of another run.

    Attributes:
        values: numbers, as a tensor, an array or nested sequences (kept as nested tuples, so that the edit can be hashed);
            of the shape of the selected part, or one that broadcasts to it.
        positions: which positions (queries, source or target tokens), counted from 0; None for all.
    """

    of_attention = "output"

    values: Any = 0.0
    positions: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _freeze_positions(self)
        values = self.values.tolist() if hasattr(self.values, "tolist") else self.values
        object.__setattr__(self, "values", _as_tuples(values))

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        try:
            new = torch.tensor(self.values, dtype=torch.float32)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            raise PathError("values", self.values, "must be numbers in rows of equal length") from None
        usable = new.abs() <= LARGEST_VALUE
        if not (usable | (new == -torch.inf) if _are_scores(path) else usable).all():
            raise PathError("values", self.values, f"allowed are up to {LARGEST_VALUE} either way; -inf for scores only")
        _length_axis(model.taps[path], self.positions)
        return path

    def selection(self, tap: Tap, values: Tensor) -> tuple[Any, ...]:
        return _at_positions(super().selection(tap, values), tap, values, self.positions)

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        new = torch.tensor(self.values, dtype=values.dtype, device=values.device)
        try:
            return new.expand(values.shape)
        except RuntimeError:
            raise PathError(
                "values", tuple(new.shape), f"{tap.path} takes {tuple(values.shape)} ({' '.join(tap.axes)})"
            ) from None


@dataclass(frozen=True)
class Block(Intervention):
    """Forbid single looks, before the softmax: the other keys of that query share out the attention.

    Attributes:
        edges: (query position, key position) pairs, counted from 0.
    """

    of_attention = "masked_scores"

    edges: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "edges", tuple((int(query), int(key)) for query, key in self.edges))

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if not _are_scores(path):
            raise PathError("path", self.path, "must be an attention or its scores")
        for query, key in self.edges:
            _check_index("query", query, model.config.max_len)
            _check_index("key", key, model.config.max_len)
        return f"{path.rpartition('.')[0]}.masked_scores"

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        values = values.clone()
        for query, key in self.edges:
            # While an answer grows token by token, an edge may lie ahead of what is there yet.
            values[..., query : query + 1, key : key + 1] = scope.config.mask_fill
        return values


def find_tap(taps: Collection[str], path: str, of_attention: str = "weights") -> str:
    """The path of a tap, given its path or that of the attention it belongs to.

    Raises:
        PathError: there is none; names the paths spelled most like it.
    """
    if path in taps:
        return path
    if f"{path}.masked_scores" in taps:
        return f"{path}.{of_attention}"
    close = difflib.get_close_matches(path, taps, n=3, cutoff=0.4)
    raise PathError("path", path, f"the model has no such tap; nearest are {', '.join(close) or ', '.join([*taps][:3])}")


def _are_scores(path: str) -> bool:
    return path.rpartition(".")[2] in SCORES


def _check_index(what: str, index: object, count: int) -> None:
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
        raise PathError(what, index, f"allowed are 0 to {count - 1}")


def _length_axis(tap: Tap, positions: tuple[int, ...] | None) -> int:
    """Which axis `positions` counts along."""
    for position in positions or ():
        _check_index("position", position, 1 << 20)
    axes = [index for index, axis in enumerate(tap.axes) if axis in (*LENGTH_AXES, "key")]
    if positions is not None and not axes:
        raise PathError("positions", positions, f"{tap.path} has no positions, only {' '.join(tap.axes)}")
    return axes[0] if axes else -1


def _at_positions(where: tuple[Any, ...], tap: Tap, values: Tensor, positions: tuple[int, ...] | None) -> tuple[Any, ...]:
    if positions is None:
        return where
    axis = _length_axis(tap, positions)
    # Positions that are not there yet, while an answer grows, are left alone.
    inside = [position for position in positions if position < values.shape[axis]]
    chosen = [torch.arange(size) for size in values.shape]
    for index, part in enumerate(where):
        if isinstance(part, list):
            chosen[index] = torch.tensor(part)
    chosen[axis] = torch.tensor(inside, dtype=torch.long)
    return tuple(torch.meshgrid(*chosen, indexing="ij"))


def _freeze_positions(edit: Any) -> None:
    if edit.positions is not None:
        object.__setattr__(edit, "positions", tuple(edit.positions))


def _as_tuples(values: Any) -> Any:
    return tuple(map(_as_tuples, values)) if isinstance(values, list | tuple) else values
