"""Who may look at whom. Everywhere in this project, True means "may attend".

The three texts this library reproduces write the same masks in different ways; here there is one way, and the differences
are fields of the configuration (`target_padding`, `mask_fill`).
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.network.config import TransformerConfig


class Mask(NamedTuple):
    """A mask made ready once for all the layers that use it.

    Attributes:
        keep: True where a query may attend to a key; a size of 1 stands for "the same for all".
        hidden: its opposite, or None when nothing is hidden, so that nothing need be done.
        may_be_empty: some query may be left without any key, so softmax has to watch for it.
    """

    keep: Bool[Tensor, "batch 1 queries keys"]
    hidden: Bool[Tensor, "batch 1 queries keys"] | None
    may_be_empty: bool

    @classmethod
    def of(cls, keep: Bool[Tensor, "batch 1 queries keys"]) -> "Mask":
        """What `keep` says, with what follows from it."""
        if keep.all():
            return cls(keep, None, False)
        return cls(keep, ~keep, not keep.any(-1).all())


def padding_keys(ids: Int[Tensor, "batch key"], pad: int) -> Bool[Tensor, "batch 1 1 key"]:
    """True for every key that is a real token; the same for each head and each query."""
    return (ids != pad)[:, None, None, :]


def padding_queries(ids: Int[Tensor, "batch query"], pad: int) -> Bool[Tensor, "batch 1 query 1"]:
    """True for every query that is a real token: hides whole rows instead of columns."""
    return (ids != pad)[:, None, :, None]


def causal(length: int) -> Bool[Tensor, "1 1 length length"]:
    """True on and below the diagonal: a position sees itself and what came before (section 3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool).tril()[None, None]


def source_mask(ids: Int[Tensor, "batch source"], config: TransformerConfig) -> Bool[Tensor, "batch 1 1 source"]:
    """What may be looked at in the source, by the encoder and by cross-attention: everything but padding."""
    return padding_keys(ids, config.source_pad)


def target_mask(ids: Int[Tensor, "batch target"], config: TransformerConfig) -> Bool[Tensor, "batch 1 target target"]:
    """What the decoder may look at in its own input: nothing later, and padding as `config.target_padding` says."""
    batch, length = ids.shape
    mask = causal(length).to(ids.device)
    if config.target_padding == "queries":
        return mask & padding_queries(ids, config.target_pad)
    if config.target_padding == "keys":
        return mask & padding_keys(ids, config.target_pad)
    return mask.expand(batch, 1, length, length)


def attention_softmax(
    scores: Float[Tensor, "batch head query key"], may_be_empty: bool
) -> Float[Tensor, "batch head query key"]:
    """Softmax over the keys; a row in which every score is −∞ comes out as zeros, where softmax alone would give NaN.

    Such a row gets harmless scores *before* the softmax as well, because the gradient of a NaN is NaN even where the NaN
    itself is thrown away afterwards.
    """
    if not may_be_empty:
        return scores.softmax(-1)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)


# --- which scores are hidden -------------------------------------------------------------------------------------------


def last_scores(config: TransformerConfig) -> str:
    """The name of the tap whose scores softmax reads: which of masking and scaling comes last."""
    return "scaled_scores" if config.mask_before_scaling else "masked_scores"


def hidden_scores(scores: Float[Tensor, "*scores"], name: str, config: TransformerConfig) -> Bool[Tensor, "*scores"]:
    """True for the scores that let nobody look: those that a mask has filled, and −∞.

    Args:
        scores: of an attention, or some of them.
        name: of their tap: `scores`, `scaled_scores` or `masked_scores`.
        config: of the model.
    """
    fill = scores.new_tensor(config.mask_fill)
    if config.mask_before_scaling and name == "scaled_scores":
        fill = fill / scores.new_tensor(config.score_scale)  # what filled them has been divided since, as they were
    return (scores == fill) | (scores == -math.inf)
