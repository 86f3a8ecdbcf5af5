"""Choices that are bound to the URL."""

import math
from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from pages.ui.format import numbered_tokens
from pages.ui.text import text
from transformer import Trace

Option = TypeVar("Option")

MOST_BUTTONS = 12


def pick(
    label: str,
    options: Sequence[Option],
    key: str,
    help: str | None = None,
    first: Option | None = None,
    as_list: bool = False,
) -> Option:
    """One of a few options as buttons, one of many as a list.

    The options are shown as they are: what a label says is also what stands in the URL, and a link must not depend on the
    language of the page.

    Args:
        label: above the choice.
        options: what there is to choose from.
        key: in the session and in the URL.
        help: shown when its question mark is pointed at.
        first: which to take where nobody has chosen, or what a link or another model has left is not there; by default the
            first of the options.
        as_list: whether it is a list, however few the options.
    """
    first = options[0] if first is None else first
    # A value left from a model with more layers or heads must not outlive it.
    if st.session_state.get(key, first) not in options:
        st.session_state[key] = first
    if as_list or len(options) > MOST_BUTTONS:
        return st.selectbox(label, options, options.index(first), key=key, bind="query-params", help=help)
    # In columns and rows, Streamlit scrolls what is too wide unless told to break it into lines.
    return st.segmented_control(
        label, options, default=first, required=True, key=key, bind="query-params", help=help, wrap=True
    )


def pick_or_none(label: str, options: Sequence[str], key: str, placeholder: str, help: str) -> str | None:
    """One of many as a list, or none until somebody picks. `placeholder` says what none means; the rest as for `pick`."""
    # A value of another text or model must not outlive it.
    if st.session_state.get(key) not in options:
        st.session_state[key] = None
    return st.selectbox(label, options, None, key=key, bind="query-params", placeholder=placeholder, help=help)


def pick_text(trace: Trace, key: str = "walk_item", help: str | None = None) -> int:
    """Which text of the batch, counted from 0; asked only where there are several. In a link they are counted from 1. All parts
    of the Layers page keep to one `key`."""
    count = trace.batch_size
    return pick(text("common")["item"], range(1, count + 1), key, help) - 1 if count > 1 else 0


def pick_position(label: str, tokens: Sequence[str], key: str) -> int:
    """One of the tokens, by its position, as a list: tokens are long, and Markdown in them must stay as typed."""
    numbered = numbered_tokens(tokens)
    return numbered.index(pick(label, numbered, key, as_list=True))


def forget_infinite(key: str) -> None:
    """Call it before a box for whole numbers: Streamlit passes over what a link says of it that is no number, but fails on
    one that is infinite, `inf` or `1e999`, for as long as it stands there."""
    try:
        infinite = math.isinf(float(st.query_params.get(key, "")))
    except ValueError:
        return
    if infinite and key not in st.session_state:
        del st.query_params[key]
        st.rerun()
