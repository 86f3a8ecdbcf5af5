"""The Positions page: why a model needs positions, and how it encodes them."""

import streamlit as st

from pages.positions.geometry_views import show_distances, show_rotation, show_waves
from pages.positions.position_question import show_likeness
from pages.positions.sum_part import show_both_positions, show_sum
from pages.positions.swap import show_swap
from pages.positions.table import pick_table, show_cell
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import pick_part
from pages.shell.view.joined_words import pick_words, say_joined
from pages.shell.view.run_banner import show_run
from pages.shell.view.second_run_menu import answer_row, pick_second_run
from pages.shell.view.two_runs import show_two_runs
from pages.ui.text import text
from transformer.analysis.position_geometry import rotation, swap
from transformer.network.embedding import Embedding, Learned, sinusoid

words = text("positions")

with explained():
    with answer_row() as row:
        view, trace = show_run()
    asked = pick_second_run(view, row)
    # A swap computes the run again, which is possible only for our own networks.
    part = pick_part(words["part_label"], words["parts"], words["anchors"], "swap" if view.pipeline.model else "sum")
    both = st.container()

    if part == "swap":
        st.header(words["swap"], anchor="swap")
        show_swap(view, trace, pick_words(trace))
    elif part == "sum":
        st.header(words["sum"], anchor="sum")
        shown = pick_words(trace)
        say_joined(shown)
        show_sum(view, trace, shown)
    else:
        st.header(words["table"], anchor="table")
        table = pick_table(view, trace)
        if not show_likeness(view, table):
            if part == "table":
                show_cell(table)
            elif part == "waves":
                show_waves(table)
            elif part == "distances":
                show_distances(table)
            else:
                show_rotation(table)

    with both:
        show_two_runs(view, asked, lambda second: show_both_positions(view, trace, second))
    show_computed(words["computed_text"], sinusoid, Learned, Embedding.forward, rotation, swap)
    show_next(words["next_text"])
