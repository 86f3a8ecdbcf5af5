"""The linear map that every projection is (sections 3.2.2 and 3.3)."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class Linear(nn.Linear):
    """`x W + b`, in that order, with `W` in memory as the paper writes it: input by output.

    `weight` has the shape that `nn.Linear` gives it, output by input: it is `Wᵀ`, a view. Both orders are for speed
    (`benchmarks/`), and say nothing about what is computed:

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
        product = F.linear(input, self.weight)
        return product if self.bias is None else product.add_(self.bias)
