"""PyTorch's building blocks, as this network uses them: what they compute is theirs, what their calls cost is less.

A small model's forward pass is a thousand short calls. Everything here is for speed (`benchmarks/`) and changes results by
rounding alone; a reader may take each class for the one in `torch.nn` that has its name.
"""

import functools
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Module(nn.Module):
    """`nn.Module` whose children are also ordinary attributes.

    PyTorch finds a child by a failed lookup followed by a search, 0.5 µs each time. With hundreds of taps that is a tenth
    of a small model's traced forward pass; an entry in `__dict__` is found at once. Parameters may be replaced behind the
    module's back (by `functional_call`, for one), so they get no second entry; `Linear` and `LayerNorm` look where they are
    kept. A child is replaced by `setattr` or `add_module`; what is written into `_modules` behind its back does not run.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, nn.Module) or name in self._modules:  # None takes the place of a child, too
            self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self.__dict__.pop(name, None)

    def add_module(self, name: str, module: nn.Module | None) -> None:
        super().add_module(name, module)
        self.__dict__[name] = module


def _constant(value: float, dtype: torch.dtype) -> Float[Tensor, ""]:
    """A number as a tensor, made once: making one anew for every product took longer than dividing a small matrix by it."""
    with torch.inference_mode(False):  # else a training step could not use what was made while nobody was learning
        return torch.tensor(value, dtype=dtype, device="cpu")


# The underscore keeps it out of the call tree (`transformer.analysis.call_tree`): only the first pass makes it.
constant = functools.cache(_constant)


class Linear(nn.Linear):
    """`x W + b`, in that order, with `W` in memory as the paper writes it: input by output (sections 3.2.2 and 3.3).

    `weight` has the shape that `nn.Linear` gives it, output by input: it is `Wᵀ`, a view. What wants numbers in a row, such as
    `weight.view(-1)` or safetensors' `save`, needs `weight.contiguous()`; checkpoints and initialisation see to it.

    - The processor reads `W` in the order in which a product needs it. With 16 rows of `x` and more a product took 2 to 40 %
      less time, the fewer the rows the less; with 1 to 8 rows, at d_model 512, up to 39 % more.
    - PyTorch writes `b` into the output first and lets the product add to it. In a trace no output lies in memory that is
      still warm, and a processor gets it sooner in the middle of a product than for a copy: 5 % of a traced forward pass at
      d_model 128 with 64 tokens.

    Arguments as for `nn.Linear`.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features, bias)
        self.weight = nn.Parameter(self.weight.detach().T.contiguous().T)

    def forward(self, input: Float[Tensor, "*position inputs"]) -> Float[Tensor, "*position outputs"]:
        own: dict[str, Any] = self._parameters
        try:  # `self.weight` and `self.bias` are failed lookups followed by a search, too: 2 of a call's 8 µs
            weight, bias = own["weight"], own["bias"]
        except KeyError:  # pruning and parametrisation put something else in a parameter's place
            weight, bias = self.weight, self.bias
        product = F.linear(input, weight)
        return product if bias is None else product.add_(bias)


class LayerNorm(nn.LayerNorm):
    """Mean 0 and variance 1 for each position, then scaled and shifted by what was learned (section 3.1). Arguments as for
    `nn.LayerNorm`."""

    def forward(self, input: Float[Tensor, "*position d_model"]) -> Float[Tensor, "*position d_model"]:
        own: dict[str, Any] = self._parameters
        try:  # as in `Linear`
            weight, bias = own["weight"], own["bias"]
        except KeyError:
            weight, bias = self.weight, self.bias
        return torch.layer_norm(input, self.normalized_shape, weight, bias, self.eps)


class Dropout(nn.Dropout):
    """`nn.Dropout` that steps aside when there is nothing to drop: PyTorch's own takes 3 µs to do nothing."""

    def __call__(self, values: Tensor) -> Tensor:
        return super().__call__(values) if self.training and self.p else values
