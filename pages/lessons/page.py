"""The page Lessons: the shipped lessons, classes, an editor for own lessons, a sheet to print, and tests before and after."""

import streamlit as st

from pages.lessons.content.grading import judge
from pages.lessons.content.truths import truth_of
from pages.lessons.desk.before_after import show_tests
from pages.lessons.desk.editor import show_editor
from pages.lessons.desk.listing import show_lessons, show_upload
from pages.lessons.desk.sheet import show_sheet
from pages.lessons.playing.companion import companion
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import seen
from pages.ui.text import text

words = text("lessons")

with explained():
    companion().show_join()
    show_lessons()
    companion().show_open()

    st.header(words["open_title"])
    show_upload()

    st.header(words["own_title"])
    if seen("own", 300):
        show_editor()

    st.header(words["sheet_title"])
    if seen("sheet", 900):
        show_sheet()

    st.header(words["tests_title"])
    if seen("tests", 600):
        show_tests()

    show_computed(words["computed_text"], truth_of, judge)
    show_next(words["next_text"])
