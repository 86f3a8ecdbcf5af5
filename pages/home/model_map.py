"""The whole model as a map, drawn from the model's configuration. Every block links to the page that shows it."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import streamlit as st

from pages.home.map_elements import MapElements
from pages.home.map_results import Node, results, run_key, stop
from pages.home.part_links import Link, kept_query, packed, sidebar_query
from pages.shell.frame.glossary import meaning
from pages.shell.view.joined_words import pick_words, say_joined
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui import component
from pages.ui.caches import RESULTS
from pages.ui.head_grid import row_words, weight_colors
from pages.ui.limits import MAP_BYTES
from pages.ui.pickers import pick_switch
from pages.ui.text import language, text
from transformer import Trace
from transformer.figures import KIND_COLORS
from transformer.figures.attention_figures import quantized
from transformer.figures.theme import LINE, MASKED
from transformer.network.config import NetworkConfig
from transformer.pipeline.pipeline import Side
from transformer.text.vocabulary import SPECIALS
from transformer.tracing.paths import TensorPath

# The key of the switch that numbers the blocks in the order of the data flow.
NUMBERED = "numbered"
# Name of a mask in the texts → its term in the glossary.
MASK_TERMS = {"source": "padding mask", "causal": "causal mask"}

_mount = component.mounted(Path(__file__).with_name("map"))


def show_map(view: View, trace: Trace) -> None:
    """Draw the heading, a switch that numbers the blocks, a switch that joins pieces to words, and the map of a view's model
    with the tokens of its first text."""
    words = text("home")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.header(words["map_heading"], anchor="map", width="content")
        numbered = pick_switch(words["numbered"], NUMBERED)
    st.caption(words["map_says" if len(view.pipeline.stacks) > 1 else "map_says_one"])
    shown = pick_words(trace)
    say_joined(shown)
    base = {**kept_query(), **sidebar_query()}
    depends_on = (language(), json.dumps(base), numbered, shown is trace, *run_key(view))
    _mount(key="map", data=RESULTS.result((_parcel, *depends_on), lambda: _parcel(view, trace, shown, base, numbered)))


def _parcel(view: View, trace: Trace, shown: Trace, base: dict[str, Any], numbered: bool) -> bytes:
    """The data of the map for `map.js`, as bytes. They are cached, so Streamlit does not encode them again at every click.

    Args:
        shown: the trace whose tokens and weights are drawn: `trace`, or `trace` between words.
        base: the parameters that all links keep.
        numbered: whether the blocks have numbers.
    """
    words, config = text("home"), trace.config
    nodes = {"encoder": _encoder, "decoder": _decoder}
    depths = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    columns = [
        {"name": words[stack], "kind": stack, "nodes": [_linked(node, base) for node in nodes[stack](view, trace, shown)]}
        for stack in view.pipeline.stacks
    ]
    callouts = _callouts(columns) if numbered else []
    heads = _heads(view, shown, base)
    terms = _meanings(columns)
    layers = {stack: depths[stack] for stack in view.pipeline.stacks}
    drawn = MapElements(terms, layers, heads, words["map"])
    data = {
        "elements": drawn.all(columns, callouts),
        "links": drawn.links,
        "terms": terms,
        "layers": layers,
        "heads": heads,
        "colors": {**KIND_COLORS, "masked": MASKED, "line": LINE},
        "scale": weight_colors(),
        "text": row_words() | {name: words["map"][name] for name in ("tap", "head", "head_says", "head_masked")},
    }
    return component.parcel(data)


def _nodes(columns: list[Node]) -> Iterator[Node]:
    """All nodes in the order of the data flow: column after column, each from top to bottom. A stack comes before its nodes."""
    for column in columns:
        for node in column["nodes"]:
            yield node
            yield from node.get("nodes", [])


def _meanings(columns: list[Node]) -> dict[str, str]:
    """The glossary's meaning of every term that a block names."""
    named = [term for node in _nodes(columns) for name in ("terms", "mask_terms", "heads_terms") for term in node.get(name, [])]
    special = [token for node in _nodes(columns) for token in node.get("tokens", []) if token in SPECIALS]
    return {term: says for term in (*named, *special) if (says := meaning(term))}


def _callouts(columns: list[Node]) -> list[str]:
    """Number the blocks that have a callout, in their order from 1; returns a line of text for each number."""
    steps = [node for node in _nodes(columns) if node.get("callout")]
    numbers = {node["callout"]: number for number, node in enumerate(steps, 1)}
    for node in steps:
        node["number"] = numbers[node["callout"]]
    return [text("home")["map"]["callouts"][name] for name in numbers]


def _linked(node: Node, base: dict[str, Any]) -> Node:
    """A node with its links packed. The links of the nodes within it are packed too."""
    packs = {name: packed(node[name], base) for name in ("link", "mask", "step") if node.get(name)}
    inner = {"nodes": [_linked(inner, base) for inner in node["nodes"]]} if "nodes" in node else {}
    return {**node, **packs, **inner}


def _heads(view: View, shown: Trace, base: dict[str, Any]) -> Node | None:
    """The attention weights of every head as bytes, by kind, with the link to one head. None if they exceed `MAP_BYTES`."""
    sizes = (shown.layers(kind) * math.prod(shown.weights(kind, 0)[0].shape) for kind in shown.kinds)
    if sum(sizes) > MAP_BYTES:
        return None
    pictures = {}
    for kind in shown.kinds:
        link = Link("attention", {"kind": str(kind), "layer": "{layer}", "head": "{head}", "part": "map"}, "head")
        shape, levels = RESULTS.result((_levels, *run_key(view), type(shown), kind), lambda kind=kind: _levels(shown, kind))
        queries, keys = map_names(view, shown, kind)
        tokens = {"queries": list(queries), "keys": list(keys)}
        pictures[str(kind)] = {"shape": list(shape), "levels": levels, "link": packed(link, base)} | tokens
    return pictures


def _levels(trace: Trace, kind: str) -> tuple[tuple[int, ...], str]:
    """The shape of the weights of all heads of one kind, and the levels of these weights as packed bytes."""
    levels = quantized(trace.attention(kind)[:, 0].numpy(), trace.allowed(kind)[:, 0].numpy())
    return levels.shape, component.packed(levels)


def _encoder(view: View, trace: Trace, shown: Trace) -> list[Node]:
    words, config = text("home")["map"], trace.config
    count = len(trace.source_tokens[0])
    memory: Node = {
        "type": "block",
        "id": "memory",
        "kind": "encoder",
        "title": words["memory"],
        "note": words["size"].format(count=count, width=config.d_model),
        "link": stop("encoder.output"),
        "terms": ["memory"],
        "callout": "memory",
    }
    return [
        _tokens(words["source"], shown.source_tokens[0], "source", "tokens"),
        *_inputs(config, "source", "vectors"),
        {
            "type": "stack",
            "stack": "encoder",
            "terms": ["layer"],
            "callout": "encoder",
            "nodes": [
                _attention("encoder", trace, _mask("source")),
                _add_norm("encoder", "self_attention", config),
                _feed_forward("encoder", config),
                _add_norm("encoder", "feed_forward", config),
            ],
        },
        *_final_norm("encoder", config),
        *([memory] if "decoder" in view.pipeline.stacks else results(view, trace, "source", shown is not trace)),
    ]


def _decoder(view: View, trace: Trace, shown: Trace) -> list[Node]:
    words, config = text("home")["map"], trace.config
    crossed = "cross" in trace.kinds
    written = words["written" if view.target is None else "target"] if crossed else words["joined"]
    callout = ("written" if view.target is None else "forced") if crossed else "tokens"
    cross = (
        [
            {**_attention("cross", trace, _mask("source")), "id": "cross", "callout": "cross"},
            _add_norm("decoder", "cross_attention", config),
        ]
        if crossed
        else []
    )
    return [
        _tokens(written, shown.target_tokens[0], "target", callout),
        *_inputs(config, "target", "" if crossed else "vectors"),
        {
            "type": "stack",
            "stack": "decoder",
            "terms": ["layer"],
            "callout": "" if crossed else "decoder",
            "nodes": [
                _attention("decoder", trace, _mask("causal")),
                _add_norm("decoder", "self_attention", config),
                *cross,
                _feed_forward("decoder", config),
                _add_norm("decoder", "feed_forward", config),
            ],
        },
        *_final_norm("decoder", config),
        *results(view, trace, "target", shown is not trace),
    ]


def _tokens(label: str, tokens: tuple[str, ...], side: Side, callout: str) -> Node:
    return {
        "type": "tokens",
        "says": label,
        "tokens": list(tokens),
        "link": Link("tokens", {"side": side}),
        "terms": ["token"],
        "callout": callout,
    }


def _inputs(config: NetworkConfig, side: Side, callout: str) -> list[Node]:
    words = text("home")["map"]
    vocabulary = config.source_vocab if side == "source" else config.target_vocab
    note = words["scaled"] if config.scale_embedding else words["table"]
    added = config.position in ("sinusoidal", "learned")
    return [
        {
            "type": "block",
            "title": words["embedding"],
            "note": note.format(vocabulary=vocabulary, width=config.d_model),
            "link": Link("tokens", {"side": side}),
            "terms": ["embedding"],
            "callout": callout,
        },
        {
            "type": "block",
            "title": words["position" if added else "position_inside"],
            "note": words[config.position],
            "link": Link("positions", {"side": side}),
            "terms": ["positional encoding"],
        },
    ]


def _attention(kind: str, trace: Trace, mask: Node) -> Node:
    words = text("home")["map"]
    return {
        "type": "block",
        "kind": kind,
        "heads": kind,
        "title": words["attention"][kind],
        "note": words["heads"].format(heads=trace.heads(kind), width=trace.config.d_head),
        "link": Link("attention", {"kind": kind, "layer": "{layer}", "part": "steps"}, "head"),
        "terms": ["cross-attention" if kind == "cross" else "self-attention"],
        "heads_terms": ["head", "attention weight"],
        "branches": True,
        **mask,
    }


def _mask(name: str) -> Node:
    words = text("home")["map"]["masks"]
    return {"mask": Link("masks", {}), "mask_says": words[name], "mask_terms": [MASK_TERMS[name]]}


def _feed_forward(stack: str, config: NetworkConfig) -> Node:
    words = text("home")["map"]
    return {
        "type": "block",
        "title": words["feed_forward"],
        "note": words["widths"].format(width=config.d_model, hidden=config.d_ff),
        "link": stop(TensorPath(stack, 0, "feed_forward", "hidden").template("{index}")),
        "terms": ["feed-forward"],
        "branches": True,
    }


def _add_norm(stack: str, part: str, config: NetworkConfig) -> Node:
    """The block for the residual sum after a sub-layer and for the norm (in pre-norm, the norm comes before the sub-layer)."""
    words = text("home")["map"]
    return {
        "type": "block",
        "thin": True,
        "title": words["norm_add"] if config.norm_first else words["add_norm"],
        "note": "",
        "link": stop((TensorPath(stack, 0, part).add_norm / "sum").template("{index}")),
        "terms": ["residual stream", "norm"] if config.norm_first else ["add & norm", "residual stream"],
        "joins": True,
    }


def _final_norm(stack: str, config: NetworkConfig) -> list[Node]:
    words = text("home")["map"]
    norm = {"type": "block", "thin": True, "title": words["norm"], "note": "", "link": stop(f"{stack}.output")}
    return [{**norm, "terms": ["norm"]}] * config.final_norm
