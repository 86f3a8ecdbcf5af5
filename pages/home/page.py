"""The first page: the whole model as a map with the visitor's own sentence, and links to the other pages."""

import streamlit as st

from pages.home.model_map import show_map
from pages.home.overview import show_first_lesson, show_numbers, show_starts, show_tour
from pages.home.turning_rows import can_turn, show_turning_rows
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import section, seen
from pages.shell.view.run_banner import show_run
from pages.ui.text import text
from transformer import Transformer

words = text("home")
show_first_lesson()

try:
    with explained():
        view, trace = show_run(labelled=True)

        show_map(view, trace)
        show_numbers(view, trace)
    if can_turn() and section(words["turning"]["heading"], "tired-or-wide", 420):
        show_turning_rows()
finally:  # drawn even if a text cannot be read, because an example helps most then
    st.header(words["starts_heading"], anchor="starts")
    st.caption(words["starts_says"])
    if seen("starts", 450):
        show_starts()

    if seen("tour", 390):
        show_tour()

    show_computed(words["computed_text"], Transformer.forward, Transformer.encode, Transformer.decode)
    show_next(words["next_text"])
