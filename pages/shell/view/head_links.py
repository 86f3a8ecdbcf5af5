"""Links from a head to other pages that show more about it: to its training, and to a question about its attention."""

from typing import Any

import streamlit as st

from pages.shell.models.catalogue import filmed
from pages.shell.view.view import View
from pages.ui.prediction import KEY
from pages.ui.prediction_codec import Prediction, written
from pages.ui.text import text

# The question of the Attention page.
ROW = "attention"


def show_training_link(view: View, item: int, kind: str, layer: int, head: int) -> None:
    """Draw a link to the page that shows how a head's attention changed in training. Draws nothing if the training has no
    snapshots. `item` (text of the batch), `layer` and `head` are from 0."""
    address = training_address(view, item, kind, layer, head)
    if address:
        st.link_button(text("common")["being_learnt"], address, icon=":material/movie:", type="tertiary")


def training_address(view: View, item: int, kind: str, layer: int, head: int | None) -> str:
    """The relative URL of the page that shows the training of a head with a text of the view; empty if the training has no
    snapshots. If `head` is None, the page shows all heads of the layer. `item` (the text), `layer` and `head` are from 0."""
    return "" if filmed(view.model) is None else view.address("training", item, **_choices(view, item, kind, layer, head))


def show_prediction_link(view: View, item: int, kind: str, layer: int, head: int, row: int | None = None) -> None:
    """Draw a link to the Attention page, on which the head's map is hidden until the reader predicts it. `row` is the query
    that the question is about; None for the page's default. All numbers, also `item` (the text), are from 0."""
    words = text("prediction")["attention"]
    choices = _choices(view, item, kind, layer, head) | {KEY: written({ROW: Prediction(place=row)})}
    address, icon = view.address("attention", item, **choices), ":material/psychology_alt:"
    st.link_button(words["offer"], address, help=words["offer_help"], icon=icon, type="tertiary")


def _choices(view: View, item: int, kind: str, layer: int, head: int | None) -> dict[str, Any]:
    """The choices of a link. Without a typed target the link has none, and the page uses the model's own answer."""
    target = view.targets[item]
    choices = {"target": target} if isinstance(target, str) else {}
    choices |= {"kind": kind, "layer": layer + 1}
    return choices if head is None else choices | {"head": head + 1}
