"""Links from a head to other pages that show more about it: to its training, and to a question about its attention."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.shell.models.catalogue import filmed
from pages.shell.view.view import sizes_of
from pages.ui.link_values import kept_in_links
from pages.ui.prediction import KEY
from pages.ui.prediction_codec import Prediction, written
from pages.ui.text import text

# The question of the Attention page.
ROW = "attention"


def show_training_link(model: str, source: str, target: object, kind: str, layer: int, head: int) -> None:
    """Draw a link to the training of a head. Draws nothing if the model's training has no snapshots. The arguments are those of
    `training_address`."""
    address = training_address(model, source, target, kind, layer, head)
    if address:
        st.link_button(text("common")["being_learnt"], address, icon=":material/movie:", type="tertiary")


def training_address(model: str, source: str, target: object, kind: str, layer: int, head: int | None) -> str:
    """The address that shows the training of a head with a text; empty if the training has no snapshots.

    Args:
        target: the target text. If it is not a text, the link has none, and the page uses the model's own answer.
        layer, head: counted from 0. If `head` is None, the page shows all heads of the layer.
    """
    return "" if filmed(model) is None else f"training?{urlencode(_query(model, source, target, kind, layer, head))}"


def show_prediction_link(
    model: str, source: str, target: object, kind: str, layer: int, head: int, row: int | None = None
) -> None:
    """Draw a link to the Attention page, on which the head's map is hidden until the reader predicts it. `row` is the query
    that the question is about, counted from 0; None for the default of the page."""
    words = text("prediction")["attention"]
    query = _query(model, source, target, kind, layer, head) | {KEY: written({ROW: Prediction(place=row)})}
    icon = ":material/psychology_alt:"
    st.link_button(words["offer"], f"attention?{urlencode(query)}", help=words["offer_help"], icon=icon, type="tertiary")


def _query(model: str, source: str, target: object, kind: str, layer: int, head: int | None) -> dict[str, Any]:
    query = {**kept_in_links(), "model": model, **sizes_of(model), "source": source}
    if isinstance(target, str):
        query["target"] = target
    query |= {"kind": kind, "layer": layer + 1}
    return query if head is None else query | {"head": head + 1}
