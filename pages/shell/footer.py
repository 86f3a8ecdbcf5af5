"""How every page ends: how what is on it was computed, and what to try next."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.pickers import unfolding
from pages.ui.source import show_source
from pages.ui.text import text


def show_computed(says: str, *parts: Callable[..., Any]) -> None:
    """Words and formulas, and the lines of this app that did it, to unfold.

    Every page keeps for itself whether it is open. Filled only then: what is closed would be sent with every click, and the
    first source on a page costs a visitor the 1.6 MB of Streamlit's highlighter.

    Args:
        says: Markdown.
        parts: functions and classes whose source to show below.
    """
    fold = unfolding(text("common")["computed"], ":material/function:", "computed")
    if fold:
        with fold:
            st.markdown(says)
            for part in parts:
                show_source(part)


def show_next(says: str) -> None:
    """Things to try, to unfold."""
    with st.expander(text("common")["try"], icon=":material/explore:"):
        st.markdown(says)
