"""The entry to a class on the page Lessons: a student joins it with its code, and a teacher opens it."""

import streamlit as st

from pages.lessons.class_mode.classes import classes
from pages.lessons.class_mode.seat import Seat, join, seat, take_seat
from pages.lessons.content.lesson import LessonError
from pages.lessons.content.library import all_lessons, shipped
from pages.lessons.content.packing import PACKED, pack
from pages.lessons.playing.open_lesson import start_lesson
from pages.shell.error_boundary import sentence
from pages.ui.escaping import literal
from pages.ui.limits import CLASS_MINUTES
from pages.ui.pickers import pick
from pages.ui.text import text

# Widget keys of the box for the code and of the button that opens a class. REFUSED is a session key: what failed ("join" or
# "open"), and the error.
CODE, OPEN_CLASS, REFUSED = "class_code", "open_class", "class_refused"
CODE_CHARACTERS = 12  # a code of 6 characters can be typed with spaces between them


def show_join() -> None:
    """Draw the box in which a student types the code of a class, and the button that joins it."""
    words = text("lessons")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(words["code"], key=CODE, max_chars=CODE_CHARACTERS, placeholder=words["code_placeholder"], width=180)
        st.button(words["join"], key="join_class", on_click=_join, icon=":material/group_add:")
    _show_refusal("join")


def show_open() -> None:
    """Draw the list of lessons for a class, and the button with which a teacher opens the class."""
    words, lessons = text("lessons"), all_lessons()
    st.markdown(words["class_text"].format(minutes=CLASS_MINUTES))
    titles = {name: lesson.title for name, lesson in lessons.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = pick(words["class_lesson"], [*lessons], "class_lesson", as_list=True, labels=titles, written=str)
        st.button(words["open_class"], key=OPEN_CLASS, on_click=_open, args=(name,), icon=":material/groups:")
    _show_refusal("open")


def _join() -> None:
    typed = st.session_state.get(CODE, "")
    try:
        lesson = join(typed)
    except LessonError as error:
        st.session_state[REFUSED] = ("join", error)
        return
    start_lesson(lesson, alone=False)


def _open(name: str) -> None:
    """Open a class for a lesson, and close the class that this session teaches. A lesson that only this session has is packed
    into the students' address, so it must fit there."""
    lesson = all_lessons()[name]
    try:
        linked = name if name in shipped() or name.startswith(PACKED) else pack(lesson)
        before = seat()
        if before:
            classes().close(before.code, before.secret)
        code, secret = classes().open(linked)
    except LessonError as error:
        st.session_state[REFUSED] = ("open", error)
        return
    take_seat(Seat(code, secret=secret))
    start_lesson(linked, alone=False)


def _show_refusal(of: str) -> None:
    """Draw the error of the last attempt, once, if `of` is the name of this attempt: `join` or `open`."""
    tried, error = st.session_state.get(REFUSED, ("", None))
    if tried == of and error:
        st.warning(literal(sentence(error)), icon=":material/groups:")
        del st.session_state[REFUSED]
