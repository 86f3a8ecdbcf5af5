"""A link from a head to its training, for every page that shows one."""

from urllib.parse import urlencode

import streamlit as st

from pages.shell.lessons.player import linked_lesson
from pages.shell.runs import filmed
from pages.ui.text import linked_language, text


def show_training_link(model: str, source: str, target: object, kind: str, layer: int, head: int) -> None:
    """Draw a link to the training of a head, on the same text; nothing for a model of which no snapshots show it.

    Args:
        model: of the picker.
        source: the text.
        target: of the link if it is a text; otherwise the model's own answer.
        kind, layer, head: the head; layer and head counted from 0.
    """
    if filmed(model) is None:
        return
    query = {**linked_language(), **linked_lesson(), "model": model, "source": source}
    if isinstance(target, str):
        query["target"] = target
    query |= {"kind": kind, "layer": str(layer + 1), "head": str(head + 1)}
    st.link_button(text("common")["being_learnt"], f"training?{urlencode(query)}", icon=":material/movie:", type="tertiary")
