"""`Readout`: how the logits of a decoder are read from its residual stream, and what was added to that stream.

The logit lens and the contributions to a logit need no more of a network than this, so they work for every network that
describes itself so: a `Transformer` by `readout_of`, a model of Hugging Face by `transformer.huggingface.readout`.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.tracing.paths import SUBLAYERS, TensorPath


@dataclass(frozen=True, eq=False)
class Norm:
    """A norm on the way of the residual stream.

    Attributes:
        module: a LayerNorm, or one that subtracts no mean (RMSNorm).
        reads: path of the tensor that it reads.
    """

    module: nn.Module
    reads: str

    def held(
        self, values: Float[Tensor, " d_model"], parts: Float[Tensor, "part d_model"]
    ) -> tuple[Float[Tensor, "part d_model"], Float[Tensor, " d_model"]]:
        """The norm applied to the parts of a sum, its spread held at that of the whole sum, which makes it linear.

        Args:
            values: the sum that it reads.
            parts: to carry through it.

        Returns:
            The parts after it, and what it adds to their sum: its bias. In double precision.
        """
        values, parts = values.double(), parts.double()
        zeros = torch.zeros_like(values)
        epsilon = next(float(getattr(self.module, name)) for name in ("eps", "variance_epsilon") if hasattr(self.module, name))
        if isinstance(self.module, nn.LayerNorm):
            spread = (values.var(unbiased=False) + epsilon).sqrt()
            gain = zeros + 1 if self.module.weight is None else self.module.weight.double()
            bias = zeros if self.module.bias is None else self.module.bias.double()
            return gain * (parts - parts.mean(-1, keepdim=True)) / spread, bias
        # What such a norm makes of ones is its gain, whether its weights are the gain itself or the gain less one.
        gain = self.module(torch.ones(1, 1, len(values)))[0, 0].double() * (1 + epsilon) ** 0.5
        return gain * parts / (values.square().mean() + epsilon).sqrt(), zeros


@dataclass(frozen=True, eq=False)
class Sublayer:
    """A sub-layer of a decoder.

    Attributes:
        path: `decoder.layers.0.self_attention`; its tap `output` has what it adds, before `after` and `factor`.
        weight, bias: of the map after the heads, [d_model, head · d_head]; None for a feed-forward network.
        after: the norm between its output and the stream, where there is one.
        factor: by which its output is multiplied, then.
        post: the norm of the sum (post-norm).
    """

    path: TensorPath
    weight: Float[Tensor, "d_model concatenated"] | None = None
    bias: Float[Tensor, " d_model"] | None = None
    after: Norm | None = None
    factor: float = 1.0
    post: Norm | None = None


@dataclass(frozen=True, eq=False)
class Readout:
    """How logits are read from the residual stream.

    Attributes:
        start: path of the stream before the first norm and layer.
        position: path of the vectors of the positions in that sum; empty where none are added.
        first: the norm of the start, where there is one.
        stream: paths of the stream where the first layer reads it, and after each layer.
        sublayers: those that may have run, in their order.
        final: the norm after the last layer, where there is one.
        smaller: a linear map without bias after it, to vectors of another width; None where there is none.
        weight, bias: of the output layer, a row and a number for each token.
        factor: by which the product with `weight` is multiplied.
        cap: the logits are squeezed to between −cap and cap, `cap · tanh(logit / cap)`; 0 where they are not.
    """

    start: str
    position: str
    first: Norm | None
    stream: tuple[str, ...]
    sublayers: tuple[Sublayer, ...]
    final: Norm | None
    weight: Float[Tensor, "vocab width"]
    bias: Float[Tensor, " vocab"] | None
    smaller: Float[Tensor, "width d_model"] | None = None
    factor: float = 1.0
    cap: float = 0.0

    def logits(self, stream: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position vocab"]:
        """The logits that are read from vectors of the stream, as after the last layer."""
        logits = self.uncapped(stream)
        return logits if not self.cap else self.cap * (logits / self.cap).tanh()

    def uncapped(self, stream: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position vocab"]:
        """The same before they are squeezed by `cap`."""
        read = stream if self.final is None else self.final.module(stream)
        read = read if self.smaller is None else nn.functional.linear(read, self.smaller)
        return nn.functional.linear(self.factor * read, self.weight, self.bias)

    def direction(self, token: int) -> tuple[Float[Tensor, " d_model"], float]:
        """The vector whose product with the stream (after the last norm) is the logit of a token, and the bias of it. In double
        precision."""
        row = self.weight[token].double()
        row = row if self.smaller is None else row @ self.smaller.double()
        return self.factor * row, 0.0 if self.bias is None else float(self.bias[token])


def readout_of(model: object) -> Readout:
    """The readout of our own network.

    Raises:
        InputError: not a Transformer.
    """
    if not isinstance(model, Transformer):
        raise InputError("The model must be a Transformer, not {model!r}.", model=model)
    config, sublayers, stream = model.config, [], ["target_embedding.sum"]
    for layer in range(config.decoder_layers):
        for name in SUBLAYERS["decoder"]:
            path = TensorPath("decoder", layer, name)
            output = model.get_submodule(str(path / "output_projection")) if path.kind else None
            assert output is None or isinstance(output, nn.Linear)
            sublayers.append(
                Sublayer(
                    path,
                    None if output is None else output.weight.detach(),
                    None if output is None or output.bias is None else output.bias.detach(),
                    post=None
                    if config.norm_first
                    else Norm(model.get_submodule(str(path.add_norm / "norm")), str(path.add_norm / "sum")),
                )
            )
        stream.append(str(sublayers[-1].path.add_norm / ("sum" if config.norm_first else "normalized")))
    return Readout(
        start=stream[0],
        position="target_embedding.position",
        first=None,
        stream=tuple(stream),
        sublayers=tuple(sublayers),
        final=Norm(model.decoder.norm, stream[-1]) if config.final_norm else None,
        weight=model.output_projection.weight.detach(),
        bias=model.output_projection.bias.detach(),
    )
