"""What a stop of the walk is called, what it looks like, and what is written about it."""

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

import numpy as np

from pages.ui.format import latex, number, shape
from pages.ui.text import text
from transformer import Trace, TransformerConfig
from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import Stop
from transformer.figures import KIND_COLORS, panels
from transformer.figures.panels import Scale, TensorView, panel
from transformer.pipeline.pipeline import Pipeline
from transformer.tracing.paths import SIDES, TensorPath
from transformer.tracing.trace import Step

# Where input and result hold the same kind of number, so one scale of colours serves both.
COMPARABLE = ("add", "multiply", "divide", "hide", "split", "swap axes", "split and swap axes", "join", "LayerNorm", "ReLU")
SHARES = ("weights", "probabilities")
MASKS = ("source_mask", "target_mask")


def group_title(group: str) -> str:
    """`encoder 1` → "Encoder layer 1"."""
    words = text("walk")["groups"]
    name, _, layer = group.partition(" ")
    return words[f"{name}_layer"].format(layer=layer) if layer else words[name]


def title(stop: Stop) -> str:
    return text("walk")["kinds"][stop.kind]["title"]


def heading(stop: Stop) -> str:
    """Where a stop is and what it is, in full."""
    words = text("walk")
    name = "heading_part" if stop.part else "heading"
    return words[name].format(group=group_title(stop.group), part=words["parts"].get(stop.part, ""), title=title(stop))


def hidden(trace: Trace, stop: Stop) -> np.ndarray | None:
    """True where a mask hides a number of the scores or weights of an attention; None where nothing is hidden."""
    later = ("masked_scores", "weights", *(["scaled_scores"] if trace.config.mask_before_scaling else []))
    name = stop.kind.removeprefix("attention.")
    if name == stop.kind or name not in later:
        return None
    masked = trace.hidden(TensorPath.parse(stop.path).owner).numpy()
    return masked if masked.any() else None


def tokens(trace: Trace, path: str, item: int) -> dict[str, Sequence[str]]:
    """The tokens that stand on each axis of a tensor."""
    place = TensorPath.parse(path)
    by_axis: dict[str, Sequence[str]] = {side: rows[item] for side in SIDES if (rows := trace.tokens_of(side))}
    if place.kind is not None:
        by_axis["query"], by_axis["key"] = trace.tokens(place.kind, item)
    return by_axis | {"position": by_axis[place.side]}


def drawn(pipeline: Pipeline, trace: Trace, stop: Stop, item: int, head: int | None) -> TensorView:
    """A stop as it is drawn: one text of the batch, one head or all (None)."""
    step = trace[stop.path]
    shown = panel(step.numpy(), step.axes, _scale(stop), item, head, hidden(trace, stop))
    color = KIND_COLORS["encoder" if stop.path == "source_mask" else "decoder"]
    found = tokens(trace, stop.path, item)
    if step.axes[-1] == "vocab":
        found["vocab"] = pipeline.target_vocabulary.tokens
    return TensorView(stop.path, title(stop), shape(stop.shape), shown, shown.limit, color, found)


def drawn_ids(trace: Trace, path: str, item: int) -> TensorView:
    """The ids of one side, which are no tensor of the trace."""
    side, words = ("source" if path == SOURCE_IDS else "target"), text("walk")
    rows, ids = trace.tokens_of(side), np.array(trace.ids_of(side))
    shown = panel(ids, ("batch", side), "ids", item)
    # Raw ids are their own tokens: written in the cells, they need not stand beside them too.
    raw = all(token == str(at) for token, at in zip(rows[item], ids[item], strict=True))
    return TensorView(path, words["given_ids"], shape(ids.shape), shown, shown.limit, "", {} if raw else {side: rows[item]})


def inputs(
    pipeline: Pipeline, trace: Trace, stops: Mapping[str, Stop], stop: Stop, item: int, head: int | None
) -> list[TensorView]:
    """What a stop was made of, as it is drawn."""
    return [
        drawn_ids(trace, path, item) if path in (SOURCE_IDS, TARGET_IDS) else drawn(pipeline, trace, stops[path], item, head)
        for path in stop.inputs
    ]


def in_one_scale(stop: Stop, found: Sequence[TensorView]) -> list[TensorView]:
    """Inputs and result with the same colours for the same numbers, where they are of the same kind."""
    if stop.operation not in COMPARABLE:
        return list(found)
    return panels.in_one_scale(found)


def written(stop: Stop, config: TransformerConfig) -> tuple[str, str]:
    """Why the step exists, and its formula, as this variant has them."""
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
        "bias_o": " + b^O" if config.output_bias else "",
        **{f"bias_{sign}": f" + b^{sign.upper()}" if config.projection_bias else "" for sign in "qkv"},
    }
    why, formula = (Template(words.get(f"{name}_{variant}", words[name])).substitute(values) for name in ("why", "formula"))
    return why, formula


def _variant(kind: str, config: TransformerConfig) -> str:
    """Which of several ways of writing about a kind fits this variant."""
    if kind.endswith((".projected", ".heads")):
        return config.head_projection
    found: dict[str, Any] = {
        "target_mask": config.target_padding,
        "embedding.position": config.position,
        "attention.scaled_scores": "wide" if config.score_divisor == "d_model" else "",
        "add_norm.sum": "first" if config.norm_first else "",
        "add_norm.normalized": "first" if config.norm_first else "",
        "encoder.output": "norm" if config.final_norm else "",
        "decoder.output": "norm" if config.final_norm else "",
    }
    return found.get(kind, "")


def _scale(stop: Stop) -> Scale:
    if stop.kind in MASKS:
        return "mask"
    return "weights" if TensorPath.parse(stop.path).last in SHARES else "signed"


def statistics(step: Step, hidden: np.ndarray | None) -> tuple[tuple[float, ...], int]:
    """Minimum, maximum, mean and standard deviation over what no mask hides, and how many numbers that are."""
    values = step.numpy()
    seen = values if hidden is None else values[~hidden]
    if not seen.size:
        return (float("nan"),) * 4, 0
    seen = seen.astype(np.float64)
    return (float(seen.min()), float(seen.max()), float(seen.mean()), float(seen.std())), seen.size
