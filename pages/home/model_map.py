"""The whole model as a map, drawn from the model's configuration. Every block links to the page that shows it."""

import json
import math
from pathlib import Path
from typing import Any

import streamlit as st

from pages.home.map_elements import MapElements
from pages.home.map_results import results, run_key, stop
from pages.home.part_links import Link, sidebar_query
from pages.shell.view.joined_words import pick_words, say_joined
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui import component
from pages.ui.caches import RESULTS
from pages.ui.component import Element
from pages.ui.head_grid import row_words, weight_colors
from pages.ui.limits import MAP_BYTES
from pages.ui.link_values import kept_in_links
from pages.ui.pickers import pick_switch
from pages.ui.text import language, text
from transformer import Trace
from transformer.figures import KIND_COLORS
from transformer.figures.attention_figures import quantized
from transformer.figures.theme import LINE, MASKED
from transformer.network.config import NetworkConfig
from transformer.pipeline.pipeline import Side
from transformer.tracing.paths import TensorPath

# The key of the switch that numbers the blocks in the order of the data flow.
NUMBERED = "numbered"

_mount = component.mounted(Path(__file__).with_name("map"))


def show_map(view: View, trace: Trace) -> None:
    """Draw the heading, a switch that numbers the blocks, a switch that joins pieces to words, and the map of the view's model
    with the tokens of its first text (item 0 of the batch)."""
    words = text("home")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(words["map_heading"], anchor="map", width="content")
        numbered = pick_switch(words["numbered"], NUMBERED)
    st.caption(words["map_says" if len(view.pipeline.stacks) > 1 else "map_says_one"])
    shown = pick_words(trace)
    say_joined(shown)
    base = {**kept_in_links(), **sidebar_query()}
    depends_on = (language(), json.dumps(base), numbered, shown is trace, *run_key(view))
    _mount(key="map", data=RESULTS.result((_parcel, *depends_on), lambda: _parcel(view, trace, shown, base, numbered)))


def _parcel(view: View, trace: Trace, shown: Trace, base: dict[str, Any], numbered: bool) -> bytes:
    """The data of the map for `map.js`, as bytes. They are cached, so Streamlit does not encode them again at every click. The
    map shows the tokens and weights of `shown`, which is `trace` or the same trace with pieces joined to words. `base` are the
    parameters that all links have."""
    config, stacks = trace.config, view.pipeline.stacks
    depths = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    layers, heads = {stack: depths[stack] for stack in stacks}, _heads(view, shown)
    drawn = MapElements(layers, heads, base, numbered)
    blocks = {"encoder": _encoder, "decoder": _decoder}
    sides = zip(stacks, ("left", "right"), strict=False)
    columns = [drawn.column(stack, side, blocks[stack](drawn, view, trace, shown)) for stack, side in sides]
    data = {
        "elements": drawn.all(columns),
        "links": drawn.links,
        "terms": drawn.terms,
        "layers": layers,
        "heads": heads,
        "colors": {**KIND_COLORS, "masked": MASKED, "line": LINE},
        "scale": weight_colors(),
        "text": row_words() | {name: drawn.words[name] for name in ("tap", "head", "head_says", "head_masked")},
    }
    return component.parcel(data)


def _heads(view: View, shown: Trace) -> dict[str, dict[str, Any]] | None:
    """Kind of attention → the weights of every head as packed bytes, with their shape and their tokens. None if all kinds
    together need more than `MAP_BYTES` bytes."""
    sizes = (shown.layers(kind) * math.prod(shown.weights(kind, 0)[0].shape) for kind in shown.kinds)
    if sum(sizes) > MAP_BYTES:
        return None
    pictures = {}
    for kind in shown.kinds:
        shape, levels = RESULTS.result((_levels, *run_key(view), type(shown), kind), lambda kind=kind: _levels(shown, kind))
        queries, keys = map_names(view, shown, kind)
        pictures[str(kind)] = {"shape": list(shape), "levels": levels, "queries": list(queries), "keys": list(keys)}
    return pictures


def _levels(trace: Trace, kind: str) -> tuple[tuple[int, ...], str]:
    """The weights of all heads of one kind: their shape `(layer, head, query, key)`, and the weights as packed bytes
    (`quantized`)."""
    levels = quantized(trace.attention(kind)[:, 0].numpy(), trace.allowed(kind)[:, 0].numpy())
    return levels.shape, component.packed(levels)


def _encoder(drawn: MapElements, view: View, trace: Trace, shown: Trace) -> list[Element]:
    words, config, count = drawn.words, trace.config, len(trace.source_tokens[0])
    blocks = [
        drawn.tokens(words["source"], shown.source_tokens[0], Link("tokens", {"side": "source"}), ["token"], "tokens"),
        *_inputs(drawn, config, "source", "vectors"),
        drawn.stack(
            "encoder",
            "encoder",
            _attention(drawn, "encoder", trace),
            _add_norm(drawn, "encoder", "self_attention", config),
            _feed_forward(drawn, "encoder", config),
            _add_norm(drawn, "encoder", "feed_forward", config),
        ),
        *_final_norm(drawn, "encoder", config),
    ]
    if "decoder" not in view.pipeline.stacks:
        return [*blocks, *results(drawn, view, trace, "source", shown is not trace)]
    size, link = words["size"].format(count=count, width=config.d_model), stop("encoder.output")
    return [*blocks, drawn.block(words["memory"], size, link, ["memory"], "memory", kind="encoder", name="memory")]


def _decoder(drawn: MapElements, view: View, trace: Trace, shown: Trace) -> list[Element]:
    words, config = drawn.words, trace.config
    crossed = "cross" in trace.kinds
    written = words["written" if view.target is None else "target"] if crossed else words["joined"]
    callout = ("written" if view.target is None else "forced") if crossed else "tokens"
    blocks = [
        drawn.tokens(written, shown.target_tokens[0], Link("tokens", {"side": "target"}), ["token"], callout),
        *_inputs(drawn, config, "target", "" if crossed else "vectors"),
    ]
    layer = [_attention(drawn, "decoder", trace), _add_norm(drawn, "decoder", "self_attention", config)]
    if crossed:
        layer += [_attention(drawn, "cross", trace), _add_norm(drawn, "decoder", "cross_attention", config)]
    layer += [_feed_forward(drawn, "decoder", config), _add_norm(drawn, "decoder", "feed_forward", config)]
    blocks += [drawn.stack("decoder", "" if crossed else "decoder", *layer), *_final_norm(drawn, "decoder", config)]
    return [*blocks, *results(drawn, view, trace, "target", shown is not trace)]


def _inputs(drawn: MapElements, config: NetworkConfig, side: Side, callout: str) -> list[Element]:
    words = drawn.words
    vocabulary = config.source_vocab if side == "source" else config.target_vocab
    table = words["scaled"] if config.scale_embedding else words["table"]
    note = table.format(vocabulary=vocabulary, width=config.d_model)
    added = words["position" if config.position in ("sinusoidal", "learned") else "position_inside"]
    return [
        drawn.block(words["embedding"], note, Link("tokens", {"side": side}), ["embedding"], callout),
        drawn.block(added, words[config.position], Link("positions", {"side": side}), ["positional encoding"]),
    ]


def _attention(drawn: MapElements, kind: str, trace: Trace) -> Element:
    words, crossed = drawn.words, kind == "cross"
    return drawn.block(
        words["attention"][kind],
        words["heads"].format(heads=trace.heads(kind), width=trace.config.d_head),
        Link("attention", {"kind": kind, "layer": "{layer}", "part": "steps"}, "head"),
        ["cross-attention" if crossed else "self-attention"],
        "cross" if crossed else "",
        sort="branches",
        kind=kind,
        name="cross" if crossed else "",
        mask="causal" if kind == "decoder" else "source",
    )


def _feed_forward(drawn: MapElements, stack: str, config: NetworkConfig) -> Element:
    note = drawn.words["widths"].format(width=config.d_model, hidden=config.d_ff)
    link = stop(TensorPath(stack, 0, "feed_forward", "hidden").template("{index}"))
    return drawn.block(drawn.words["feed_forward"], note, link, ["feed-forward"], sort="branches")


def _add_norm(drawn: MapElements, stack: str, part: str, config: NetworkConfig) -> Element:
    """The block for the residual sum after a sub-layer and for the norm (in pre-norm, the norm comes before the sub-layer)."""
    link = stop((TensorPath(stack, 0, part).add_norm / "sum").template("{index}"))
    if config.norm_first:
        return drawn.block(drawn.words["norm_add"], "", link, ["residual stream", "norm"], sort="thin")
    return drawn.block(drawn.words["add_norm"], "", link, ["add & norm", "residual stream"], sort="thin")


def _final_norm(drawn: MapElements, stack: str, config: NetworkConfig) -> list[Element]:
    if not config.final_norm:
        return []
    return [drawn.block(drawn.words["norm"], "", stop(f"{stack}.output"), ["norm"], sort="thin")]
