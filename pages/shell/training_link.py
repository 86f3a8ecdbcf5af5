"""A link from a head to its training, for every page on which a head can be picked."""

from urllib.parse import urlencode

import streamlit as st

from pages.shell.lessons.open_lesson import linked_lesson
from pages.shell.runs import filmed
from pages.ui.text import linked_language, text


def show_training_link(model: str, source: str, target: object, kind: str, layer: int, head: int) -> None:
    """Draw a link to the training of a head, on the same text; nothing for a model of which no snapshots show it. Arguments as
    for `training_address`."""
    address = training_address(model, source, target, kind, layer, head)
    if address:
        st.link_button(text("common")["being_learnt"], address, icon=":material/movie:", type="tertiary")


def training_address(model: str, source: str, target: object, kind: str, layer: int, head: int | None) -> str:
    """The address of the training of a head, or of all heads of a layer; empty for a model of which no snapshots show it.

    Args:
        model: of the picker.
        source: the text.
        target: of the link if it is a text; otherwise the model's own answer.
        kind, layer, head: the head; layer and head counted from 0. With None for the head, all heads of the layer.
    """
    if filmed(model) is None:
        return ""
    query = {**linked_language(), **linked_lesson(), "model": model, "source": source}
    if isinstance(target, str):
        query["target"] = target
    query |= {"kind": kind, "layer": str(layer + 1)}
    if head is not None:
        query["head"] = str(head + 1)
    return f"training?{urlencode(query)}"
