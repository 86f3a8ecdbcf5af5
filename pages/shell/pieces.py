"""The one switch that joins pieces of words to words, on every page that draws tokens."""

import streamlit as st

from pages.ui.link_values import publish, seed
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.words import WordTrace, in_pieces

JOIN = "join"


def pick_words(trace: Trace) -> Trace:
    """What to draw: the trace, or where its tokens are pieces of words and the person wants it, the trace between words. The
    switch is drawn only for pieces; it stands in the address, and is kept on other pages."""
    return WordTrace.of(trace) if in_pieces(trace) and joins_pieces() else trace


def joins_pieces() -> bool:
    """Draw the switch; whether it is on."""
    words = text("common")
    seed(JOIN, lambda asked: asked == "true", bool)
    joins = st.toggle(words["join"], key=JOIN, help=words["joined"])
    publish(JOIN, "true" if joins else None)
    return joins


def say_joined(shown: Trace) -> None:
    """Say that the pictures show words, and how their numbers were made."""
    if isinstance(shown, WordTrace):
        st.caption(f":material/join: {text('common')['joined']}")
