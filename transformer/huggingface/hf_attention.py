"""The attention function that `transformers` calls in place of its own. Each of its tensors passes through a tap, a named point
at which the tensor is recorded or changed.

It computes the same as the implementation called `eager`, in the same order, so its results are the same bit for bit. A model
that is built with `attn_implementation=NAME` calls it in every layer, with the module of that layer.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from transformer.network.masks import Mask, attention_softmax
from transformer.network.tap import MaskTap, Tap, Taps, watched

NAME = "headlight"
# Name of the attribute in which an attention module stores its taps.
TAPS = "headlight_taps"


class AttentionTaps:
    """The taps of one attention: the named points at which its tensors are recorded or changed.

    Args:
        taps: all taps of the model; the taps of this attention are added to them.
        path: path of the attention, such as `encoder.layers.0.self_attention`.
        heads: number of query heads.
        key_heads: number of key and value heads. If it is less than `heads`, each key and value head is shared by a group of
            query heads.
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


class Scores(NamedTuple):
    """Attention scores at one stage before the softmax, such as after scaling. A trace keeps queries, keys and weights, and
    computes the scores again when they are read, because scores of all stages would take three times the memory of the weights.

    Attributes:
        values: the scores of the forward pass, after all edits.
        again: a function that computes the scores again, bit for bit. It keeps no scores in memory, unless an edit has changed
            them.
    """

    values: Tensor
    again: Callable[[], Tensor]

    @classmethod
    def seen(cls, tap: Tap, values: Tensor, again: Callable[[], Tensor]) -> "Scores":
        """The scores `values` after they passed through `tap`, where edits may change them. `again` is a function that computes
        `values` again."""
        seen = tap(values, again)
        return cls(seen, again if seen is values else lambda: seen)

    def then(self, tap: Tap, function: Callable[[Tensor], Tensor]) -> "Scores":
        """The scores of the next stage: the result of `function` on these scores, after it passed through `tap`, where edits
        may change it."""
        before = self.again  # not `self`, which would keep the scores in memory
        return Scores.seen(tap, function(self.values), lambda: function(before()))


def add_tap(taps: Taps, path: str, tap: Tap) -> Tap:
    """Add `tap` to `taps`, all taps of a model, under the name `path`, and return `tap`."""
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
    """The outputs of the heads, [batch, query, head, d_head], and the attention weights, [batch, head, query, key].

    Args:
        module: the attention module of a layer.
        query: [batch, head, query, d_head], after rotary positions.
        key, value: [batch, key_head, key, d_head].
        attention_mask: added to the scores, [batch, 1, query, key]: the lowest number for a hidden key, 0 for any other. None
            if no key is hidden.
        scaling: the factor of the scores; None for 1/√d_head.
        position_bias: added to the scores, [1, head, query, key]; None to add nothing.
        softcap: the bound of the scores, which become `softcap · tanh(score / softcap)`; None for no bound.

    Other arguments are ignored: in evaluation mode there is no dropout, and sliding windows are part of the mask.
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

    def products() -> Tensor:
        return query @ _repeated(key, query).mT

    scores = Scores.seen(taps.scores, products(), products)
    mask, factor = taps.mask(as_mask(attention_mask, key)), _scale(query, scaling)
    scores = scores.then(taps.scaled_scores, lambda before: before * factor)
    if softcap is not None:
        scores = scores.then(taps.capped_scores, lambda before: torch.tanh(before / softcap) * softcap)
    bias = None if position_bias is None else taps.position_bias(position_bias)

    def masked(scores: Tensor) -> Tensor:
        for added in (bias, attention_mask):
            scores = scores if added is None else scores + added
        # An edit may have hidden more keys, or changed the scores of hidden keys.
        return scores if mask.closed is None else scores.masked_fill(mask.closed, torch.finfo(scores.dtype).min)

    last = scores.then(taps.masked_scores, masked).values
    if mask.closed is None:
        weights = _softmax(last)
    else:
        weights = attention_softmax(last.masked_fill(mask.closed, -math.inf), may_be_empty=True)
    weights = taps.weights(weights)
    return taps.head_output(weights @ _repeated(value, query)).transpose(1, 2).contiguous(), weights


def as_mask(attention_mask: Tensor | None, key: Tensor) -> Mask:
    """The `Mask` for a mask that is added to the scores: True where `attention_mask` is 0, so that the query may attend to the
    key. Without a mask, True for all keys of `key`, [batch, key_head, key, d_head]."""
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
# Without a mask function of this name, masks would arrive as None, and queries would attend to padding.
AttentionMaskInterface.register(NAME, eager_mask)
