"""A link from a head to its training, for every page on which a head can be picked."""

from urllib.parse import urlencode

import streamlit as st

from pages.shell.models.catalogue import filmed
from pages.ui.link_values import kept_in_links
from pages.ui.text import text


def show_training_link(model: str, source: str, target: object, kind: str, layer: int, head: int) -> None:
    """Draw a link to the training of a head, with the same text. Draws nothing if the model's training has no snapshots. The
    arguments are those of `training_address`."""
    address = training_address(model, source, target, kind, layer, head)
    if address:
        st.link_button(text("common")["being_learnt"], address, icon=":material/movie:", type="tertiary")


def training_address(model: str, source: str, target: object, kind: str, layer: int, head: int | None) -> str:
    """The address that shows the training of a head, or of all heads of a layer; empty if the training has no snapshots.

    Args:
        target: the target text for the link. If it is not a text, the link has none, and the page uses the model's own answer.
        kind, layer, head: the head. Layer and head are counted from 0. If `head` is None, all heads of the layer.
    """
    if filmed(model) is None:
        return ""
    query = {**kept_in_links(), "model": model, "source": source}
    if isinstance(target, str):
        query["target"] = target
    query |= {"kind": kind, "layer": str(layer + 1)}
    if head is not None:
        query["head"] = str(head + 1)
    return f"training?{urlencode(query)}"
