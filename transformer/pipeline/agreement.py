"""`Agreement`: the comparison of a trace's logits with those of the same weights without taps."""

from typing import NamedTuple

import torch
from torch import Tensor


class Agreement(NamedTuple):
    """How the logits of a trace compare with those of the same weights without taps.

    Attributes:
        equal: whether they are the same bit for bit.
        difference: the largest absolute difference between two corresponding logits.
        rounding: whether the difference is small enough to be explained by rounding, because sums have another order.
    """

    equal: bool
    difference: float
    rounding: bool = False

    @classmethod
    def of(cls, one: Tensor, other: Tensor) -> "Agreement":
        """The comparison of two tensors of logits."""
        return cls(torch.equal(one, other), float((one - other).abs().max()))
