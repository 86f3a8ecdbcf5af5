"""The terms of a cost: for each tensor, its parameters, FLOPs or bytes as a product of sizes. Their sum is the cost.

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
    """The cost of tensors, or of parameters, that cost equally much.

    Attributes:
        names: their names without the number of the layer, such as `encoder.feed_forward.hidden`.
        times: how many they are, in all layers together.
        factors: name and size of each factor of the cost of one of them: an axis, or in place of an axis of positions, the side
            of its tokens. The name is empty for a constant, and for the sizes of a parameter.
    """

    names: tuple[str, ...]
    times: int
    factors: Factors

    @property
    def each(self) -> int:
        """The cost of one of them."""
        return math.prod(size for _, size in self.factors)

    @property
    def amount(self) -> int:
        """The cost of all of them."""
        return self.times * self.each


def cost_terms(config: TransformerConfig, lengths: Lengths, counted: str, work: str) -> tuple[CostTerm, ...]:
    """The terms whose sum is a number of `cost(config, lengths)[work]`. Those of equal factors are one term.

    Args:
        config, lengths: as for `transformer.network.cost.cost`.
        counted: `parameters`, `flops` or `bytes`.
        work: the kind of work, one of `transformer.network.cost.WORK`.

    Raises:
        ConfigError: there is no such count.
    """
    one_of("counted", counted, COUNTED)
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
    """Yields the path, the kind of work and the factors of each tensor."""
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
    """Yields the path, the kind of work and the factors of each parameter."""
    for path, parameter in model.named_parameters():
        place = TensorPath.parse(path)
        work = work_of(place.stack, place.sublayer, place.name)
        work = PROJECTIONS if place.sublayer.endswith("_attention") else work
        yield place, work, tuple(("", size) for size in parameter.shape)


def _name(place: TensorPath) -> str:
    """The path without the number of the layer: `encoder.feed_forward.hidden`."""
    return str(replace(place, layer=None))
