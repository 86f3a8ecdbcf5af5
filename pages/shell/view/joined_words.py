"""The switch that joins the pieces of a word into the word. Every page that draws tokens uses this one switch."""

import streamlit as st

from pages.shell.view.view import current_view
from pages.ui.pickers import pick_switch
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.word_trace import WordTrace, in_pieces

JOIN = "join"


def pick_words(trace: Trace) -> Trace:
    """If the tokens of a trace are pieces of words, draw the switch that joins them. Returns the trace to draw; while the
    switch is on, its tokens are whole words. The URL contains the state of the switch, and other pages keep this state."""
    return WordTrace.of(trace) if in_pieces(trace) and joins_pieces() else trace


def joins_pieces() -> bool:
    """Draw the switch that joins pieces of words, and return whether it is on; if it is off, explain the pieces. For a model
    that Headlight trained, the switch is on at first."""
    words = text("common")
    joined = pick_switch(words["join"], JOIN, words["joined"], first=bool(current_view().pipeline.card.task))
    if not joined:
        st.caption(words["pieces"])
    return joined


def say_joined(shown: Trace, more: str = "") -> None:
    """If the tokens of `shown` are whole words, draw a caption that says so and how numbers are computed from those of the
    pieces. Then add `more`."""
    if isinstance(shown, WordTrace):
        st.caption(f":material/join: {text('common')['joined']} {more}".rstrip())
