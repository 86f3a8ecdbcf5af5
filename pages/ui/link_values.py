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

# Names that every page has in its address, and that are not drawn again after a click in the page: the language of the sidebar,
# and the training of the session.
OUTSIDE_PAGE = frozenset({"language", "live_run"})
# Names that mean the same on every page: a choice made on one page is kept on the next.
SHARED = frozenset({"language", "live_run", "item", "side", "kind", "layer", "head", "join"})
# Session keys: the chosen values as written in an address, the names that the page has drawn in this run, and those drawn
# before that can still be in the address.
CHOSEN, DRAWN, DRAWN_BEFORE = "link_values", "link_names", "link_names_before"
# Session key of a dict: name → the default that its widget showed in the previous run.
DEFAULTS = "link_defaults"
# Session keys: the page of this run, and the names drawn since it was opened.
PAGE, KNOWN = "link_page", "link_names_of_page"


def start_run() -> None:
    """Prepare the values of a run of the app. Call it when the page is known, before the first widget."""
    state = st.session_state
    if CHOSEN not in state or opens_from_history():
        state[CHOSEN], state[DEFAULTS] = {}, {}
    for names in (DRAWN_BEFORE, DRAWN):
        state.setdefault(names, set())
    if state.get(PAGE) != state["page"]:
        state[PAGE], state[KNOWN] = state["page"], set()
        # The address is that of the new page, which may draw late what has a name that the page before used, too.
        state[DRAWN_BEFORE], state[DRAWN] = set(), set()


def start_page() -> None:
    """Begin to note which names the page draws. Call it before the first widget of the page, outside of which are those of
    `OUTSIDE_PAGE`."""
    state = st.session_state
    # A run that was interrupted has not come to its `end_page`: what was drawn before it is still in the address.
    state[DRAWN_BEFORE], state[DRAWN] = state[DRAWN_BEFORE] | state[DRAWN], set()


def end_page() -> None:
    """Remove names from the address whose widgets the page no longer draws; the session keeps the values. Call it below the
    page."""
    state = st.session_state
    for name in state[DRAWN_BEFORE] - state[DRAWN]:
        if name in st.query_params:
            del st.query_params[name]
    state[DRAWN_BEFORE] = set()


def seed(name: str, read: Callable[[str | None], Value], settled: Callable[[Value], Value]) -> None:
    """Give the widget whose key is `name` its value before it is drawn.

    Args:
        name: the key in the session and in the address.
        read: converts a text from the address to a value; None and invalid texts give the default.
        settled: converts the widget's present value, which can be left from another model, to a valid one.
    """
    state = st.session_state
    # The session can have a value of this key from the previous page, which Streamlit does not pass to this page's widget.
    if name not in state or name not in state[KNOWN] or opens_from_history():
        state[name] = read(st.query_params.get(name, state[CHOSEN].get(_scope(name))))
        return
    # A value that was not chosen follows the default, which can change with the text or the model.
    untouched = name in state[DEFAULTS] and state[name] == state[DEFAULTS][name]
    value = read(None) if untouched else settled(state[name])
    if value != state[name]:
        state[name] = value


def publish(name: str, value: str | None) -> None:
    """Write a value to the address and the session; None stands for the default, which is removed from both."""
    state = st.session_state
    if name not in OUTSIDE_PAGE:
        state[DRAWN].add(name)
    state[KNOWN].add(name)
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
