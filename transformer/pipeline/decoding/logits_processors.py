"""Logits processors of sampling. Each changes logits: it divides them, or sets the logits of excluded tokens to −∞.

Every logits processor keeps at least the most probable token, so greedy decoding writes the same with or without logits
processors.
"""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.errors import InputError
from transformer.validation import as_list

Logits = Float[Tensor, "row vocab"]

HIGHEST_TEMPERATURE = 10.0
LEAST_TEMPERATURE = 1e-4  # a lower temperature counts as 0, because the logits would be too large for float32


@dataclass(frozen=True)
class Temperature:
    """Divide the logits by `value`. Below 1, probable tokens become more probable; above 1, the others do. 0 keeps only the
    most probable token. Raises `InputError` for a value that is not from 0 to 10."""

    value: int | float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _checked("The temperature", self.value, 0, HIGHEST_TEMPERATURE))

    def apply(self, logits: Logits) -> Logits:
        """The logits, minus the largest of their row, divided by the temperature. Below a temperature of 10⁻⁴, −∞ for all but
        the most probable token."""
        if self.value < LEAST_TEMPERATURE:
            return TopK(1).apply(logits)
        return (logits - logits.amax(-1, keepdim=True)) / self.value


@dataclass(frozen=True)
class TopK:
    """Keep the `count` most probable tokens; of equally probable tokens, the ones with lower ids. Raises `InputError` for a
    count that is not a whole number from 1."""

    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", _checked("Top-k", self.count, 1, math.inf, whole=True))

    def apply(self, logits: Logits) -> Logits:
        """The logits, with −∞ for the tokens that are not kept."""
        return _keep_first(logits, torch.full((len(logits), 1), min(self.count, logits.shape[-1])))


@dataclass(frozen=True)
class TopP:
    """Keep the fewest tokens, most probable first, whose probabilities add up to at least `mass` (nucleus sampling). Raises
    `InputError` for a mass that is not from 0 to 1."""

    mass: int | float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", _checked("Top-p", self.mass, 0, 1))

    def apply(self, logits: Logits) -> Logits:
        """The logits, with −∞ for the tokens that are not kept."""
        ordered = logits.double().softmax(-1).sort(descending=True, stable=True, dim=-1).values
        before = ordered.cumsum(-1) - ordered  # the mass of the tokens that are more probable
        return _keep_first(logits, (before < self.mass).sum(-1, keepdim=True).clamp(min=1))


@dataclass(frozen=True)
class MinP:
    """Keep the tokens with at least `share` of the probability of the most probable one. Raises `InputError` for a share that
    is not from 0 to 1."""

    share: int | float

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", _checked("Min-p", self.share, 0, 1))

    def apply(self, logits: Logits) -> Logits:
        """The logits, with −∞ for the tokens that are not kept."""
        relative = (logits - logits.amax(-1, keepdim=True)).double().exp()
        return logits.masked_fill(relative < self.share, -math.inf)


LogitsProcessor = Temperature | TopK | TopP | MinP


def as_logits_processors(logits_processors: object) -> tuple[LogitsProcessor, ...]:
    """`logits_processors` as a tuple.

    Raises:
        InputError: the value is not a list of logits processors.
    """
    listed = as_list(logits_processors)
    if listed is None or not all(isinstance(processor, LogitsProcessor) for processor in listed):
        template = "Logits processors are a list of Temperature, TopK, TopP and MinP, not {logits_processors!r}."
        raise InputError(template, logits_processors=logits_processors)
    return tuple(listed)


def _keep_first(logits: Logits, count: Tensor) -> Logits:
    """The logits with all but the `count` highest of each row set to −∞; of equal logits, the first are kept. `count` has the
    shape [row, 1]."""
    order = logits.argsort(descending=True, stable=True, dim=-1)
    rank = order.argsort(-1)
    return logits.masked_fill(rank >= count, -math.inf)


def _checked(name: str, value: Any, least: int | float, most: int | float, whole: bool = False) -> int | float:
    """The value as an int or a float of Python. Raises `InputError` if it is not a number from `least` to `most`, or is not a
    whole number although `whole` is True."""
    kind: type = Integral if whole else Real
    right = isinstance(value, kind) and not isinstance(value, bool)
    if not right or not least <= value <= most:
        template = "{name} is {value!r}; allowed are {least} to {most}."
        if most == math.inf:
            template = "{name} is {value!r}; it must be a whole number of at least {least}."
        raise InputError(template, name=name, value=value, least=least, most=most)
    return int(value) if isinstance(value, Integral) else float(value)
