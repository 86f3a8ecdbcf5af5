"""A link to a question about a head, "Which keys does it attend to?", for pages that draw the attention of the head."""

from urllib.parse import urlencode

import streamlit as st

from pages.shell.view.view import sizes_of
from pages.ui.link_values import kept_in_links
from pages.ui.prediction import KEY
from pages.ui.prediction_codec import Prediction, written
from pages.ui.text import text

# The question of the Attention page.
ROW = "attention"


def show_prediction_link(
    model: str, source: str, target: object, kind: str, layer: int, head: int, row: int | None = None
) -> None:
    """Draw a link to the Attention page, on which the head's map is hidden until the reader predicts it.

    Args:
        target: the target text of the link. If it is not a text, the page uses the model's own answer.
        row: the query that the question is about, counted from 0; None for the default of the page.
    """
    words = text("prediction")["attention"]
    query = {**kept_in_links(), "model": model, **sizes_of(model), "source": source}
    if isinstance(target, str):
        query["target"] = target
    query |= {"kind": kind, "layer": layer + 1, "head": head + 1, KEY: written({ROW: Prediction(place=row)})}
    icon = ":material/psychology_alt:"
    st.link_button(words["offer"], f"attention?{urlencode(query)}", help=words["offer_help"], icon=icon, type="tertiary")
