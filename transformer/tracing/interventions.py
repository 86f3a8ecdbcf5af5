"""Edits of a forward pass. Each is a frozen dataclass of plain values, so it can be a cache key, a link or a sentence.

    with tracing(model, [Ablate("decoder.layers.0.cross_attention.weights", heads=(2,))]):
        logits = model(source, target)

A path names a tap (`encoder.layers.0.self_attention.weights`). Where an edit is about a whole attention, the path of the
attention itself (`encoder.layers.0.self_attention`) is enough.

No edit of scores gives weight to a key that is hidden or blocked. An edit of the weights themselves comes after the mask, so
`Patch` and `Replace` on `weights` can.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from transformer.errors import PathError
from transformer.network.masks import hidden_keys, last_scores
from transformer.network.tap import Scope, Tap, Traceable
from transformer.tracing.intervention import Intervention, check_row, length_axis
from transformer.tracing.paths import SCORES, TensorPath, check_index, find_tap

__all__ = ["Ablate", "Block", "Intervention", "Patch", "Replace", "Scale"]

# Beyond these, what follows in float32 would no longer be finite. Scales that follow one another stop at the second.
LARGEST_FACTOR, LARGEST_VALUE = 1_000_000, 1e12
WRONG_SHAPE = "Values of shape {shape} do not fit {path}, which takes {allowed} ({axes})."
# Of a tensor of the decoder, without a target: it has one more position for each token of the answer.
WRONG_SHAPE_GROWING = (
    "Values of shape {shape} do not fit {path}, which takes {allowed} ({axes}). "
    "Where the model writes its own answer, that grows with it: give the target, too."
)
MASK_ALLOWED = "{path} holds True and False: Patch it with these, or Ablate it to hide everything."


@dataclass(frozen=True)
class Ablate(Intervention):
    """Take away what heads (or a whole tensor) contribute.

    Attributes:
        to: `zero` sets the values to 0; scores that a mask hides stay hidden. `uniform` is for attention weights: each query
            looks equally at every key its mask allows, so the head hands on the plain average of the values.
    """

    to: Literal["zero", "uniform"] = "zero"

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if self.to not in ("zero", "uniform"):
            raise PathError("An ablation to {to!r} does not exist; allowed are zero and uniform.", to=self.to)
        if self.to == "uniform" and not path.endswith(".weights"):
            raise PathError("{path} cannot become uniform; only attention weights can.", path=path)
        return path

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        if self.to == "zero":
            return _except_hidden(torch.zeros_like(values), values, tap, where, scope)
        attention = tap.path.removesuffix(".weights")
        scores = scope.values[f"{attention}.{last_scores(scope.config)}"]
        allowed = ~hidden_keys(scope.values.masks[attention], scores)[where]
        count = allowed.sum(-1, keepdim=True)
        # A query that may attend to no key keeps its weights: zeros, or under −10 000 equal ones where its mask is empty.
        return torch.where(count > 0, allowed.to(values.dtype) / count.clamp(min=1), values)


@dataclass(frozen=True)
class Scale(Intervention):
    """Multiply by a factor: 0 removes, 1 changes nothing, 2 doubles, −1 turns round.

    Attributes:
        factor: any number up to a million either way. Scores that a mask hides stay hidden; what it makes larger than 10¹²
            either way stops there.
        positions: which positions (queries, source or target tokens), counted from 0; None for all.
    """

    of_attention = "output"

    factor: float = 0.0
    positions: tuple[int, ...] | None = None

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if _is_mask(path):
            raise PathError(MASK_ALLOWED, path=path)
        number = isinstance(self.factor, int | float) and not isinstance(self.factor, bool)
        if not number or not abs(self.factor) <= LARGEST_FACTOR:
            raise PathError(
                "The factor is {factor!r}; it must be a number from {least} to {most}.",
                factor=self.factor,
                least=-LARGEST_FACTOR,
                most=LARGEST_FACTOR,
            )
        length_axis(model.taps[path], self.positions, model.config.max_len)
        return path

    def chosen(self, tap: Tap) -> dict[int, tuple[int, ...] | None]:
        return super().chosen(tap) | length_axis(tap, self.positions)

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        scaled = values * self.factor
        most = min(LARGEST_VALUE, torch.finfo(scaled.dtype).max)  # half precision ends earlier
        # 0 × −∞ would be NaN, and −1 × −∞ the only key anyone looks at.
        return _except_hidden(scaled.clamp(-most, most), values, tap, where, scope)


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

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        try:
            if _is_mask(path) and torch.tensor(self.values).dtype != torch.bool:
                raise PathError(MASK_ALLOWED, path=path)
            new = torch.tensor(self.values, dtype=torch.float32)
            usable = ((new.abs() <= LARGEST_VALUE) | ((new == -torch.inf) & _are_scores(path))).all()
        except PathError:
            raise
        except (TypeError, ValueError, RuntimeError, OverflowError):
            raise PathError(
                "The values {values!r} do not fit {path}: they must be numbers in rows of equal length.",
                values=self.values,
                path=path,
            ) from None
        if not usable:
            raise PathError(
                "The values {values!r} do not fit {path}: allowed are numbers up to {most} either way; -inf for scores only.",
                values=self.values,
                path=path,
                most=LARGEST_VALUE,
            )
        length_axis(model.taps[path], self.positions, model.config.max_len)
        return path

    def chosen(self, tap: Tap) -> dict[int, tuple[int, ...] | None]:
        return super().chosen(tap) | length_axis(tap, self.positions)

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        new = torch.tensor(self.values, dtype=torch.bool if _is_mask(tap.path) else torch.float64, device=values.device)
        if values.is_floating_point():  # half precision ends earlier, and infinity would become NaN; −∞ stays what it is
            most = torch.finfo(values.dtype).max
            new = torch.where(new == -torch.inf, new, new.clamp(-most, most)).to(values.dtype)
        try:
            return new.expand(values.shape)
        except RuntimeError:
            fixed = tap.path.startswith(("source", "encoder"))
            raise PathError(
                WRONG_SHAPE if fixed else WRONG_SHAPE_GROWING,
                path=tap.path,
                shape=tuple(new.shape),
                allowed=tuple(values.shape),
                axes=" ".join(tap.axes),
            ) from None


@dataclass(frozen=True)
class Block(Intervention):
    """Forbid single queries to attend to single keys: the other keys of that query share out the attention.

    A blocked key has weight 0, whatever other edits make of the scores; a query whose keys are all blocked attends to none. The
    exception: where the mask itself hides every key of a query, that row is left as the variant makes it.

    Attributes:
        edges: (query position, key position) pairs, counted from 0.
    """

    of_attention = "masked_scores"

    edges: tuple[tuple[int, int], ...] = ()

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if not _are_scores(path):
            raise PathError("{path} cannot be blocked; allowed are an attention and its scores.", path=path)
        for edge in check_row("edges", self.edges):
            if len(check_row("edge", edge)) != 2:
                raise PathError("The edge {edge!r} must be a query and a key, such as (0, 1).", edge=edge)
            check_index("query", edge[0], model.config.max_len)
            check_index("key", edge[1], model.config.max_len)
        return f"{path.rpartition('.')[0]}.mask"

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        shape = scope.values.shape(f"{tap.path.rpartition('.')[0]}.scores")
        return super().apply(values.expand(shape), tap, scope)  # a mask is the same for all heads, and perhaps queries

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        values = values.clone()
        for query, key in self.edges:
            # While an answer grows token by token, an edge may lie ahead of what is there yet.
            values[..., query : query + 1, key : key + 1] = False
        return values


@dataclass(frozen=True)
class Replace(Intervention):
    """Put another tensor of the same run in a tensor's place: with the sub-layer's output in place of the residual sum, the
    residual connection is gone.

    Attributes:
        by: path of the tap whose tensor is put in; it must come earlier in the pass and have the same shape. Scores, which
            may be −∞, can replace scores only.
    """

    of_attention = "output"

    by: str = ""

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        by = find_tap(model.taps, self.by, "output")
        if len(model.taps[by].axes) != len(model.taps[path].axes):
            raise PathError(
                "{by} cannot replace {path}: it must have as many axes, {axes}.",
                by=by,
                path=path,
                axes=" ".join(model.taps[path].axes),
            )
        if _is_mask(by) != _is_mask(path):
            raise PathError("{by} cannot replace {path}: only a mask can replace a mask.", by=by, path=path)
        if _are_scores(by) and not _are_scores(path):
            raise PathError("{by} cannot replace {path}: scores may be -inf, and replace only scores.", by=by, path=path)
        return path

    def reads(self, model: Traceable) -> Iterable[str]:
        return [find_tap(model.taps, self.by, "output")]

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        by = find_tap(scope.taps, self.by, "output")
        if by not in scope.values:
            raise PathError("{by} cannot replace {path}: it is not computed before.", by=by, path=tap.path)
        other = scope.values[by][where]
        if other.shape != values.shape:
            raise PathError(
                "{by} cannot replace {path}: its shape is {shape}; allowed is {allowed} ({axes}).",
                by=by,
                path=tap.path,
                shape=tuple(other.shape),
                allowed=tuple(values.shape),
                axes=" ".join(tap.axes),
            )
        return other


def _are_scores(path: str) -> bool:
    return TensorPath.parse(path).last in SCORES


def _is_mask(path: str) -> bool:
    return path.endswith("_mask")


def _except_hidden(edited: Tensor, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
    """The edited values, but hidden scores as they were: those that are −∞, and those that the mask has filled already."""
    attention, _, name = tap.path.rpartition(".")
    if name not in SCORES:
        return edited
    hidden = values == -torch.inf
    if name in ("masked_scores", last_scores(scope.config)):
        hidden |= ~scope.values.masks[attention].expand(scope.values.shape(f"{attention}.scores"))[where]
    return torch.where(hidden, values, edited)
