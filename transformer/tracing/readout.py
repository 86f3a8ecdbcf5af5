"""`Readout`: how a decoder computes logits from its residual stream, and which tensors it adds to that stream.

The logit lens and the contributions to a logit need only the readout of a network, so they work for every network that has a
readout. `readout_of` returns the readout of a `Transformer`, and `transformer.huggingface.hf_readout` that of a Hugging Face
model.
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
    """A norm that the residual stream passes through.

    Attributes:
        module: a LayerNorm, or a norm that does not subtract the mean (RMSNorm).
        reads: path of the tensor that the norm reads.
    """

    module: nn.Module
    reads: str

    def held(
        self, values: Float[Tensor, " d_model"], parts: Float[Tensor, "part d_model"]
    ) -> tuple[Float[Tensor, "part d_model"], Float[Tensor, " d_model"]]:
        """The norm of each part of a sum, with the divisor of the whole sum: its standard deviation, or for an RMSNorm its root
        mean square. With this divisor held fixed, the norm is linear.

        Args:
            values: the whole sum, which determines the divisor.
            parts: the parts that the norm is applied to.

        Returns:
            The parts after the norm, and the norm's bias, which the norm adds to the sum of the parts. Both are in double
            precision.
        """
        values, parts = values.double(), parts.double()
        zeros = torch.zeros_like(values)
        epsilon = next(float(getattr(self.module, name)) for name in ("eps", "variance_epsilon") if hasattr(self.module, name))
        if isinstance(self.module, nn.LayerNorm):
            spread = (values.var(unbiased=False) + epsilon).sqrt()
            gain = zeros + 1 if self.module.weight is None else self.module.weight.double()
            bias = zeros if self.module.bias is None else self.module.bias.double()
            return gain * (parts - parts.mean(-1, keepdim=True)) / spread, bias
        # An RMSNorm's weights are the gain itself, or the gain minus one. In both cases, the norm's output for a vector of ones
        # shows the gain.
        gain = self.module(torch.ones(1, 1, len(values)))[0, 0].double() * (1 + epsilon) ** 0.5
        return gain * parts / (values.square().mean() + epsilon).sqrt(), zeros


@dataclass(frozen=True, eq=False)
class Sublayer:
    """A sub-layer of a decoder.

    Attributes:
        path: path of the sub-layer, such as `decoder.layers.0.self_attention`. Its tensor `output` is added to the residual
            stream, after `after` and `factor` are applied to it.
        weight, bias: weight [d_model, head · d_head] and bias of the output projection of an attention; None for a
            feed-forward network, and `bias` also if there is no bias.
        after: the norm between the sub-layer's output and the stream; None if there is no such norm.
        factor: the factor that the output is multiplied by, after the norm `after`.
        post: the norm that is applied to the residual sum (post-norm); None for pre-norm.
    """

    path: TensorPath
    weight: Float[Tensor, "d_model concatenated"] | None = None
    bias: Float[Tensor, " d_model"] | None = None
    after: Norm | None = None
    factor: float = 1.0
    post: Norm | None = None


@dataclass(frozen=True, eq=False)
class Readout:
    """How a decoder computes logits from its residual stream.

    Attributes:
        start: path of the stream's tensor before the first norm and layer.
        position: path of the vectors of the positions in `start`; empty if the network adds no position vectors.
        first: the norm that is applied to `start`; None if there is no such norm.
        stream: paths of the stream's tensors before the first layer and after each layer.
        sublayers: the decoder's sub-layers in the order in which they run. A decoder alone skips some of them.
        final: the norm after the last layer; None if there is no such norm.
        smaller: weight of a linear map without bias after the norm `final`, to vectors of another width; None if there is no
            such map.
        weight, bias: weight and bias of the output layer, with a row and a number for each token; `bias` is None if the layer
            has no bias.
        factor: the factor that the product with `weight` is multiplied by.
        cap: the logits are limited to between −cap and cap by `cap · tanh(logit / cap)`; 0 if they are not limited.
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

    @property
    def d_model(self) -> int:
        """The length of the vectors in the stream."""
        return (self.weight if self.smaller is None else self.smaller).shape[1]

    def logits(self, stream: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position vocab"]:
        """The logits that the network would compute if `stream` were the output of its last layer."""
        logits = self.uncapped(stream)
        return logits if not self.cap else self.cap * (logits / self.cap).tanh()

    def uncapped(self, stream: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position vocab"]:
        """The logits that the network would compute if `stream` were the output of its last layer, before the limit `cap`."""
        read = self.read(stream)
        read = read if self.smaller is None else nn.functional.linear(read, self.smaller)
        return nn.functional.linear(self.factor * read, self.weight, self.bias)

    def read(self, stream: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """The stream after the norm that follows the last layer; without such a norm, the stream itself."""
        return stream if self.final is None else self.final.module(stream)

    def direction(self, token: int) -> tuple[Float[Tensor, " d_model"], float]:
        """The vector and the bias, in double precision, that give the logit of `token` (an id). Before the limit `cap`, the
        logit is the dot product of the vector with the stream after the norm `final`, plus the bias."""
        row = self.weight[token].double()
        row = row if self.smaller is None else row @ self.smaller.double()
        return self.factor * row, 0.0 if self.bias is None else float(self.bias[token])


def readout_of(model: object) -> Readout:
    """The Readout of a model: how its decoder computes logits from the residual stream.

    Raises:
        InputError: `model` is not a `Transformer` of this project.
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
