"""Sub-layers, and the encoder and decoder layers built from them (Vaswani et al. 2017, section 3.1 and figure 1)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.network.attention import MultiHeadAttention
from transformer.network.cache import KeyValueCache
from transformer.network.config import TransformerConfig
from transformer.network.masks import Mask
from transformer.network.tap import Tap

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": nn.functional.gelu,
    "swish": nn.functional.silu,
}


class Dropout(nn.Dropout):
    """`nn.Dropout` that returns its input itself in evaluation mode or if `p` is 0. Without this shortcut, dropout that drops
    nothing would take 5 % of a small model's forward pass."""

    def __call__(self, values: Tensor) -> Tensor:
        return super().__call__(values) if self.training and self.p else values


class FeedForward(nn.Module):
    """The same two-layer network at every position (Vaswani et al. 2017, section 3.3): `max(0, x W₁ + b₁) W₂ + b₂`, or with
    another activation (`config.activation`) in place of `max(0, …)`.

    Args:
        config: the model's configuration.
        axis: the name of the length axis: `source` or `target`.
    """

    def __init__(self, config: TransformerConfig, axis: str) -> None:
        super().__init__()
        self.up_projection = nn.Linear(config.d_model, config.d_ff)
        self.down_projection = nn.Linear(config.d_ff, config.d_model)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = Dropout(config.dropout if config.ff_dropout else 0.0)

        # Taps: each names a tensor, and changes nothing.
        self.hidden = Tap(f"batch {axis} d_ff")
        self.activated = Tap(f"batch {axis} d_ff")
        self.output = Tap(f"batch {axis} d_model")

    def forward(self, x: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position d_model"]:
        hidden = self.hidden(self.up_projection(x))
        activated = self.activated(self.activation(hidden))
        return self.output(self.down_projection(self.dropout(activated)))


class AddNorm(nn.Module):
    """A residual connection around a sub-layer, and a LayerNorm (Vaswani et al. 2017, section 3.1):

        post-norm: norm(x + sublayer(x))         pre-norm: x + sublayer(norm(x))

    Args:
        config: the model's configuration.
        axis: the name of the length axis: `source` or `target`.
    """

    def __init__(self, config: TransformerConfig, axis: str) -> None:
        super().__init__()
        self.norm_first = config.norm_first
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        self.sublayer_dropout, self.norm_dropout = (
            Dropout(config.dropout if config.dropout_on == place else 0.0) for place in ("sublayer", "norm")
        )

        # Taps: each names a tensor, and changes nothing.
        self.sum = Tap(f"batch {axis} d_model")
        self.normalized = Tap(f"batch {axis} d_model")

    def forward(
        self, x: Float[Tensor, "batch position d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch position d_model"]:
        if self.norm_first:
            return self.sum(x + self.sublayer_dropout(sublayer(self.normalize(x))))
        return self.normalize(self.sum(x + self.sublayer_dropout(sublayer(x))))

    def normalize(self, x: Float[Tensor, "batch position d_model"]) -> Float[Tensor, "batch position d_model"]:
        return self.norm_dropout(self.normalized(self.norm(x)))


class EncoderLayer(nn.Module):
    """Self-attention over the source, then the feed-forward network, each with a residual connection and a LayerNorm."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_attention_add_norm = AddNorm(config, "source")
        self.feed_forward = FeedForward(config, "source")
        self.feed_forward_add_norm = AddNorm(config, "source")

    def forward(self, x: Float[Tensor, "batch source d_model"], source_mask: Mask) -> Float[Tensor, "batch source d_model"]:
        x = self.self_attention_add_norm(x, lambda x: self.self_attention(x, x, source_mask))
        return self.feed_forward_add_norm(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention over the target, cross-attention to the encoder's output, then the feed-forward network, each with
    a residual connection and a LayerNorm. Without `memory` or `source_mask`, `forward` skips the cross-attention."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(config)
        self.self_attention_add_norm = AddNorm(config, "target")
        self.cross_attention = MultiHeadAttention(config)
        self.cross_attention_add_norm = AddNorm(config, "target")
        self.feed_forward = FeedForward(config, "target")
        self.feed_forward_add_norm = AddNorm(config, "target")

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"] | None,
        target_mask: Mask,
        source_mask: Mask | None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        own, others = (cache.target, cache.memory) if cache else (None, None)
        x = self.self_attention_add_norm(x, lambda x: self.self_attention(x, x, target_mask, own))
        if memory is not None and source_mask is not None:
            x = self.cross_attention_add_norm(x, lambda x: self.cross_attention(x, memory, source_mask, others))
        return self.feed_forward_add_norm(x, self.feed_forward)
