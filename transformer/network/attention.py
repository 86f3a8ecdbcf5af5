"""Scaled dot-product attention with several heads (Vaswani et al. 2017, sections 3.2.1 and 3.2.2)."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.network.cache import AttentionCache
from transformer.network.config import TransformerConfig
from transformer.network.masks import Mask, attention_softmax
from transformer.network.tap import MaskTap, Tap


class PerHeadProjection(nn.Module):
    """A linear map `d_model → d_model` whose result is split into heads, so each head has its own rows of the matrix (Vaswani
    et al. 2017, section 3.2.2).

    Args:
        config: the model's configuration.
        axis: the name that the axis of positions gets in recorded tensors: `query` or `key`.
    """

    def __init__(self, config: TransformerConfig, axis: str) -> None:
        super().__init__()
        self.count = config.heads
        self.projection = nn.Linear(config.d_model, config.d_model, bias=config.projection_bias)

        # Taps: each names a tensor, and changes nothing.
        self.projected = Tap(f"batch {axis} d_model")
        self.heads = Tap(f"batch head {axis} d_head")

    def forward(
        self, x: Float[Tensor, "batch position d_model"], cache: AttentionCache | None = None
    ) -> Float[Tensor, "batch head length d_head"]:
        """The projected vectors of each head at the positions of `x`; with `cache`, at all positions in the cache."""
        projected = self.projected(cache.project(self.projection, x) if cache is not None else self.projection(x))
        batch, length, _ = projected.shape
        # batch position (head d_head) → batch head position d_head; a view, nothing is copied
        return self.heads(projected.view(batch, length, self.count, -1).transpose(1, 2))


class SharedProjection(nn.Module):
    """Splits each vector into heads, then applies one linear map `d_head → d_head` to all heads. This needs far fewer
    parameters than `PerHeadProjection`, and the heads differ only in the slice of the vector that they read.

    Args:
        config: the model's configuration.
        axis: the name that the axis of positions gets in recorded tensors: `query` or `key`.
    """

    def __init__(self, config: TransformerConfig, axis: str) -> None:
        super().__init__()
        self.count = config.heads
        self.projection = nn.Linear(config.d_head, config.d_head, bias=config.projection_bias)

        # Taps: each names a tensor, and changes nothing.
        self.split = Tap(f"batch {axis} head d_head")
        self.projected = Tap(f"batch {axis} head d_head")
        self.heads = Tap(f"batch head {axis} d_head")

    def forward(
        self, x: Float[Tensor, "batch position d_model"], cache: AttentionCache | None = None
    ) -> Float[Tensor, "batch head length d_head"]:
        """The projected vectors of each head at the positions of `x`; with `cache`, at all positions in the cache."""
        split = self.split(x.unflatten(-1, (self.count, -1)))
        projected = self.projected(cache.project(self.projection, split) if cache is not None else self.projection(split))
        return self.heads(projected.transpose(1, 2))


PROJECTIONS = {"per_head": PerHeadProjection, "shared": SharedProjection}


class MultiHeadAttention(nn.Module):
    """Multi-head attention. Each query gets a weighted average of the values; keys that match it better get larger weights:

        weights = softmax(Q Kᵀ / √d_head)        output = concat(weights V) W_O

    `forward` computes self-attention if its `memory` is `x` itself, and cross-attention if it is the encoder's output. With
    `cache`, self-attention also uses the keys and values of earlier calls, and cross-attention only those of the first call.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        projection = PROJECTIONS[config.head_projection]
        # Each value belongs to the key at the same position, so the axis of the values is called `key` too.
        self.query, self.key, self.value = (projection(config, axis) for axis in ("query", "key", "key"))
        self.output_projection = nn.Linear(config.d_model, config.d_model, bias=config.output_bias)
        self.divisor, self.fill = config.score_scale, config.mask_fill
        self.mask_before_scaling = config.mask_before_scaling

        # Taps: each names a tensor, and changes nothing.
        self.mask = MaskTap()
        self.scores = Tap("batch head query key")
        self.scaled_scores = Tap("batch head query key")
        self.masked_scores = Tap("batch head query key")
        self.weights = Tap("batch head query key")
        self.head_output = Tap("batch head query d_head")
        self.concatenated = Tap("batch query d_model")
        self.output = Tap("batch query d_model")

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: Mask,
        cache: AttentionCache | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        query, key, value = self.query(x), self.key(memory, cache), self.value(memory, cache)
        scores = self.scores(query @ key.mT)
        mask = self.mask(mask)
        scores = self.scale(self.hide(scores, mask)) if self.mask_before_scaling else self.hide(self.scale(scores), mask)
        if mask.closed is not None:  # an edit may have made scores lower than the fill; a hidden key must still get no weight
            scores = scores.masked_fill(mask.closed, -math.inf)
        weights = self.weights(attention_softmax(scores, mask.may_be_empty))
        head_output = self.head_output(weights @ value)
        # batch head query d_head → batch query (head d_head)
        concatenated = self.concatenated(head_output.transpose(1, 2).flatten(2))
        return self.output(self.output_projection(concatenated))

    def scale(self, scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        """The scores divided by √d_head, or by √d_model if the configuration's `score_divisor` is `d_model`. A sum of d_head
        products has a standard deviation of about √d_head, so without the division softmax would saturate."""
        return self.scaled_scores(scores / self.divisor)

    def hide(self, scores: Float[Tensor, "batch head query key"], mask: Mask) -> Float[Tensor, "batch head query key"]:
        """The scores, with the configuration's `mask_fill` in place of every score that the mask hides."""
        if mask.hidden is not None:
            scores = torch.where(mask.hidden, self.fill, scores)
        return self.masked_scores(scores)
