"""Adam, the optimiser of the paper (section 5.3; Kingma and Ba 2015), written out.

`torch.optim.Adam` computes the same numbers, but the first instance in a process loads PyTorch's compiler. This takes 80 MB of
a server's memory, and seconds before a training starts.
"""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

BETAS, EPSILON = (0.9, 0.98), 1e-9  # β₁, β₂ and ε of section 5.3


class Moments(NamedTuple):
    """The two running means that Adam keeps for a parameter. Both are tensors of the parameter's shape.

    Attributes:
        mean: running mean of the gradient.
        square: running mean of the square of the gradient.
    """

    mean: Tensor
    square: Tensor


class Adam:
    """The optimiser Adam: a step moves each weight against its gradient, by about the learning rate.

        optimizer = Adam(model.parameters())
        loss.backward()
        optimizer.step(learning_rate=1e-3)
        optimizer.zero_grad()

    Args:
        parameters: the parameters of a model.

    Attributes:
        parameters: the parameters, as a list.
        moments: parameter → its running means; zeros before the first step.
        number: number of steps done.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self.parameters = list(parameters)
        self.moments = {each: Moments(torch.zeros_like(each), torch.zeros_like(each)) for each in self.parameters}
        self.number = 0

    def zero_grad(self) -> None:
        """Delete the gradients. Otherwise `backward` would add to them."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Take one step with the gradients in `parameter.grad`. A parameter without a gradient does not change."""
        self.number += 1
        # Both means start at 0, so they are too small at first.
        mean_share, square_share = (1 - beta**self.number for beta in BETAS)
        for parameter, (mean, square) in self.moments.items():
            gradient = parameter.grad
            if gradient is None:
                continue
            mean.lerp_(gradient, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
            spread = (square.sqrt() / square_share**0.5).add_(EPSILON)
            parameter.addcdiv_(mean, spread, value=-learning_rate / mean_share)
