"""The texts about a stop (a tensor of the forward pass): its title, its heading, the reason for its step, and its formula."""

from collections.abc import Mapping
from string import Template
from typing import Any

from pages.ui.format import latex, number
from pages.ui.text import text
from transformer import TransformerConfig
from transformer.analysis.provenance import UNDESCRIBED
from transformer.analysis.walk import Stop
from transformer.tracing.paths import TensorPath


def group_title(group: str) -> str:
    """The title of a group of stops (tensors of the forward pass): "Encoder layer 1" for `encoder 1`."""
    words = text("walk")["groups"]
    name, _, layer = group.partition(" ")
    return words[f"{name}_layer"].format(layer=layer) if layer else words[name]


def title(stop: Stop) -> str:
    """The title of a stop (a tensor of the forward pass): the title of its kind of tensor, or if its kind has no title, the
    name of the tensor."""
    words = text("walk")
    if stop.recorded or stop.operation in ("GELU", "swish"):
        other = words["others"].get(stop.kind, {}).get("title")
        if other:
            return other
    return words["kinds"][stop.kind]["title"] if stop.kind in words["kinds"] else TensorPath.parse(stop.path).name or stop.path


def heading(stop: Stop) -> str:
    """The full heading of a stop (a tensor of the forward pass): the title of its group, such as "Encoder layer 1", its part if
    it has one, and its own title."""
    words = text("walk")
    name = "heading_part" if stop.part else "heading"
    return words[name].format(group=group_title(stop.group), part=words["parts"].get(stop.part, ""), title=title(stop))


def written(stop: Stop, config: Any) -> tuple[str, str]:
    """A sentence about why a stop (a tensor) is computed, and its formula in LaTeX, for the variant of the Transformer in
    `config`. If the network is not our own, a text that is true for all such networks, and an empty formula."""
    if stop.recorded:
        return _of_others(stop), ""
    words: Mapping[str, str] = text("walk")["kinds"][stop.kind]
    variant = _variant(stop.kind, config)
    values = {
        "heads": config.heads,
        "d_head": config.d_head,
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "divisor": number(config.score_scale, 4),
        "fill": latex(config.mask_fill),
        "eps": latex(config.norm_eps, 3),
        "activation": config.activation,
        "bias_o": " + b^O" if config.output_bias else "",
        **{f"bias_{sign}": f" + b^{sign.upper()}" if config.projection_bias else "" for sign in "qkv"},
    }
    why, formula = (Template(words.get(f"{name}_{variant}", words[name])).substitute(values) for name in ("why", "formula"))
    return why, formula


def _of_others(stop: Stop) -> str:
    """A text about a tensor of a network that is not our own: its meaning, if its kind is known, and that it was recorded."""
    words = text("walk")
    known = words["others"].get(stop.kind, {}).get("why", "")
    elsewhere = words["made_elsewhere"] if stop.operation == UNDESCRIBED.operation else ""
    return " ".join(filter(None, (known, words["recorded"].format(path=stop.path), elsewhere)))


def _variant(kind: str, config: TransformerConfig) -> str:
    """The suffix of the texts about a kind of stop (a tensor) in the variant of `config`; empty for the common texts."""
    if kind.endswith((".projected", ".heads")):
        return config.head_projection
    variants: dict[str, Any] = {
        "target_mask": config.target_padding,
        "embedding.position": config.position,
        "attention.scaled_scores": "wide" if config.score_divisor == "d_model" else "",
        "add_norm.sum": "first" if config.norm_first else "",
        "add_norm.normalized": "first" if config.norm_first else "",
        "feed_forward.activated": "" if config.activation == "relu" else "smooth",
        "encoder.output": "norm" if config.final_norm else "",
        "decoder.output": "norm" if config.final_norm else "",
    }
    return variants.get(kind, "")
