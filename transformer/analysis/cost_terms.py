"""The terms of a cost: the parameters, FLOPs or bytes of each tensor as a product of sizes. The cost is the sum of the terms.

for term in cost_terms(config, lengths, "flops", "feed-forward"):
    term.names, term.times, term.factors  # ('encoder.feed_forward.hidden', …), 4, (('', 2), ('batch', 1), …)
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import torch

from transformer.network.config import TransformerConfig
from transformer.network.cost import (
    BOOL,
    FLOAT,
    MASKS,
    PROJECTIONS,
    WORK,
    Factors,
    Lengths,
    axis_sizes,
    flop_factors,
    work_of,
)
from transformer.network.model import Transformer
from transformer.tracing.paths import TensorPath
from transformer.validation import one_of

COUNTED = ("parameters", "flops", "bytes")


class CostTerm(NamedTuple):
    """The cost of a group of tensors, or of a group of parameters. All members of the group cost the same.

    Attributes:
        names: paths of the tensors or parameters, without the number of the layer, such as `encoder.feed_forward.hidden`.
        times: number of tensors or parameters in the group, in all layers together.
        factors: (name, size) of each factor of the cost of one tensor or parameter. The name is that of an axis; for an axis of
            tokens, `source` or `target`; empty for a constant, and for the sizes of a parameter.
    """

    names: tuple[str, ...]
    times: int
    factors: Factors

    @property
    def each(self) -> int:
        """The cost of one tensor or parameter of the group: a number of parameters, of FLOPs or of bytes."""
        return math.prod(size for _, size in self.factors)

    @property
    def amount(self) -> int:
        """The cost of all tensors or parameters of the group together: a number of parameters, of FLOPs or of bytes."""
        return self.times * self.each


def cost_terms(config: TransformerConfig, lengths: Lengths, counted: str, work: str) -> tuple[CostTerm, ...]:
    """The terms whose sum is the cost of one kind of work: the number `counted` of `cost(config, lengths)[work]`. Tensors with
    equal factors are one term.

    Args:
        config: sizes and variant of the model.
        lengths: size of the model's input.
        counted: what is counted: `parameters`, `flops` or `bytes`.
        work: the kind of work, such as `feed-forward`; one of `transformer.network.cost.WORK`.

    Raises:
        ConfigError: `counted` or `work` is not one of these names.
    """
    one_of("counted", counted, COUNTED)
    one_of("work", work, WORK)
    with torch.device("meta"):
        model = Transformer(config.replace(encoder_layers=1, decoder_layers=1))  # all layers of a stack are alike
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    found: dict[Factors, list[TensorPath]] = {}
    for place, kind, factors in _parameters(model) if counted == "parameters" else _tensors(model, lengths, counted):
        if kind == work and factors and all(size for _, size in factors):
            found.setdefault(factors, []).append(place)
    return tuple(
        CostTerm(tuple(map(_name, places)), sum(1 if place.layer is None else layers[place.stack] for place in places), factors)
        for factors, places in found.items()
    )


def _tensors(model: Transformer, lengths: Lengths, counted: str) -> Iterator[tuple[TensorPath, str, Factors]]:
    """Yield the path, the kind of work and the factors of each tensor."""
    for path, tap in model.taps.items():
        place = TensorPath.parse(path)
        work = work_of(place.stack, place.sublayer, place.name)
        if counted == "flops":
            factors = flop_factors(model.config, place.stack, place.sublayer, place.name, lengths)
        else:
            sizes = axis_sizes(model.config, lengths, place.stack, place.sublayer, place.name)
            number = BOOL if work == MASKS else FLOAT
            factors = (("", number), *((axis, sizes[axis]) for axis in tap.axes if axis != "1"))
        yield place, work, tuple((_side(place, axis), size) for axis, size in factors)


def _side(place: TensorPath, axis: str) -> str:
    """The side, `source` or `target`, of the tokens on an axis; the name of the axis itself if it has no tokens."""
    if axis in ("query", "key") and place.kind is not None:
        return place.kind.queries if axis == "query" else place.kind.keys
    return place.side if axis == "position" else axis


def _parameters(model: Transformer) -> Iterator[tuple[TensorPath, str, Factors]]:
    """Yield the path, the kind of work and the factors of each parameter."""
    for path, parameter in model.named_parameters():
        place = TensorPath.parse(path)
        work = work_of(place.stack, place.sublayer, place.name)
        work = PROJECTIONS if place.sublayer.endswith("_attention") else work
        yield place, work, tuple(("", size) for size in parameter.shape)


def _name(place: TensorPath) -> str:
    """The path without the number of the layer, such as `encoder.feed_forward.hidden`."""
    return str(replace(place, layer=None))
