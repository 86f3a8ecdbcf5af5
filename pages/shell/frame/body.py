"""The body of a page: a fragment, so that a click in it runs neither the navigation nor the sidebar again.

Measured on Attention: 11 ms of processor time for a click on another head, 16 when the whole app ran again. A widget of the
sidebar still runs everything. So does a callback in the body that changes the sidebar and therefore ends with `st.rerun()`.
"""

from contextlib import suppress

import streamlit as st

from pages.shell.frame.history import counting_choices
from pages.shell.frame.navigation import here
from pages.shell.frame.parts import ALL, start_parts, watch_parts
from pages.shell.view.run_banner import AGREEMENT, fill_agreement
from pages.shell.view.turns import turn
from pages.ui.compat import NavigationPage, PageEnd, run_page, widgets_of
from pages.ui.escaping import quoted
from pages.ui.link_values import end_page, start_page, take_refused
from pages.ui.text import text

# Keys of the fragment, and of the place where it is drawn (app.css).
BODY, PLACE = "body", "page_place"
# Session key: whether the last run of the app came to its end.
COMPLETE = "complete"
# Session key: the address of the page that was drawn last.
DRAWN = "drawn_address"


def draw_page(page: NavigationPage) -> None:
    """Draw a page that `navigation` returned. Call it once in a run of the app, after the sidebar.

    The page is drawn in a container that stays when another page is opened. Without it, the elements below every page would be
    at the top of a new page until that page is complete, and then jump to the bottom.
    """
    with st.container(key=PLACE), widgets_of(page):
        _draw(page)


def draw_alone(*keys: str) -> None:
    """End a callback so that only the fragments with these keys are drawn.

    The whole app is drawn if its last run was interrupted, because the browser did not receive all of that run. It is also
    drawn in tests without a browser, because nothing there keeps the elements of earlier runs.
    """
    state = st.session_state
    if state.get(COMPLETE) and not state.get(ALL):
        st.rerun(keys)


@st.fragment(key=BODY)
def _draw(page: NavigationPage) -> None:
    """Draw the page. After a click in the page, Streamlit runs only this function."""
    with turn(), counting_choices():
        start_page()
        start_parts()
        st.session_state.pop(AGREEMENT, None)  # of a run that was interrupted
        # If the page stops early, the code below still runs.
        with suppress(PageEnd):
            run_page(page)
        with suppress(PageEnd):
            fill_agreement()
        watch_parts()
        end_page()
        _say_refused()
        st.session_state[DRAWN] = here()


def _say_refused() -> None:
    """Write which values of the URL the page does not have. The note does not move the page, and stays until it is closed."""
    if refused := take_refused():
        values = ", ".join(quoted(f"{name}={asked}") for name, asked in refused.items())
        st.toast(text("common")["link_refused"].format(values=values), icon=":material/link_off:", duration="infinite")
