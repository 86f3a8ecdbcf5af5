"""The list of edits of the model, on the pages that can run the edited model. The URL contains the edits as phrases."""

from contextlib import AbstractContextManager

import streamlit as st

from pages.shell.view.view import View
from pages.ui.compat import opens_from_history
from pages.ui.text import text
from transformer import HeadlightError
from transformer.tracing.phrases import interventions

KEY = "edits"


def follow_edits() -> None:
    """Remove the edits of the model when a URL without edits is opened, such as the next stop of a lesson. The list of edits
    cannot do this, because a page may run the edited model before it draws the list, or may not draw the list at all. Call this
    once in a run of the app, before the page."""
    if opens_from_history() and KEY not in st.query_params:
        st.session_state[KEY] = []


def show_edit_list() -> list[str]:
    """Draw the box that lists the model's edits, to type or remove. Returns them as phrases, such as `no positions`."""
    words = text("whatif")
    st.session_state.setdefault(KEY, [])
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    with left:
        phrases = st.multiselect(
            words["edits"],
            st.session_state[KEY],
            key=KEY,
            accept_new_options=True,
            placeholder=words["edits_placeholder"],
            help=words["edits_help"],
            bind="query-params",
        )
    right.button(words["clear"], on_click=_clear, disabled=not phrases, icon=":material/delete:", width="stretch")
    return phrases


def edits_asked() -> bool:
    """Whether this session or the URL has edits of the model. Can be called before the list of edits is drawn."""
    return bool(st.session_state.get(KEY) or st.query_params.get(KEY))


def edit_button(label: str, phrase: str, help: str | None = None, menu: str = "") -> None:
    """Draw a button that adds an edit of the model, the phrase `phrase`. `menu` is the key of the menu (`edit_menu`) that the
    button is in: a click closes the menu, which would otherwise cover the two answers."""
    st.button(label, key=f"edit {phrase}", on_click=_add, args=(phrase, menu), help=help)


def edit_menu(label: str, icon: str, key: str) -> AbstractContextManager[object]:
    """Draw a menu for buttons that add edits of the model. The buttons are drawn in the context that it returns."""
    return st.popover(label, icon=icon, key=key, on_change="rerun")


def _add(phrase: str, menu: str) -> None:
    edits = st.session_state.get(KEY, [])
    if phrase not in edits:
        st.session_state[KEY] = [*edits, phrase]
    if menu:
        st.session_state[menu] = False


def _clear() -> None:
    st.session_state[KEY] = []


def fits(view: View, phrase: str) -> bool:
    """Whether an edit, as a phrase such as `no positions`, can be made to the model of a view."""
    try:
        for edit in interventions(phrase, view.pipeline.config):
            edit.place(view.pipeline.network)
    except HeadlightError:
        return False
    return True
