"""The parts of a mask, and three ways to lay one on the same scores.

The three texts this library reproduces hide scores in different ways (`vanilla`, `pytorch`, `shared_heads`). Each is a set of
four fields of the configuration; here all three are laid on the scores of one model, with the lines that the network itself
runs, so that they can be compared number by number.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.network.attention import MultiHeadAttention
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.masks import Mask, attention_softmax, causal, padding_keys, padding_queries, source_mask, target_mask
from transformer.tracing.paths import Kind, Side

# What a convention decides; everything else stays as the model at hand has it.
FIELDS = ("target_padding", "mask_fill", "mask_before_scaling", "score_divisor")
# The text that is written the other way round: True there says "ignore".
TRUE_HIDES = ("pytorch",)
PADDINGS = {"queries": padding_queries, "keys": padding_keys}


class TargetMasks(NamedTuple):
    """The mask of a target, taken apart; True = may attend. Sizes of 1 stand for "the same for all".

    Attributes:
        padding: what padding alone hides; None where the variant leaves it to the causal mask.
        causal: what comes later.
        combined: what the decoder uses: both.
    """

    padding: Bool[Tensor, "batch 1 rows columns"] | None
    causal: Bool[Tensor, "1 1 target target"]
    combined: Bool[Tensor, "batch 1 target target"]


def target_masks(ids: Int[Tensor, "batch target"], config: TransformerConfig) -> TargetMasks:
    """The parts of the target mask of a batch, as the variant of `config` makes them."""
    padding = PADDINGS[config.target_padding](ids, config.target_pad) if config.target_padding in PADDINGS else None
    return TargetMasks(padding, causal(ids.shape[1]), target_mask(ids, config))


@dataclass(frozen=True, eq=False)
class Convention:
    """One way to hide scores, laid on the scores of one head.

    Attributes:
        name: the preset whose way it is.
        config: the model's own, with the four fields of the convention in place.
        keep: True where a query may attend, as everywhere in this project.
        true_means: what True says in the text the convention comes from.
        before: the scores as they are when the mask meets them: already divided, or not yet.
        masked: the scores that softmax gets: hidden and divided.
        weights: what softmax makes of them.
    """

    name: str
    config: TransformerConfig
    keep: Bool[Tensor, "query key"]
    true_means: Literal["keep", "ignore"]
    before: Float[Tensor, "query key"]
    masked: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]

    @property
    def written(self) -> Bool[Tensor, "query key"]:
        """The mask with its Trues and Falses as that text writes them."""
        return self.keep if self.true_means == "keep" else ~self.keep

    @property
    def empty(self) -> Bool[Tensor, " query"]:
        """True for a query that may look nowhere."""
        return ~self.keep.any(-1)


def conventions(
    scores: Float[Tensor, "query key"],
    ids: Int[Tensor, " key"],
    kind: str,
    config: TransformerConfig,
) -> tuple[Convention, ...]:
    """Every convention on the same scores.

    Args:
        scores: query · key of one head, neither divided nor masked: the tap `scores`.
        ids: of the tokens that are looked at: of the target for `decoder`, else of the source.
        kind: `encoder`, `decoder` or `cross`.
        config: of the model the scores come from.

    Raises:
        InputError: no such kind of attention.
    """
    side = Kind.of(kind).keys
    return tuple(_laid(name, scores, ids, side, config) for name in PRESETS)


@torch.inference_mode()
def _laid(
    name: str, scores: Float[Tensor, "query key"], ids: Int[Tensor, " key"], side: Side, config: TransformerConfig
) -> Convention:
    preset = TransformerConfig.preset(name)
    variant = config.replace(**{field: getattr(preset, field) for field in FIELDS})
    mask = Mask.of(target_mask(ids[None], variant) if side == "target" else source_mask(ids[None], variant))
    # On no device: its maps are not needed, only its `scale` and `hide`, which are those of every model here.
    with torch.device("meta"):
        attention = MultiHeadAttention(variant)
    before = scores[None, None] if variant.mask_before_scaling else attention.scale(scores[None, None])
    hidden = attention.hide(before, mask)
    masked = attention.scale(hidden) if variant.mask_before_scaling else hidden
    weights = attention_softmax(masked, mask.may_be_empty)
    keep = mask.keep[0, 0].expand(scores.shape)
    true_means = "ignore" if name in TRUE_HIDES else "keep"
    return Convention(name, variant, keep, true_means, before[0, 0], masked[0, 0], weights[0, 0])


class EmptyRow(NamedTuple):
    """A query from which every key is hidden.

    Attributes:
        fill: what its scores became.
        plain: what torch's softmax alone makes of them.
        ours: what this project makes of them.
        plain_output, ours_output: what a head then hands on: the values of the keys in those proportions.
    """

    fill: float
    plain: Float[Tensor, " key"]
    ours: Float[Tensor, " key"]
    plain_output: Float[Tensor, " d_head"]
    ours_output: Float[Tensor, " d_head"]


@torch.inference_mode()
def empty_row(scores: Float[Tensor, " key"], values: Float[Tensor, "key d_head"], fill: float) -> EmptyRow:
    """Hide every key from one query, and see what becomes of it.

    Args:
        scores: of one query; none of them survives.
        values: of the keys, in one head.
        fill: what hidden scores become.
    """
    hidden = torch.full_like(scores, fill)
    plain, ours = hidden.softmax(-1), attention_softmax(hidden[None, None, None], may_be_empty=True)[0, 0, 0]
    return EmptyRow(fill, plain, ours, plain @ values, ours @ values)
