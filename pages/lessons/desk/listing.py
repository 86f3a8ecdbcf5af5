"""The list of lessons, and a lesson from a file."""

import streamlit as st

from pages.lessons.content.library import add_own, all_lessons
from pages.lessons.content.reading import read_toml
from pages.lessons.playing.open_lesson import continue_lesson, left_lesson, start_lesson
from pages.shell.view.opened_file import show_file_box, show_refused
from pages.ui.cards import card
from pages.ui.escaping import literal
from pages.ui.limits import LESSON_BYTES
from pages.ui.text import text

UPLOAD = "lesson_file"


def show_lessons() -> None:
    """Draw each lesson with a button that starts it, and a button that continues the lesson that was left last."""
    words, left = text("lessons"), left_lesson()
    if left:
        opened, lesson = left
        label = words["continue"].format(title=literal(lesson.title), stop=opened.stop + 1)
        st.button(label, key="continue", on_click=continue_lesson, args=(opened,), type="primary", icon=":material/school:")
    for name, lesson in all_lessons().items():
        count = words["count"].format(stops=len(lesson.stops), questions=len(lesson.questions), minutes=round(lesson.minutes))
        lines = [
            f"**{literal(lesson.title)}**",
            literal(lesson.about),
            f":small[{literal(' '.join([lesson.audience, count]))}]",
        ]
        with card(name):
            left, right = st.columns([5, 1], vertical_alignment="center")
            left.markdown("  \n".join(line for line in lines if line))
            right.button(
                f"{words['start']} :small[{literal(lesson.title)}]",  # only screen readers get the title: app.css
                key=f"start {name}",
                on_click=start_lesson,
                args=(name,),
                icon=":material/play_arrow:",
                help=words["start_help"].format(title=literal(lesson.title)),
                width="stretch",
            )


def show_upload() -> None:
    """Draw the box that adds a lesson from a file to the list above the box. Only this session has the lesson."""
    words = text("lessons")
    st.markdown(words["open_text"])
    megabytes = max(1, LESSON_BYTES >> 20)  # a longer file that the browser sends is refused with a sentence
    show_file_box(UPLOAD, words, lambda data, name: add_own(name.rpartition(".")[0], read_toml(data)), megabytes=megabytes)
    show_refused(UPLOAD, "{problem}")
