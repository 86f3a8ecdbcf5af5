"""Choices that are bound to the URL."""

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from pages.widgets.text import text
from transformer import Trace

Option = TypeVar("Option")

MOST_BUTTONS = 12


def pick(label: str, options: Sequence[Option], key: str, help: str | None = None) -> Option:
    """One of a few options as buttons, one of many as a list. A link with a value that is not there gets the first.

    The options are shown as they are: what a label says is also what stands in the URL, and a link must not depend on the
    language of the page.
    """
    # A value left from a model with more layers or heads must not outlive it.
    if st.session_state.get(key, options[0]) not in options:
        st.session_state[key] = options[0]
    if len(options) > MOST_BUTTONS:
        return st.selectbox(label, options, key=key, bind="query-params", help=help)
    # In columns and rows, Streamlit scrolls what is too wide unless told to break it into lines.
    return st.segmented_control(
        label, options, default=options[0], required=True, key=key, bind="query-params", help=help, wrap=True
    )


def pick_text(trace: Trace, key: str = "walk_item", help: str | None = None) -> int:
    """Which text of the batch, counted from 0; asked only where there are several. In a link they are counted from 1. All parts
    of the Layers page keep to one `key`."""
    count = len(trace.target_tokens)
    return pick(text("common")["item"], range(1, count + 1), key, help) - 1 if count > 1 else 0
