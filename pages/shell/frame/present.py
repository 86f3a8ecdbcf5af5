"""Presenting on a projector: no sidebar, large type, and keys for a clicker."""

import streamlit as st

from pages.shell.browser import BROWSER
from pages.ui.compat import opens_from_history
from pages.ui.component import mounted
from pages.ui.presenting import PRESENT, presenting
from pages.ui.style import style
from pages.ui.text import text

STYLE = style(BROWSER / "present_page.css")

_mount = mounted(BROWSER / "present")


def start_presenting() -> None:
    """Set whether this run draws the app for a projector: if the URL asks for it, or if the session's last run did and this run
    does not open a URL of the browser's history. Call this before anything is drawn."""
    state, asked = st.session_state, st.query_params.get(PRESENT) == "1"
    state[PRESENT] = asked or (presenting() and not opens_from_history())
    if state[PRESENT] and not asked:
        st.query_params[PRESENT] = "1"
    if state[PRESENT]:
        st.html(STYLE)


def present_bar() -> None:
    """Draw the bar above the page while the app is presented on a projector: buttons to step through the page, to darken the
    screen, to show the sidebar, and to leave."""
    if not presenting():
        return
    with st.container(key="present_bar"):
        _mount(key="present", data={"text": text("present")["bar"]}, on_leave_change=_leave)


def present_button() -> None:
    """Draw a button below the page that starts presenting on a projector."""
    if not presenting():
        words = text("present")
        st.button(words["start"], icon=":material/slideshow:", type="tertiary", on_click=_start, help=words["start_help"])


def _start() -> None:
    st.session_state[PRESENT] = True


def _leave() -> None:
    st.session_state[PRESENT] = False
    if PRESENT in st.query_params:
        del st.query_params[PRESENT]
