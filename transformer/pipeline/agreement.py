"""`Agreement`: how the logits in a trace compare with the logits of the same model without tracing."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer.errors import InputError
from transformer.tracing.paths import STACK_SIDES
from transformer.tracing.trace import Trace


class Agreement(NamedTuple):
    """How the logits in a trace (a recorded forward pass) compare with the logits of the same model without tracing.

    Attributes:
        equal: whether all logits are the same bit for bit.
        difference: the largest absolute difference between two corresponding logits.
        rounding: whether a difference of this size can come from adding numbers in another order. `Agreement.of` does not test
            this, and leaves it False.
    """

    equal: bool
    difference: float
    rounding: bool = False

    @classmethod
    def of(cls, one: Tensor, other: Tensor) -> "Agreement":
        """The comparison of the logits of a model, `one`, with the logits in a trace, `other`. Raises `InputError` if their
        shapes differ."""
        if one.shape != other.shape:
            template = "The trace is of another model: its result has the shape {given}; this model's has {own}."
            raise InputError(template, given=tuple(other.shape), own=tuple(one.shape))
        return cls(torch.equal(one, other), float((one - other).abs().max()))


def check_sides(trace: Any, stacks: Sequence[str]) -> None:
    """Check that a value is a trace (a recorded forward pass) of a model with these stacks.

    Args:
        stacks: `encoder`, `decoder`, or both.

    Raises:
        InputError: `trace` is not a Trace, or its model has other stacks.
    """
    sides = tuple(STACK_SIDES[stack] for stack in stacks)
    if not isinstance(trace, Trace):
        raise InputError("The trace must be a Trace, as `Pipeline.trace` returns it, not {trace!r}.", trace=trace)
    if trace.sides != sides:
        template = "The trace is of another kind of model: it has {given}; this model reads {own}."
        raise InputError(template, given=" and ".join(trace.sides), own=" and ".join(sides))
