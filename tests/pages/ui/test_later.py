"""Tests of `draw_later`: its elements keep their place, and are drawn after the page."""

from streamlit.testing.v1 import AppTest


def app() -> None:
    from contextlib import suppress

    import streamlit as st

    from pages.ui.later import draw_later, drawing_later

    def note(name: str) -> None:
        st.session_state.order = [*st.session_state.get("order", []), name]
        st.markdown(name)

    draw_later("now", lambda: note("outside"))
    with suppress(ValueError), drawing_later(), suppress(KeyError):
        draw_later("first", lambda: note("late"))
        draw_later("second", lambda: note("later"))
        note("page")
        raise KeyError
    with suppress(ValueError), drawing_later():
        draw_later("never", lambda: note("never"))
        raise ValueError


def test_what_is_drawn_later_keeps_its_place() -> None:
    ran = AppTest.from_function(app).run()
    assert not ran.exception
    assert [each.value for each in ran.markdown] == ["outside", "late", "later", "page"]
    assert ran.session_state.order == ["outside", "page", "late", "later"]
