"""The body of a page: a fragment, so that a click in it runs neither the navigation nor the sidebar again.

Measured on Attention: 11 ms of processor time for a click on another head, 16 when the whole app ran again. A widget of the
sidebar still runs everything; so does a callback in the body that ends with `st.rerun()`, because it changed the sidebar.
"""

from contextlib import suppress

import streamlit as st

from pages.shell.parts import ALL, start_parts, watch_parts
from pages.shell.turns import turn
from pages.ui.compat import NavigationPage, PageEnd, run_page, widgets_of
from pages.ui.link_values import end_page, start_page

# Keys of the fragment, and of the place where it is drawn (app.css).
BODY, PLACE = "body", "page_place"
# Session key: whether the last run of the app came to its end.
COMPLETE = "complete"


def draw_page(page: NavigationPage) -> None:
    """Draw the page that `st.navigation` returned. Call it once in a run of the app, after the sidebar.

    The container is not the page's own, so it stays when another page is opened. Without it, the browser takes what stands
    below every page for the beginning of the new one until that is complete, and then all jumps.
    """
    with st.container(key=PLACE), widgets_of(page):
        _draw(page)


def draw_alone(*keys: str) -> None:
    """End a callback by drawing nothing but the fragments with these keys.

    All is drawn if the last run of the app was interrupted, because the browser has not got the rest of it; and where no
    browser keeps what was drawn before.
    """
    state = st.session_state
    if state.get(COMPLETE) and not state.get(ALL):
        st.rerun(keys)


@st.fragment(key=BODY)
def _draw(page: NavigationPage) -> None:
    """Draw the page; Streamlit calls this alone after a click in it."""
    with turn():
        start_page()
        start_parts()
        with suppress(PageEnd):  # a page that stops on what it cannot show still gets its end
            run_page(page)
        watch_parts()
        end_page()
