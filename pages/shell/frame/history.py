"""Browser history: Back undoes the last choice, as does a button of the app; an address can name a part.

The server counts the choices, because it knows what the browser cannot: whether a change of the address is a person's choice
or the app's own. At the end of a run it reports the count, and the browser adds an entry if the count has risen.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

import streamlit as st
from streamlit.components.v2 import component

from pages.shell.browser import BROWSER
from pages.ui.compat import opens_from_history
from pages.ui.scripts import importing
from pages.ui.text import text

# Session keys: how many choices were made, and the page and its parameters after the last; whether this run is no choice.
CHOICES, BY_ITSELF = "choices", "by_itself"
# Parameters that Back does not undo: the answers in a lesson stay.
LASTING = ("answers",)

_mount = component("headlight_history", js=importing(BROWSER / "history.js"))
_mount_choice = component("headlight_choice", js=importing(BROWSER / "choice.js"))


def keep_history() -> None:
    """Let only choices add entries to the browser's history, and draw the button that undoes the last. Call it once a run."""
    words = text("common")
    _mount(key="history", data={name: words[name] for name in ("scrollable", "undo", "undo_help")})


def change_by_itself() -> None:
    """Note that the next drawing of the page is no choice of a person: Back does not undo its changes alone. Call it in a
    callback."""
    st.session_state[BY_ITSELF] = True


@contextmanager
def counting_choices() -> Iterator[None]:
    """A context in which the page is drawn. At its end a choice is counted if the address has changed on the same page. A run
    that is interrupted counts nothing, so its choice and the next are undone together."""
    state = st.session_state
    by_itself = state.pop(BY_ITSELF, False) or opens_from_history()
    yield
    query = dict(st.query_params)
    now = state["page"], {name: value for name, value in query.items() if name not in LASTING}
    count, before = state.get(CHOICES, (0, None))
    is_choice = before is not None and before[0] == now[0] and before != now and not by_itself
    state[CHOICES] = count + is_choice, now
    # The script runs again when its data change. It needs the address after other changes, too.
    _mount_choice(key="choice", data={"choice": count + is_choice, "address": urlencode(query)})
