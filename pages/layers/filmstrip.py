"""A whole layer in one picture: its tensors as miniatures, to scale, with lines from each tensor to those computed from it."""

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from pages.layers.flow import Flow, flow_of
from pages.layers.stops import group_title, heading
from pages.layers.tensor_views import tensor_of
from pages.layers.tensors import all_numbers, strip, strip_data
from pages.layers.walk_part import STOP
from pages.shell.links.training_link import training_address
from pages.shell.view.view import View
from pages.ui.component import picked
from pages.ui.export_menu import saving
from pages.ui.offline import offline_page, place
from pages.ui.pickers import pick, pick_text
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.walk import Stop, walk
from transformer.figures.panels import TensorView
from transformer.tracing.paths import TensorPath

KEY = "film"
HERE = Path(__file__).parent
BODY = Markup("""<h1>{title}</h1>
<p>{model}: {source}</p>
{strip}
""")


def show_filmstrip(view: View, trace: Trace, drawn: Trace | None = None) -> None:
    """Show the tensors of a picked part of the network as miniatures. A click on a miniature opens its tensor in the walk. If
    `drawn` is given (the trace between words), the miniatures show its numbers instead of the trace's."""
    words, stops, drawn = text("filmstrip"), walk(trace), drawn or trace
    groups = list(dict.fromkeys(stop.group for stop in stops))
    # Layers come first, because visitors open a filmstrip mainly to see a layer.
    layers = sorted(groups, key=lambda group: " " not in group)
    group = pick(words["layer"], layers, "group")
    item = pick_text(trace)
    members = [stop for stop in stops if stop.group == group]
    st.header(group_title(group), anchor=False)
    titles_of, by_path = text("walk")["parts"], {stop.path: stop for stop in stops}
    parts: list[tuple[str, list[TensorView]]] = []  # the title is "" if the texts do not name the part
    flows: list[Flow] = []
    for part, part_stops in groupby(members, lambda stop: stop.part):
        of_part = list(part_stops)
        tensors = [tensor_of(view.pipeline, drawn, stop, item, None) for stop in of_part]
        parts.append((titles_of.get(part, ""), tensors))
        flows.append(flow_of(of_part))
    frames = [frame for _, part in parts for frame in part]
    sources = {path: _source(by_path[path]) for flow in flows for path in flow.sources}
    titles = ", ".join(frame.title for frame in frames)
    alt = words["says"].format(where=group_title(group), titles=titles)
    paths = [*(stop.path for stop in members), *sources]
    data = strip_data(parts, flows, sources, st.session_state.get(STOP, ""), alt)
    strip(data, KEY, lambda: _open(paths))
    saving(
        KEY,
        f"{view.model}-{group}",
        lambda: all_numbers(frames),
        lambda: _offline(view, group_title(group), {**data, "selected": ""}),
    )
    st.caption(words["caption"].format(count=len(members)))
    _link_trainings(view, item, members)


def _link_trainings(view: View, item: int, members: list[Stop]) -> None:
    """For each attention in a part of the network, draw a link to how its heads were trained, if there are snapshots of it."""
    common, kinds, links = text("common"), text("attention")["kinds"], []
    paths = (TensorPath.parse(stop.path) for stop in members)
    for kind, layer in dict.fromkeys((path.kind, path.layer) for path in paths):
        if kind is not None and layer is not None:
            address = training_address(view.model, view.sources[item], view.targets[item], kind, layer, None)
            links.append(f"{kinds[kind]}: [{common['heads_being_learnt']}]({address})" if address else "")
    if any(links):
        st.markdown(" · ".join(links))


def _source(stop: Stop) -> tuple[str, str]:
    """The role that a tensor of another part has for this part, and the heading of the tensor."""
    words = text("filmstrip")["sources"]
    return words.get(stop.kind, words["stream"]), heading(stop)


def _open(paths: list[str]) -> None:
    path = picked(KEY, paths)
    if path is not None:
        st.session_state[STOP] = path
        st.session_state["part"] = "walk"


def _offline(view: View, title: str, data: Mapping[str, Any]) -> str:
    """The filmstrip as one HTML file that works without a server, with the same miniatures and lines.

    Args:
        data: the data of the strip, made by `strip_data`.
    """
    body = BODY.format(title=title, model=view.model, source=view.source, strip=place("strip", HERE / "strip"))
    heading = f"Headlight: {view.model}, {title}"
    return offline_page(heading, body, data, HERE / "offline_strip.js", {"strip": HERE / "strip"})
