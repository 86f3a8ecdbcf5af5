"""Names for the axes of a module's tensors, from the sizes of the axes and from the inputs that a tensor is computed from."""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

SIDE_WORDS = {
    "source": ("src", "source", "enc", "key", "memory", "kv"),
    "target": ("tgt", "target", "trg", "dec", "query", "output"),
}
FEATURES = ("d_model", "d_ff", "vocab", "d_head")


@dataclass
class Sizes:
    """The sizes by which the axes of a module's tensors are recognised.

    Attributes:
        batch: number of texts; None if it is unknown.
        batch_axis: index of the batch axis, 0 or 1.
        lengths: side (`source` or `target`) → number of tokens.
        sides: name of an input → its side.
        features: name of an axis of features → the sizes that it can have.
        heads: number of heads; None if it is unknown.
    """

    batch: int | None = None
    batch_axis: int = 0
    lengths: dict[str, int] = field(default_factory=dict)
    sides: dict[str, str] = field(default_factory=dict)
    features: dict[str, set[int]] = field(default_factory=lambda: {name: set() for name in FEATURES})
    heads: int | None = None

    def side(self, origin: frozenset[str]) -> str:
        """The side of a tensor: `target` if one of `origin`, the names of the inputs from which the tensor is computed, is an
        input of the target; otherwise `source`."""
        sides = {self.sides.get(name) for name in origin}
        return "target" if "target" in sides else "source"

    def names(self, shape: Sequence[int], origin: frozenset[str]) -> tuple[str, ...]:
        """A name for each axis of a tensor, such as `batch` or `d_model`: the one known name that fits best, or `axis 0`, `axis
        1`, … if none fits or several fit equally. A name is given to one axis only.

        Args:
            shape: the sizes of the axes.
            origin: the names of the inputs from which the tensor is computed. They decide its side (`source` or `target`).
        """
        names: list[str] = []
        for place, size in enumerate(shape):
            fitting = [name for name in self._fitting(place, size, len(shape), self.side(origin)) if name not in names]
            names.append(fitting[0] if len(fitting) == 1 else f"axis {place}")
        return tuple(names)

    def _fitting(self, place: int, size: int, count: int, side: str) -> list[str]:
        if place == self.batch_axis and size == self.batch and count > 1:
            return ["batch"]
        lengths = [name for name, length in self.lengths.items() if length == size]
        if side in lengths:  # both sides may have the same length
            lengths = [side]
        features = [name for name in FEATURES if size in self.features[name]]
        others = [*lengths, *(["head"] if size == self.heads else [])]
        last = place == count - 1 and count > 1
        return (features or others) if last else (others or features)


def main_inputs(module: nn.Module, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Tensor]:
    """The tensors that a module is called with: name of the argument of `forward` → tensor. A tuple `x` gives `x0`, `x1`, …;
    other containers are left out. A tensor that is given twice is listed once."""
    try:
        bound = dict(inspect.signature(module.forward).bind(*given, **named).arguments)
    except (TypeError, ValueError):
        bound = {str(place): value for place, value in enumerate(given)} | dict(named)
    listed: dict[str, Tensor] = {}
    for name, value in bound.items():
        values = value if isinstance(value, tuple) else (value,)
        for place, each in enumerate(values):
            if isinstance(each, Tensor) and not any(each is other for other in listed.values()):
                listed[name if len(values) == 1 else f"{name}{place}"] = each
    return listed


def is_main(name: str, tensor: Tensor) -> bool:
    """Whether an input (its name and its tensor) holds tokens, as ids or as vectors."""
    return "mask" not in name and tensor.ndim in (1, 2, 3) and (tensor.ndim == 3) == tensor.is_floating_point()


def sizes_of(module: nn.Module, inputs: Mapping[str, Tensor], tokens: Mapping[str, Sequence[Sequence[str]]]) -> Sizes:
    """The sizes by which axes are recognised, found from the layers of a module, its inputs (name → tensor) and the labels in
    `tokens` (side → one row of labels for each text)."""
    sizes = Sizes()
    mains = {name: tensor for name, tensor in inputs.items() if is_main(name, tensor)}
    sizes.sides = _sides([*mains])
    _measure(sizes, module, mains, tokens)
    widths = Counter(each.normalized_shape[-1] for each in module.modules() if isinstance(each, nn.LayerNorm))
    widths += Counter(each.embedding_dim for each in module.modules() if isinstance(each, nn.Embedding))
    widths += Counter(tensor.shape[-1] for tensor in mains.values() if tensor.ndim == 3)
    d_model = widths.most_common(1)[0][0] if widths else None
    if d_model is not None:
        sizes.features["d_model"].add(d_model)
    tables = {each.num_embeddings for each in module.modules() if isinstance(each, nn.Embedding)}
    linears = [each for each in module.modules() if isinstance(each, nn.Linear)]
    outs = Counter(each.out_features for each in linears if each.in_features == d_model)
    wide = [size for size, _ in outs.most_common() if size not in (d_model, 3 * (d_model or 0)) and size not in tables]
    ends = {each.in_features for each in linears if each.out_features == d_model}
    sizes.features["d_ff"].update([size for size in wide if size in ends][:1])
    # With a table of tokens, the last linear layer computes logits.
    logits = {each.out_features for each in linears[-1:] if tables and each.out_features in {*wide} - ends}
    sizes.features["vocab"].update(tables | logits)
    return sizes


def _sides(names: Sequence[str]) -> dict[str, str]:
    """Name of an input → its side. If the names leave open which inputs are the source and the target, the first input is the
    source, and the second is the target."""
    if len(names) == 1:
        return {names[0]: "source"}
    told = {name: [side for side, words in SIDE_WORDS.items() if any(word in name.lower() for word in words)] for name in names}
    if {"source", "target"} <= {sides[0] for sides in told.values() if len(sides) == 1}:
        return {name: sides[0] for name, sides in told.items() if len(sides) == 1}
    return dict(zip(names[:2], ("source", "target"), strict=False))


def _measure(
    sizes: Sizes, module: nn.Module, mains: Mapping[str, Tensor], tokens: Mapping[str, Sequence[Sequence[str]]]
) -> None:
    """Set the batch axis, the batch size and the lengths of both sides in `sizes`."""
    shapes = {side: mains[name].shape for name, side in sizes.sides.items() if mains[name].ndim > 1}
    if shapes:
        fitting = [axis for axis in (0, 1) if len({shape[axis] for shape in shapes.values()}) == 1]
        labelled = [
            axis
            for axis in fitting
            if all(shape[1 - axis] == len(tokens[side][0]) for side, shape in shapes.items() if side in tokens)
        ]
        if tokens and labelled:
            fitting = labelled
        sequence_first = any(getattr(each, "batch_first", True) is False for each in module.modules())
        float_input = any(tensor.is_floating_point() for tensor in mains.values())
        preferred = 1 if sequence_first and float_input else 0
        sizes.batch_axis = preferred if preferred in fitting else (fitting or [preferred])[0]
        sizes.batch = next(iter(shapes.values()))[sizes.batch_axis]
    for name, side in sizes.sides.items():
        shape = mains[name].shape
        sizes.lengths.setdefault(side, shape[0] if len(shape) == 1 else shape[1 - sizes.batch_axis])
