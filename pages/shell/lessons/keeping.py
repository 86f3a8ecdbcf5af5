"""Keep the view of a page for a lesson of one's own. The session has the kept views; the page Lessons makes them a lesson."""

import streamlit as st

from pages.shell.lessons.lesson import Stop
from pages.shell.lessons.reading import RESERVED
from pages.ui.limits import LESSON_PARAMETERS, LESSON_STOPS, TEXT_CHARACTERS
from pages.ui.text import text

# Session key of a list of stops, with a number for each that stays the same when they change places.
KEPT, NEXT = "kept_views", "kept_next"
# Pages without a view of a model.
LEFT_OUT = ("lessons",)


def kept() -> list[tuple[int, Stop]]:
    """The kept views as stops with a number each, in order. The list may be changed."""
    return st.session_state.setdefault(KEPT, [])


def show_keep() -> None:
    """Draw the button that keeps the view of the page. Call it below the page."""
    if st.session_state["page"] in LEFT_OUT:
        return
    words = text("lesson")["keep"]
    full = len(kept()) >= LESSON_STOPS
    st.button(
        words["button"],
        key="keep_view",
        on_click=_keep,
        icon=":material/bookmark_add:",
        type="tertiary",
        disabled=full,
        help=words["help"],
    )
    if kept():
        st.caption(words["count"].format(count=len(kept())))


def _keep() -> None:
    """Keep what the address has, and the model and its text, which the address leaves out where they are the default."""
    state = st.session_state
    view = {name: st.query_params[name] for name in st.query_params if name not in RESERVED}
    view = {name: state[name] for name in ("model", "source") if state.get(name)} | view
    short = [(name, value) for name, value in view.items() if len(value) <= TEXT_CHARACTERS][:LESSON_PARAMETERS]
    number = state.get(NEXT, 0)
    state[NEXT] = number + 1
    kept().append((number, Stop(title=text(state["page"])["title"], say="", page=state["page"], view=tuple(short))))
