"""The heading of every page: its title, a sentence about it, and the box of the text that it reads."""

from contextlib import AbstractContextManager

import streamlit as st

from pages.ui.text import text


def heading() -> AbstractContextManager[object]:
    """Draw the title of the page and its sentence, between the bar of a lesson and the page. Returns the place of the text box
    below them. If the page reads no text, this place is hidden. The box is still drawn in it, because a widget that is not
    drawn loses its value."""
    words = text(st.session_state["page"])
    with st.container(key="heading", gap="xxsmall"):
        st.title(words.get("heading", words["title"]))
        st.markdown(words["sentence"])
        # app.css hides `source_unread`
        return st.container(gap="xxsmall", key="source_place" if words.get("reads_source", True) else "source_unread")
