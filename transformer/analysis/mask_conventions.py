"""The parts of a target mask, and three mask conventions applied to the same scores.

The three implementations that this library reproduces (`vanilla`, `pytorch`, `shared_heads`) hide scores in different ways.
Each way, called a convention, is a set of values for four fields of the configuration. The functions of this module apply all
three to the scores of one model, with the code of the network itself, so that the results can be compared number by number.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.analysis.checks import check_id_tensor, check_tensor
from transformer.errors import InputError
from transformer.network.attention import MultiHeadAttention
from transformer.network.config import PRESETS, TransformerConfig, check_config
from transformer.network.masks import Mask, attention_softmax, causal, padding_keys, padding_queries, source_mask, target_mask
from transformer.tracing.paths import Kind, Side

# The fields of the configuration that define a convention. The other fields keep the values of the model.
FIELDS = ("target_padding", "mask_fill", "mask_before_scaling", "score_divisor")
# Presets whose original masks are inverted: True means "ignore" in them.
TRUE_HIDES = ("pytorch",)
PADDINGS = {"queries": padding_queries, "keys": padding_keys}


class TargetMasks(NamedTuple):
    """The mask of the decoder's self-attention, and its two parts; True = may attend. An axis of size 1 means "the same for
    all".

    Attributes:
        padding: False where padding hides a query or a key; None if the configuration has only the causal mask.
        causal: False for keys after the query.
        combined: the mask that the decoder uses: True where `padding` (if not None) and `causal` are True.
    """

    padding: Bool[Tensor, "batch 1 rows columns"] | None
    causal: Bool[Tensor, "1 1 target target"]
    combined: Bool[Tensor, "batch 1 target target"]


def target_masks(ids: Int[Tensor, "batch target"], config: TransformerConfig) -> TargetMasks:
    """The mask of the decoder's self-attention for a batch of target ids, and its parts, as a model with this configuration
    computes them.

    Raises:
        ConfigError: `config` is not a TransformerConfig.
        InputError: `ids` is not a tensor of ids with the axes batch and target.
    """
    check_config(config)
    check_id_tensor("ids", ids, "batch target")
    padding = PADDINGS[config.target_padding](ids, config.target_pad) if config.target_padding in PADDINGS else None
    return TargetMasks(padding, causal(ids.shape[1]), target_mask(ids, config))


@dataclass(frozen=True, eq=False)
class Convention:
    """One mask convention (how an implementation hides scores), applied to the scores of one head.

    Attributes:
        name: name of the preset that has this convention: `vanilla`, `pytorch` or `shared_heads`.
        config: the configuration of the model, with the convention's values of `target_padding`, `mask_fill`,
            `mask_before_scaling` and `score_divisor`.
        keep: True where a query may attend to a key.
        true_means: what True means in the mask of the original implementation.
        before: the scores before the mask; already scaled if the convention scales before it masks.
        masked: the scores that softmax reads: masked and scaled.
        weights: the attention weights, the output of softmax.
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
        """The mask as the original implementation writes it: `keep`, or its opposite if `true_means` is `ignore`."""
        return self.keep if self.true_means == "keep" else ~self.keep

    @property
    def empty(self) -> Bool[Tensor, " query"]:
        """True for each query that may attend to no key."""
        return ~self.keep.any(-1)


def conventions(
    scores: Float[Tensor, "query key"],
    ids: Int[Tensor, " key"],
    kind: str,
    config: TransformerConfig,
) -> tuple[Convention, ...]:
    """The mask conventions of the presets `vanilla`, `pytorch` and `shared_heads`, each applied to the same scores.

    Args:
        scores: query · key of one head, neither scaled nor masked: the tensor `scores` of a trace.
        ids: token ids of the keys: of the target for `decoder`, else of the source.
        kind: the kind of attention: `encoder`, `decoder` or `cross`.
        config: configuration of the model that computed the scores.

    Raises:
        InputError: there is no such kind of attention; the scores or the ids are not tensors with the axes above; their numbers
            of keys differ; or the scores of `decoder` have different numbers of queries and keys.
        ConfigError: `config` is not a TransformerConfig.
    """
    side = Kind.of(kind).keys
    check_config(config)
    check_tensor("scores", scores, "query key")
    check_id_tensor("ids", ids, "key")
    queries, keys = scores.shape
    if len(ids) != keys:
        raise InputError("There are {ids} ids and {keys} keys in the scores; each key needs one id.", ids=len(ids), keys=keys)
    if side == "target" and queries != keys:
        template = "Self-attention has as many queries as keys; these scores have {queries} queries and {keys} keys."
        raise InputError(template, queries=queries, keys=keys)
    return tuple(_applied(name, scores, ids, side, config) for name in PRESETS)


@torch.inference_mode()
def _applied(
    name: str, scores: Float[Tensor, "query key"], ids: Int[Tensor, " key"], side: Side, config: TransformerConfig
) -> Convention:
    preset = TransformerConfig.preset(name)
    variant = config.replace(**{field: getattr(preset, field) for field in FIELDS})
    mask = Mask.of(target_mask(ids[None], variant) if side == "target" else source_mask(ids[None], variant))
    # The module gets no memory for its weights, because only its methods `scale` and `hide` are used.
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
    """The attention weights and the output of a query whose keys are all hidden, computed with two softmax functions.

    Attributes:
        fill: the number that replaces the hidden scores.
        plain: the weights that torch's softmax returns: NaN for the fill −∞.
        ours: the weights that `attention_softmax` of this library returns: zeros for the fill −∞.
        plain_output, ours_output: the head's output with the weights `plain`, and with the weights `ours`.
    """

    fill: float
    plain: Float[Tensor, " key"]
    ours: Float[Tensor, " key"]
    plain_output: Float[Tensor, " d_head"]
    ours_output: Float[Tensor, " d_head"]


@torch.inference_mode()
def empty_row(scores: Float[Tensor, " key"], values: Float[Tensor, "key d_head"], fill: float) -> EmptyRow:
    """The attention weights and the output of a query whose keys are all hidden, by torch's softmax and by this library's.

    Args:
        scores: scores of one query. Only their number and their dtype are used.
        values: the values of one head, one for each key.
        fill: the number that replaces a hidden score.

    Raises:
        InputError: the scores or the values are not tensors with the axes above, their numbers of keys differ, or `fill` is not
            a number.
    """
    check_tensor("scores", scores, "key")
    check_tensor("values", values, "key d_head")
    if len(scores) != len(values):
        template = "There are {scores} scores and {values} values; each key has one of each."
        raise InputError(template, scores=len(scores), values=len(values))
    if isinstance(fill, bool) or not isinstance(fill, Real) or fill != fill:
        raise InputError("fill is {fill!r}; it must be a number, such as -10000.0, or -inf.", fill=fill)
    hidden = torch.full_like(scores, fill)
    plain, ours = hidden.softmax(-1), attention_softmax(hidden[None, None, None], may_be_empty=True)[0, 0, 0]
    outputs = [weights @ values.to(weights.dtype) for weights in (plain, ours)]
    return EmptyRow(fill, plain, ours, *outputs)
