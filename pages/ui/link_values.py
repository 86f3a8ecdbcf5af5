"""The values of choices in the address: ids that stay the same whatever language the labels are in.

`bind="query-params"` of Streamlit 1.67 writes the label of a choice into the address (measured: `format_func` decides the
value), so a translation would change every link. Widgets with labels are therefore bound here: `seed` gives such a widget its
value before it is drawn, `publish` writes the value into the address afterwards. Texts and switches, which have no labels, are
bound by Streamlit.

A value comes from, in this order: what the person just did, the address, what was chosen in this session before, the default.
Opening an address from the browser's history takes the address alone.
"""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.ui.compat import opens_from_history

Value = TypeVar("Value")

# Names that mean the same on every page: a choice made on one page is kept on the next.
SHARED = frozenset({"language", "item", "side", "kind", "layer", "head"})
# In the session: chosen values as they stand in an address, the names drawn in this run, and those of the run before.
CHOSEN, DRAWN, DRAWN_BEFORE = "link_values", "link_names", "link_names_before"
# In the session: name → the default that its widget showed in the run before.
DEFAULTS = "link_defaults"
# In the session: the page of this run, and whether it is another than that of the run before.
PAGE, OPENED = "link_page", "link_page_opened"


def start_run() -> None:
    """Call it once a run, after the page is known and before the first widget."""
    state = st.session_state
    if CHOSEN not in state or opens_from_history():
        state[CHOSEN], state[DEFAULTS] = {}, {}
    state[DRAWN_BEFORE], state[DRAWN] = state.get(DRAWN, set()), set()
    state[OPENED], state[PAGE] = state.get(PAGE) != state["page"], state["page"]


def end_run() -> None:
    """Take names out of the address whose widgets are no longer drawn; their values are remembered. Call it last in a run."""
    for name in st.session_state[DRAWN_BEFORE] - st.session_state[DRAWN]:
        if name in st.query_params:
            del st.query_params[name]


def seed(name: str, read: Callable[[str | None], Value], settled: Callable[[Value], Value]) -> None:
    """Give the widget whose key is `name` its value before it is drawn.

    Args:
        name: in the session and in the address.
        read: the value for what stands in an address; for None, and for what is invalid, the default.
        settled: what becomes of a value that the widget already has: it can be left from another model.
    """
    state = st.session_state
    # Streamlit still knows the value of the same key on the page before, but would not give it to the widget of this page.
    if name not in state or state[OPENED] or opens_from_history():
        state[name] = read(st.query_params.get(name, state[CHOSEN].get(_scope(name))))
        return
    # What nobody chose follows the default, which can change with the text or the model.
    untouched = name in state[DEFAULTS] and state[name] == state[DEFAULTS][name]
    value = read(None) if untouched else settled(state[name])
    if value != state[name]:
        state[name] = value


def publish(name: str, value: str | None) -> None:
    """Write a value into the address and remember it; None for the default, which stands in no address."""
    state = st.session_state
    state[DRAWN].add(name)
    if value is None:
        state[CHOSEN].pop(_scope(name), None)
        state[DEFAULTS][name] = state[name]
        if name in st.query_params:
            del st.query_params[name]
        return
    state[CHOSEN][_scope(name)] = value
    state[DEFAULTS].pop(name, None)
    if st.query_params.get(name) != value:
        st.query_params[name] = value


def _scope(name: str) -> str:
    return name if name in SHARED else f"{st.session_state['page']}/{name}"
