"""The end of every page: how its pictures were computed, and what to try next."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shell.view.recorded import say_other_source
from pages.ui.pickers import unfolding
from pages.ui.source import show_source
from pages.ui.text import text


def show_computed(explanation: str, *parts: Callable[..., Any]) -> None:
    """Draw an expander: an explanation, and the source code of `parts`, the functions and classes that computed the page.

    Whether it is open is kept for each page. A closed expander has no content, because the content would be sent with every
    click, and the first source code on a page makes the browser load the 1.6 MB of Streamlit's highlighter.
    """
    if fold := unfolding(text("common")["computed"], ":material/function:", "computed"):
        with fold:
            say_other_source(*parts)
            st.markdown(explanation)
            for part in parts:
                show_source(part)


def show_next(suggestions: str) -> None:
    """Draw an expander with things to try next, in Markdown."""
    if fold := unfolding(text("common")["try"], ":material/explore:", "suggestions"):
        fold.markdown(suggestions)
