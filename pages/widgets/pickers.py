"""Choices that are bound to the URL."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

Option = TypeVar("Option")

MOST_BUTTONS = 12


def pick(
    label: str, options: Sequence[Option], key: str, name: Callable[[Option], str] = str, help: str = ""
) -> Option:
    """One of a few options as buttons, one of many as a list. A link with a value that is not there gets the first."""
    settings = {"key": key, "bind": "query-params", "format_func": name, "help": help or None}
    # A value left from a model with more layers or heads must not outlive them.
    if st.session_state.get(key, options[0]) not in options:
        st.session_state[key] = options[0]
    if len(options) > MOST_BUTTONS:
        return st.selectbox(label, options, **settings)
    return st.segmented_control(label, options, default=options[0], required=True, **settings)
