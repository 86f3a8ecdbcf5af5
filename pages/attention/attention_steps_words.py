"""The words, formula, shape and source of each step of an attention."""

from collections.abc import Callable
from string import Template
from typing import Any

import streamlit as st

from pages.ui.format import latex, named_shape, number
from pages.ui.text import text
from transformer import TransformerConfig
from transformer.analysis.head_steps import AttentionStep
from transformer.network.attention import PROJECTIONS, MultiHeadAttention
from transformer.network.config import NetworkConfig
from transformer.network.layers import DecoderLayer, EncoderLayer
from transformer.network.masks import attention_softmax
from transformer.tracing.paths import Kind


def say(step: AttentionStep, config: NetworkConfig, kind: str, head: int) -> None:
    """Draw why attention needs a step, its formula and its shape. `kind` is `encoder`, `decoder` or `cross`; `head` is from
    0."""
    step_words = text("steps")["steps"][step.name]
    st.markdown(_why(step_words, step, config, kind))
    st.latex(_formula(step_words, step, config, kind, head))
    st.caption(_shape(step, head, config.heads))


def _why(step_words: dict[str, str], step: AttentionStep, config: NetworkConfig, kind: str) -> str:
    """A sentence on why attention needs this step. For networks other than our own, a sentence that is true for all of them."""
    if not isinstance(config, TransformerConfig):
        crossed = ("why_cross_other", "why_other", "why_cross", "why")
        names = crossed if kind == "cross" else ("why_other", "why")
        return next(step_words[name] for name in names if name in step_words)
    variants = {
        "why_cross": kind == "cross",
        "why_shared": config.head_projection == "shared",
        "why_wide": config.score_divisor == "d_model",
        "why_open": not step.hidden.any(),
    }
    return next((step_words[name] for name, fits in variants.items() if fits and name in step_words), step_words["why"])


def _formula(step_words: dict[str, str], step: AttentionStep, config: NetworkConfig, kind: str, head: int) -> str:
    """The formula with this variant's symbols. Scores are S, S′, S″ in the order in which the variant scales and masks them.
    For networks other than our own, a form that is true for all of them."""
    rows, columns = step.values.shape
    values = {"rows": rows, "columns": columns, "head": head + 1, "from": "M" if kind == "cross" else "X"}
    if not isinstance(config, TransformerConfig):
        template = Template(step_words.get("formula_other", step_words["formula"]))
        return template.substitute(values, bias="", fill=r"-\infty")
    shared = config.head_projection == "shared" and "formula_shared" in step_words
    letter = {"query": "Q", "key": "K", "value": "V", "output": "O"}.get(step.name)
    with_bias = config.output_bias if step.name == "output" else config.projection_bias
    own = "" if shared or step.name == "output" else f"_{{{head + 1}}}"
    first = (step.name == "masked_scores") == config.mask_before_scaling
    return Template(step_words["formula_shared" if shared else "formula"]).substitute(
        values,
        heads=r"\;".join(f"O_{{{index + 1}}}" for index in range(config.heads)),
        bias=f" + b^{letter}{own}" if with_bias else "",
        into="S" if first else "S'",
        out="S'" if first else "S''",
        width=rf"d_\text{{{config.score_divisor.removeprefix('d_')}}}",
        divisor=number(config.score_scale, 4),
        fill=latex(config.mask_fill),
    )


def _shape(step: AttentionStep, head: int, heads: int) -> str:
    """The named axes of the whole tensor, and which part of it is shown."""
    words, sizes = text("steps"), dict(step.whole)
    shown = [words["shown_item"].format(number=1)] if sizes.get("batch", 1) > 1 else []
    shown += [words["shown_head"].format(number=head + 1)] if "head" in sizes else []
    if "key_head" in sizes:
        shown.append(words["shown_group"].format(number=head * sizes["key_head"] // heads + 1, head=head + 1))
    axes = named_shape(list(sizes), list(sizes.values())).strip("[]")
    return words["shape"].format(axes=axes, shown=", ".join(shown) or words["shown_all"])


def source_of(name: str, config: TransformerConfig, kind: str) -> Callable[..., Any]:
    """The function that computes the step `name`, such as `scaled_scores`, in `encoder`, `decoder` or `cross` attention."""
    layer = EncoderLayer if Kind.of(kind).stack == "encoder" else DecoderLayer
    functions = {
        **dict.fromkeys(("input", "memory"), layer.forward),
        **dict.fromkeys(("query", "key", "value"), PROJECTIONS[config.head_projection].forward),
        "scaled_scores": MultiHeadAttention.scale,
        "masked_scores": MultiHeadAttention.hide,
        "weights": attention_softmax,
    }
    return functions.get(name, MultiHeadAttention.forward)
