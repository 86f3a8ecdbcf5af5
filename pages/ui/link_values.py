"""The values of choices in the URL. They are ids, which stay the same in every language of the labels.

`bind="query-params"` of Streamlit 1.67 writes the label of a choice into the URL (measured: `format_func` decides the
value), so a translation would change every link. Widgets with labels are therefore bound here: `seed` gives such a widget its
value before it is drawn, `publish` writes the value into the URL afterwards. Streamlit binds texts and switches, because
their values have no labels.

The sources of a value, in this order: what the person just did, the URL, an earlier choice in this session, the default.
When a URL is opened from the browser's history, only the URL counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st

from pages.ui.compat import browser_has, opens_from_history
from pages.ui.text import linked_language

Value = TypeVar("Value")

# Names of widgets outside the page, which a click in the page does not draw again: the language in the sidebar.
OUTSIDE_PAGE = frozenset({"language"})
# The second run of a comparison: its text, its target, whether it reads its own answer, its model, and its edits. A run reads
# its own answer by default; the third name is needed only where the first run reads a typed target.
SECOND_RUN = ("b", "b_target", "b_answer", "b_model", "b_edits")
# Names that mean the same on every page: a choice made on one page is kept on the next.
SHARED = frozenset({"language", "item", "side", "kind", "layer", "head", "join", *SECOND_RUN})
# Session key of the `Memory`. The memory is one value of the session, because Streamlit takes 5 µs to look up a value.
MEMORY = "link_values"
# Session key of the parameters that every link of the app keeps, such as those of an open lesson.
KEPT = "kept_in_links"


@dataclass
class Memory:
    """The values and states that a session keeps for the names (keys) of the query parameters in its URL.

    Attributes:
        page: the page of this run.
        chosen: `place(name)` → the chosen value, as written in a URL.
        defaults: name → the default that its widget showed in the previous run.
        known: names of widgets drawn since the page was opened.
        drawn: names of widgets that the page has drawn in this run.
        drawn_before: names of widgets that earlier runs have drawn and that can still be in the URL.
        refused: name → invalid text for its widget in the URL, until `take_refused`.
    """

    page: str = ""
    chosen: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    drawn: set[str] = field(default_factory=set)
    drawn_before: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)

    def place(self, name: str) -> str:
        """The key of a widget's name in `chosen`: for `SHARED` names the same on every page, otherwise with the page's name."""
        return name if name in SHARED else f"{self.page}/{name}"


def memory() -> Memory:
    """The session's `Memory` of the names in its URL; empty at first."""
    return st.session_state.setdefault(MEMORY, Memory())


def keep_in_links(parameters: Mapping[str, str]) -> None:
    """Set the parameters that every link of the app keeps besides the language. They replace the parameters of the last
    call."""
    st.session_state[KEPT] = dict(parameters)


def kept_in_links() -> dict[str, str]:
    """The parameters that every link of the app keeps: the language, and the parameters of an open lesson."""
    return {**linked_language(), **st.session_state.get(KEPT, {})}


def start_run() -> None:
    """Prepare the `memory` for a run of the app: reset parts of it if another page or a URL of the browser's history is
    opened. Call it when the page is known, before the first widget."""
    links, page = memory(), st.session_state["page"]
    if opens_from_history():
        links.chosen, links.defaults = {}, {}
    if links.page != page:
        links.page, links.known = page, set()
        # The URL already belongs to the new page. A name that both pages use must stay in it until the new page draws it.
        links.drawn_before, links.drawn = set(), set()


def start_page() -> None:
    """Begin to note the names of the widgets that the page draws, except those in `OUTSIDE_PAGE`. Call it before the first
    widget of the page."""
    links = memory()
    # An interrupted run has not called `end_page`, so the names that were drawn before it are still in the URL.
    links.drawn_before, links.drawn = links.drawn_before | links.drawn, set()


def end_page() -> None:
    """Remove the names of widgets that the page no longer draws from the URL. The session keeps their values. Call it after
    the last widget of the page."""
    links = memory()
    for name in links.drawn_before - links.drawn:
        if name in st.query_params:
            del st.query_params[name]
    links.drawn_before = set()


def refuse(name: str, linked: str) -> None:
    """Note that the URL has an invalid text for the widget with this name, so that the page can show a message about it."""
    memory().refused[name] = linked


def unread(name: str) -> str | None:
    """The URL's text for the widget `name`; None if it has none, or if this widget was drawn since the page was opened."""
    return None if name in memory().known else st.query_params.get(name)


def take_refused() -> dict[str, str]:
    """Name of a widget → its invalid text in the URL (`refuse`). Each text is returned only once."""
    links = memory()
    refused, links.refused = links.refused, {}
    return refused


def seed(name: str, read: Callable[[str | None], Value], settled: Callable[[Value], Value]) -> None:
    """Set the value of a widget before it is drawn. `name` is the key of the widget in the session and in the URL.

    Args:
        read: called with the text of the URL; returns the value. Called with None, it returns the default. It raises
            `ValueError` or `KeyError` if the text is not a valid value; the widget then gets the default.
        settled: converts the widget's present value, which can be left over from another model, to a valid value.
    """
    state, links = st.session_state, memory()
    # The session can have a value of this key from the previous page, which Streamlit does not pass to this page's widget.
    if name not in links.known or name not in state or opens_from_history():
        linked = st.query_params.get(name)
        try:
            state[name] = read(links.chosen.get(links.place(name)) if linked is None else linked)
        except (KeyError, ValueError):
            state[name] = read(None)
            if linked is not None:
                refuse(name, linked)
        return
    present = state[name]
    # A value that nobody chose is replaced by the present default, because the default can change with the text or the model.
    untouched = name in links.defaults and present == links.defaults[name]
    value = read(None) if untouched else settled(present)
    # The value is set again if the browser does not have it, because the message to the browser can be lost. Setting it in
    # every run would undo a click made in the meantime.
    if value != present or not browser_has(name):
        state[name] = value


def choose(name: str, written: str) -> None:
    """Choose a value, as it is written in a URL, for a widget that the page may not have drawn yet. Call it in a
    callback."""
    links = memory()
    links.chosen[links.place(name)] = written
    links.known.discard(name)
    if name in st.query_params:
        st.query_params[name] = written


def publish(name: str, value: str | None) -> None:
    """Write a widget's value, as it is written in a URL, to the URL and the `memory`. None means the default value: it
    removes the name from both. Call it after the widget is drawn."""
    links = memory()
    if name not in OUTSIDE_PAGE:
        links.drawn.add(name)
    links.known.add(name)
    if value is None:
        links.chosen.pop(links.place(name), None)
        links.defaults[name] = st.session_state[name]
        if name in st.query_params:
            del st.query_params[name]
        return
    links.chosen[links.place(name)] = value
    links.defaults.pop(name, None)
    if st.query_params.get(name) != value:
        st.query_params[name] = value
