"""A whole layer at a glance: its tensors in miniature, in order, to scale."""

from itertools import groupby

import streamlit as st

from pages.layers.stops import group_title
from pages.layers.tensors import all_numbers, picked, strip
from pages.layers.views import tensor_of
from pages.layers.walk import STOP
from pages.shell.view import View
from pages.ui.charts import offline
from pages.ui.export_menu import saving
from pages.ui.pickers import pick, pick_text
from pages.ui.text import figure_labels, text
from transformer import Trace
from transformer.analysis.walk import walk
from transformer.figures import layer_figure

KEY = "film"


def show_filmstrip(view: View, trace: Trace) -> None:
    """Show the tensors of a picked part of the network as miniatures; a click opens that tensor in the walk."""
    words, stops = text("filmstrip"), walk(trace)
    groups = list(dict.fromkeys(stop.group for stop in stops))
    # Layers come first, because a filmstrip is opened mainly to see a layer.
    layers = sorted(groups, key=lambda group: " " not in group)
    group = pick(words["layer"], layers, "group")
    item = pick_text(trace)
    members = [stop for stop in stops if stop.group == group]
    st.header(group_title(group), anchor=False)
    titles_of = text("walk")["parts"]
    parts = {
        titles_of.get(part, ""): [tensor_of(view.pipeline, trace, stop, item, None) for stop in stops]
        for part, stops in groupby(members, lambda stop: stop.part)
    }
    frames = [frame for part in parts.values() for frame in part]
    titles = ", ".join(frame.title for frame in frames)
    alt = words["says"].format(where=group_title(group), titles=titles)
    paths = [stop.path for stop in members]
    strip(parts, st.session_state.get(STOP, ""), alt, KEY, lambda: _open(paths))
    saving(
        KEY,
        f"{view.model}-{group}",
        lambda: all_numbers(frames),
        lambda: offline(layer_figure(parts, labels=figure_labels()), alt),
    )
    st.caption(words["caption"].format(count=len(members)))


def _open(paths: list[str]) -> None:
    path = picked(KEY, paths)
    if path is not None:
        st.session_state[STOP] = path
        st.session_state["part"] = "walk"
