"""Masks: which query may attend to which key. In a mask, True means "may attend"; in tensors named `hidden` or `closed`, True
means the opposite.

The three presets (`config.PRESETS`) differ in which padding of the target they hide and in the score of a hidden key. Both are
fields of the configuration (`target_padding`, `mask_fill`).
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.network.config import NetworkConfig, TransformerConfig


class Mask(NamedTuple):
    """An attention mask, with values that are computed from it once for all the layers that use it.

    Attributes:
        keep: True where a query may attend to a key. An axis of size 1 means "the same for all".
        hidden: the opposite of `keep`, or None if no key is hidden.
        may_be_empty: False only if every query has a key that is not hidden. If True, `attention_softmax` avoids NaN.
        closed: in a run with edits (`tap.Edit`), True where the weight must be 0 even if an edit changes the score; None in
            other runs.
    """

    keep: Bool[Tensor, "batch heads queries keys"]
    hidden: Bool[Tensor, "batch heads queries keys"] | None
    may_be_empty: bool
    closed: Bool[Tensor, "batch heads queries keys"] | None = None

    @classmethod
    def of(cls, keep: Bool[Tensor, "batch 1 queries keys"]) -> "Mask":
        """The Mask made from `keep`, a tensor that is True where a query may attend to a key."""
        if keep.all():
            return cls(keep, None, False)
        return cls(keep, ~keep, not keep.any(-1).all())

    def first(self) -> "Mask":
        """The mask of the first item of the batch, with batch size 1. It broadcasts to any number of copies of that item."""
        return self._replace(keep=self.keep[:1], hidden=None if self.hidden is None else self.hidden[:1])

    def edited(self, keep: Bool[Tensor, "batch heads queries keys"]) -> "Mask":
        """The mask for a run with edits (`tap.Edit`), which may hide more keys and may change the scores.

        A hidden key gets the weight 0, whatever its score is (`closed`). There is one exception: a query whose keys are all
        hidden even before the edits. It attends to no key if `mask_fill` is −∞, and equally to all keys if `mask_fill` is a
        finite number.

        Args:
            keep: `self.keep` after the edits.
        """
        return Mask(keep, ~keep, True, ~keep & self.keep.any(-1, keepdim=True))


def padding_keys(ids: Int[Tensor, "batch key"], pad: int) -> Bool[Tensor, "batch 1 1 key"]:
    """True for every key that is not padding (`pad`). The mask is the same for each head and each query."""
    return (ids != pad)[:, None, None, :]


def padding_queries(ids: Int[Tensor, "batch query"], pad: int) -> Bool[Tensor, "batch 1 query 1"]:
    """True for every query that is not padding (`pad`). The mask hides all keys of a padded query, instead of padded keys."""
    return (ids != pad)[:, None, :, None]


def causal(length: int, first: int = 0) -> Bool[Tensor, "1 1 query length"]:
    """The causal mask, True on and below the diagonal: a position attends to itself and to earlier positions.

    Args:
        length: number of positions. All of them are keys.
        first: the first position that is also a query, counted from 0.
    """
    return torch.ones(length - first, length, dtype=torch.bool).tril(first)[None, None]


def source_mask(ids: Int[Tensor, "batch source"], config: TransformerConfig) -> Bool[Tensor, "batch 1 1 source"]:
    """True for the source tokens that the encoder and cross-attention may attend to: all tokens except padding."""
    return padding_keys(ids, config.source_pad)


def target_mask(
    ids: Int[Tensor, "batch target"], config: TransformerConfig, first: int = 0
) -> Bool[Tensor, "batch 1 query target"]:
    """True where a query of the decoder's self-attention may attend to a key: to no later key, and to padding according to
    `config.target_padding`.

    Args:
        ids: the decoder's input.
        config: the model's configuration.
        first: the first position that is a query, counted from 0. The decoder read those before it in earlier steps.
    """
    batch, length = ids.shape
    mask = causal(length, first).to(ids.device)
    if config.target_padding == "queries":
        return mask & padding_queries(ids[:, first:], config.target_pad)
    if config.target_padding == "keys":
        return mask & padding_keys(ids, config.target_pad)
    return mask.expand(batch, -1, -1, -1)


def attention_softmax(
    scores: Float[Tensor, "batch head query key"], may_be_empty: bool
) -> Float[Tensor, "batch head query key"]:
    """Softmax over the keys. With `may_be_empty`, a row in which every score is −∞ becomes zeros; softmax alone returns NaN.

    The scores of such a row are also set to 0 *before* the softmax, because the gradient of a NaN is NaN, even if the NaN
    itself is replaced afterwards.
    """
    if not may_be_empty:
        return scores.softmax(-1)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)


# --- which keys were hidden in a run ---------------------------------------------------------------------------------------


def last_scores(config: NetworkConfig) -> str:
    """The tap whose scores softmax reads: `masked_scores`, or `scaled_scores` if the model scales scores after masking them."""
    return "scaled_scores" if config.mask_before_scaling else "masked_scores"


def hidden_keys(
    keep: Bool[Tensor, "batch heads queries key"], scores: Float[Tensor, "batch head query key"]
) -> Bool[Tensor, "batch head query key"]:
    """True where a query may not attend to a key, because the mask hides the key or an edit has set the score to −∞.

    Args:
        keep: the mask that the attention used, True where a query may attend to a key.
        scores: the scores that softmax read.
    """
    return ~keep | (scores == -math.inf)
