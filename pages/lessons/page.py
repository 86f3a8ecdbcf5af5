"""The page Lessons: the shipped lessons, classes, an editor, a sheet to print, and tests before and after a lesson."""

import streamlit as st

from pages.lessons.content.grading import judge
from pages.lessons.content.truths import truth_of
from pages.lessons.desk.before_after import show_tests
from pages.lessons.desk.class_entry import show_join, show_open
from pages.lessons.desk.editor import show_editor
from pages.lessons.desk.listing import show_lessons, show_upload
from pages.lessons.desk.sheet import show_sheet
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.ui.limits import CLASSES
from pages.ui.pickers import pick
from pages.ui.text import text

words = text("lessons")
# Parameter of an address → the part that it is for, so that a link with a sheet opens the sheet.
PARTS = {"class_lesson": "class", "sheet": "print", "before": "test", "after": "test"}

with explained():
    parts = {name: says for name, says in words["parts"].items() if name != "class" or CLASSES}
    linked = next((part for name, part in PARTS.items() if name in st.query_params and part in parts), None)
    if linked and "part" not in st.query_params:
        st.query_params["part"] = linked
    part = pick(words["part"], list(parts), "part")
    st.caption(parts[part])
    if part == "class":
        show_open()
    elif part == "write":
        show_editor()
    elif part == "print":
        show_sheet()
    elif part == "test":
        show_tests()
    else:
        if CLASSES:
            show_join()
        show_lessons()
        st.header(words["open_title"])
        show_upload()

    show_computed(words["computed_text"], truth_of, judge)
    show_next(words["next_text"])
