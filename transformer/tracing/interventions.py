"""Edits of tensors during a forward pass. Each edit is a frozen dataclass of plain values, so code can use it as a cache key or
write it into a URL. Only `Change` contains a function, for code that needs neither.

    with tracing(model, [Ablate("decoder.layers.0.cross_attention.weights", heads=(2,))]):
        logits = model(source, target)

A path names a tap, which is a tensor of the pass (`encoder.layers.0.self_attention.weights`). The path of an attention itself
(`encoder.layers.0.self_attention`) is also allowed; each class then selects one tap of the attention (`of_attention`).

An edit of scores never gives weight to a hidden or blocked key. `Patch`, `Replace` and `Change` on `weights` can do so, because
they act after the mask.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import torch
from torch import Tensor

from transformer.errors import PathError, shortened
from transformer.network.masks import hidden_keys, last_scores
from transformer.network.tap import Scope, Tap, Traceable
from transformer.tracing.intervention import Intervention, check_row, length_axis
from transformer.tracing.paths import SCORES, Kind, TensorPath, check_index, find_tap

__all__ = ["Ablate", "Block", "Change", "Intervention", "Patch", "Replace", "Scale", "silence"]

# With larger numbers, later float32 tensors would not be finite. The products of several scales stop at LARGEST_VALUE.
LARGEST_FACTOR, LARGEST_VALUE = 1_000_000, 1e12
WRONG_SHAPE = "Values of shape {shape} do not fit {path}, which takes {allowed} ({axes})."
# For tensors of the decoder, because without a target they get one more position for each token of the answer.
WRONG_SHAPE_GROWING = (
    "Values of shape {shape} do not fit {path}, which takes {allowed} ({axes}). "
    "Where the model writes its own answer, that grows with it: give the target, too."
)
MASK_ALLOWED = "{path} holds True and False: Patch it with these, or Ablate it to hide everything."


@dataclass(frozen=True)
class Ablate(Intervention):
    """An edit that removes the contribution of heads, or of a whole tensor.

    Attributes:
        path, heads, items: path of the tensor, and the heads and batch items to change, from 0 (None: all); see `Intervention`.
        to: `zero` sets the values to 0; scores that a mask hides stay hidden. `uniform` is only for attention weights: each
            query attends equally to every key that its mask allows, so the head outputs the average of the values.
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
        # A query that may attend to no key keeps its weights. They are zeros, or equal weights if the mask alone hides every
        # key and the fill is a finite number.
        return torch.where(count > 0, allowed.to(values.dtype) / count.clamp(min=1), values)


def silence(kind: str, layer: int, heads: tuple[int, ...] | None, items: tuple[int, ...] | None = None) -> Ablate:
    """An edit that silences heads of one layer: their attention weights become 0, so these heads add nothing to the output.

    Args:
        kind: `encoder`, `decoder` or `cross`.
        layer: counted from 0.
        heads: heads to silence, counted from 0; None for all heads of the layer.
        items: items of the batch to change, counted from 0; None for all.

    Raises:
        InputError: there is no such kind.
        PathError: `layer` is not a whole number, or is negative. Layer and heads are checked against the model when it runs.
    """
    return Ablate(str(Kind.of(kind).path(layer)), heads=heads, items=items)


@dataclass(frozen=True)
class Scale(Intervention):
    """An edit that multiplies values by a factor: 0 removes them, 1 changes nothing, 2 doubles, −1 changes the sign.

    Attributes:
        path, heads, items: path of the tensor, and the heads and batch items to change, from 0 (None: all); see `Intervention`.
        factor: any number from minus a million to a million. Scores that a mask hides stay hidden. Products are clamped to the
            range from −10¹² to 10¹².
        positions: positions to change (queries, source or target tokens), counted from 0; None for all.
    """

    of_attention = "output"

    factor: float = 0.0
    positions: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.factor, Tensor):  # as a plain number, the tensor would lose its gradient
            self._refuse_factor()
        super().__post_init__()

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if _is_mask(path):
            raise PathError(MASK_ALLOWED, path=path)
        number = isinstance(self.factor, int | float) and not isinstance(self.factor, bool)
        if not number or not abs(self.factor) <= LARGEST_FACTOR:
            self._refuse_factor()
        length_axis(model.taps[path], self.positions, model.config.max_len)
        return path

    def _refuse_factor(self) -> NoReturn:
        raise PathError(
            "The factor is {factor!r}; it must be a number from {least} to {most}.",
            factor=self.factor,
            least=-LARGEST_FACTOR,
            most=LARGEST_FACTOR,
        )

    def chosen(self, tap: Tap) -> dict[int, tuple[int, ...] | None]:
        return super().chosen(tap) | length_axis(tap, self.positions)

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        scaled = values * self.factor
        most = min(LARGEST_VALUE, torch.finfo(scaled.dtype).max)  # the largest number in half precision is smaller
        # If hidden scores were scaled too, 0 × −∞ would be NaN, and a key with the score −1 × −∞ would get all the attention.
        return _except_hidden(scaled.clamp(-most, most), values, tap, where, scope)


@dataclass(frozen=True)
class Patch(Intervention):
    """An edit that replaces values by other values, for example by the values of another run.

    Attributes:
        path, heads, items: path of the tensor, and the heads and batch items to change, from 0 (None: all); see `Intervention`.
        values: the new values, as a tensor, an array or nested sequences: numbers from −10¹² to 10¹², also −∞ for scores; True
            and False for a mask. A run with the default, None, raises PathError. They are stored as nested tuples, so that
            the edit can be hashed. Their shape is that of the selected part, or a shape that broadcasts to it.
        positions: positions to change (queries, source or target tokens), counted from 0; None for all.
    """

    of_attention = "output"

    values: Any = None
    positions: tuple[int, ...] | None = None

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        length_axis(model.taps[path], self.positions, model.config.max_len)
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
        return path

    def chosen(self, tap: Tap) -> dict[int, tuple[int, ...] | None]:
        return super().chosen(tap) | length_axis(tap, self.positions)

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        new = torch.tensor(self.values, dtype=torch.bool if _is_mask(tap.path) else torch.float64, device=values.device)
        if values.is_floating_point():  # half precision would turn large numbers into ∞, and later into NaN; −∞ stays
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
    """An edit that forbids certain queries to attend to certain keys. The attention of such a query goes to its other keys.

    A blocked key has weight 0, even if other edits change its score. A query whose keys are all blocked attends to no key.
    There is one exception: if the mask itself hides every key of a query and `mask_fill` is a finite number, that query attends
    equally to all keys.

    Attributes:
        path, heads, items: path of the tensor, and the heads and batch items to change, from 0 (None: all); see `Intervention`.
        edges: (query position, key position) pairs, counted from 0. At least one is needed.
    """

    of_attention = "masked_scores"

    edges: tuple[tuple[int, int], ...] = ()

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if not _are_scores(path):
            raise PathError("{path} cannot be blocked; allowed are an attention and its scores.", path=path)
        if self.edges == ():
            raise PathError("A Block of {path} needs edges, such as Block(path, edges=[(query, key)]).", path=path)
        for edge in check_row("edges", self.edges):
            if len(check_row("edge", edge)) != 2:
                raise PathError("The edge {edge!r} must be a query and a key, such as (0, 1).", edge=edge)
            check_index("query", edge[0], model.config.max_len)
            check_index("key", edge[1], model.config.max_len)
        return f"{path.rpartition('.')[0]}.mask"

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        shape = scope.values.shape(f"{tap.path.rpartition('.')[0]}.scores")
        return super().apply(values.expand(shape), tap, scope)  # all heads, and maybe all queries, share one mask before this

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        values = values.clone()
        for query, key in self.edges:
            # While an answer is written token by token, the query or the key of an edge may not exist yet.
            values[..., query : query + 1, key : key + 1] = False
        return values


@dataclass(frozen=True)
class Replace(Intervention):
    """An edit that replaces a tensor by another tensor of the same run. For example, replacing the residual sum by the
    sub-layer's output removes the residual connection.

    Attributes:
        path, heads, items: path of the tensor, and the heads and batch items to change, from 0 (None: all); see `Intervention`.
        by: path of the tap whose tensor is the replacement. It must be computed earlier in the pass and have the same shape.
            Scores can replace only scores, because they may be −∞.
    """

    of_attention = "output"

    by: str = ""

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if self.by == "":
            raise PathError("`by` is missing: the path of the tensor that replaces {path}.", path=path)
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

    def needs(self, model: Traceable) -> Iterable[str]:
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


@dataclass(frozen=True)
class Change(Intervention):
    """An edit that replaces values by the result of a function of these values.

        Change("decoder.layers.0.cross_attention.weights", lambda weights: weights.flip(-1))

    Two changes are equal only if their functions are the same object.

    Attributes:
        path, heads, items: path of the tensor, and the heads and batch items to change, from 0 (None: all); see `Intervention`.
        by: a function that gets a copy of the selected part, with the axes of the tensor, and returns a tensor of the same
            shape with real numbers. Scores that a mask hides stay hidden. If the function fails, or returns another shape, NaN
            or numbers beyond ±10¹² (−∞ is allowed for scores), the forward pass raises PathError.
    """

    by: Callable[[Tensor], Tensor] | None = None

    def __post_init__(self) -> None:
        by = self.by
        super().__post_init__()
        object.__setattr__(self, "by", by)  # not a tuple of parts, if the function can be iterated over (`nn.Sequential`)

    def place(self, model: Traceable) -> str:
        path = super().place(model)
        if not callable(self.by):
            template = "{by!r} cannot change {path}: it must be a function that takes a tensor and returns one."
            raise PathError(template, by=self.by, path=path)
        return path

    def change(self, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
        assert self.by is not None
        try:
            new = self.by(values.clone())
        except Exception as error:  # a function of the caller can raise anything
            problem = f"{type(error).__name__}: {error}"
            raise PathError("The function that changes {path} fails ({problem}).", path=tap.path, problem=problem) from error
        self._check_form(new, values, tap)
        new = _except_hidden(new.to(values.dtype), values, tap, where, scope)
        unusable = ~((new.abs() <= LARGEST_VALUE) | (new == values)) if values.is_floating_point() else torch.tensor(False)
        if (unusable & ~((new == -torch.inf) & _are_scores(tap.path))).any():
            template = "The function that changes {path} returned NaN or too large numbers; allowed are numbers up to {most}."
            raise PathError(template, path=tap.path, most=LARGEST_VALUE)
        return new

    def _check_form(self, new: Any, values: Tensor, tap: Tap) -> None:
        """Raise PathError unless the function returned real numbers (for a mask: truth values) in the shape and on the device
        of `values`."""
        if not isinstance(new, Tensor) or new.shape != values.shape:
            raise PathError(
                "The function that changes {path} returned {new}; it must return a tensor of shape {shape} ({axes}).",
                path=tap.path,
                new=f"a tensor of shape {tuple(new.shape)}" if isinstance(new, Tensor) else shortened(new),
                shape=tuple(values.shape),
                axes=" ".join(tap.axes),
            )
        if new.is_complex() or new.device != values.device or (_is_mask(tap.path) and new.dtype != torch.bool):
            template = "The function that changes {path} returned {dtype} on {device}; it must return {expected}."
            expected = f"{values.dtype} on {values.device}"
            raise PathError(template, path=tap.path, dtype=str(new.dtype), device=str(new.device), expected=expected)


def _are_scores(path: str) -> bool:
    return TensorPath.parse(path).last in SCORES


def _is_mask(path: str) -> bool:
    return path.endswith("_mask")


def _except_hidden(edited: Tensor, values: Tensor, tap: Tap, where: tuple[Any, ...], scope: Scope) -> Tensor:
    """The edited values, except for hidden scores, which stay unchanged. A score is hidden if it is −∞, or if the mask has
    already replaced it by the fill."""
    attention, _, name = tap.path.rpartition(".")
    if name not in SCORES:
        return edited
    hidden = values == -torch.inf
    if name in ("masked_scores", last_scores(scope.config)):
        hidden |= ~scope.values.masks[attention].expand(scope.values.shape(f"{attention}.scores"))[where]
    return torch.where(hidden, values, edited)
