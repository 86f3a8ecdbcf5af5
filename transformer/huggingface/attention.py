"""The attention function that `transformers` calls in place of its own, with a tap at each tensor.

It computes what the implementation called `eager` does, in the same order, so its results are the same bit for bit. A model
that is built with `attn_implementation=NAME` calls it in every layer, with the module of that layer.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from transformer.network.masks import Mask, attention_softmax
from transformer.network.tap import MaskTap, Tap, Taps, watched

NAME = "headlight"
# The attribute of an attention module that holds its taps, as our own attention holds its own.
TAPS = "headlight_taps"


class AttentionTaps:
    """The taps of one attention.

    Args:
        taps: of the model; these are added.
        path: of the attention, such as `encoder.layers.0.self_attention`.
        heads: of queries.
        key_heads: of keys and values; where there are fewer, each is shared by a group of query heads.
    """

    def __init__(self, taps: Taps, path: str, heads: int, key_heads: int) -> None:
        def tap(name: str, axes: str, count: int = heads) -> Tap:
            return add_tap(taps, f"{path}.{name}", Tap(axes, count))

        key_head = "head" if key_heads == heads else "key_head"
        self.query = tap("query.heads", "batch head query d_head")
        self.key = tap("key.heads", f"batch {key_head} key d_head", key_heads)
        self.value = tap("value.heads", f"batch {key_head} key d_head", key_heads)
        self.scores = tap("scores", "batch head query key")
        self.scaled_scores = tap("scaled_scores", "batch head query key")
        self.capped_scores = tap("capped_scores", "batch head query key")
        self.position_bias = tap("position_bias", "1 head query key")
        self.masked_scores = tap("masked_scores", "batch head query key")
        self.weights = tap("weights", "batch head query key")
        self.head_output = tap("head_output", "batch head query d_head")
        self.mask = MaskTap()
        self.mask.path, self.mask.taps = f"{path}.mask", taps
        taps.of_masks[self.mask.path] = self.mask


def add_tap(taps: Taps, path: str, tap: Tap) -> Tap:
    """The tap, under its path among those of the model."""
    tap.path, tap.taps = path, taps
    taps[path] = tap
    return tap


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """What the heads write, [batch, query, head, d_head], and the weights, [batch, head, query, key].

    Args:
        module: the attention of a layer.
        query: [batch, head, query, d_head], after rotary positions.
        key, value: [batch, key_head, key, d_head].
        attention_mask: added to the scores, [batch, 1, query, key]: 0, or the lowest number where a key is hidden. None where
            nothing is.
        scaling: scores are multiplied by it; 1/√d_head by default.
        position_bias: added to the scores, [1, head, query, key].
        softcap: scores are squeezed between this number and its negative.

    Other arguments do not matter here: models that are opened are in evaluation mode, and sliding windows are in the mask.
    """
    taps = getattr(module, TAPS, None)
    if taps is None or not watched():
        scores = query @ _repeated(key, query).mT * _scale(query, scaling)
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        for added in (position_bias, attention_mask):
            scores = scores if added is None else scores + added
        weights = _softmax(scores)
        return (weights @ _repeated(value, query)).transpose(1, 2).contiguous(), weights

    query, key, value = taps.query(query), taps.key(key), taps.value(value)
    scores = taps.scores(query @ _repeated(key, query).mT)
    mask = taps.mask(as_mask(attention_mask, key))
    scores = taps.scaled_scores(scores * _scale(query, scaling))
    if softcap is not None:
        scores = taps.capped_scores(torch.tanh(scores / softcap) * softcap)
    if position_bias is not None:
        scores = scores + taps.position_bias(position_bias)
    if attention_mask is not None:
        scores = scores + attention_mask
    if mask.closed is None:
        weights = _softmax(taps.masked_scores(scores))
    else:  # an edit may have hidden more keys, or moved the scores of hidden ones
        scores = taps.masked_scores(scores.masked_fill(mask.closed, torch.finfo(scores.dtype).min))
        weights = attention_softmax(scores.masked_fill(mask.closed, -math.inf), may_be_empty=True)
    weights = taps.weights(weights)
    return taps.head_output(weights @ _repeated(value, query)).transpose(1, 2).contiguous(), weights


def as_mask(attention_mask: Tensor | None, key: Tensor) -> Mask:
    """The mask that is added to scores as one of True and False."""
    if attention_mask is None:
        return Mask.of(torch.ones(1, 1, 1, key.shape[2], dtype=torch.bool))
    return Mask.of(attention_mask == 0)


def _scale(query: Tensor, scaling: float | None) -> float:
    return query.shape[-1] ** -0.5 if scaling is None else scaling


def _softmax(scores: Tensor) -> Tensor:
    return scores.softmax(-1, dtype=torch.float32).to(scores.dtype)


def _repeated(keys: Tensor, query: Tensor) -> Tensor:
    """Keys or values with as many heads as the query: each is repeated for the query heads that share it."""
    group = query.shape[1] // keys.shape[1]
    return keys if group == 1 else keys.repeat_interleave(group, dim=1)


AttentionInterface.register(NAME, attention)
# Without a mask function of this name, masks would arrive as None and padding would be seen.
AttentionMaskInterface.register(NAME, eager_mask)
