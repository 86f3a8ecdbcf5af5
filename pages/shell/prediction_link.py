"""A link from a head to the question where it looks, for pages that draw its attention."""

from urllib.parse import urlencode

import streamlit as st

from pages.shell.lessons.open_lesson import linked_lesson
from pages.shell.view import sizes_of
from pages.ui.prediction import KEY, Prediction, written
from pages.ui.text import linked_language, text

# The question of the Attention page.
ROW = "attention"


def show_prediction_link(
    model: str, source: str, target: object, kind: str, layer: int, head: int, row: int | None = None
) -> None:
    """Draw a link that hides a head on the Attention page and asks where it looks.

    Args:
        model: of the picker.
        source: the text.
        target: of the link if it is a text; otherwise the model's own answer.
        kind, layer, head: the head; layer and head counted from 0.
        row: the query that is asked about, counted from 0; None for the page's own choice.
    """
    words = text("prediction")["attention"]
    query = {**linked_language(), **linked_lesson(), "model": model, **sizes_of(model), "source": source}
    if isinstance(target, str):
        query["target"] = target
    query |= {"kind": kind, "layer": layer + 1, "head": head + 1, KEY: written({ROW: Prediction(place=row)})}
    icon = ":material/psychology_alt:"
    st.link_button(words["offer"], f"attention?{urlencode(query)}", help=words["offer_help"], icon=icon, type="tertiary")
