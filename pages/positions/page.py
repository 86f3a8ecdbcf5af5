"""The Positions page: how a model encodes the order of its tokens."""

import streamlit as st

from pages.positions.prediction import ALIKE, show_likeness
from pages.positions.swap import show_swap
from pages.positions.table import pick_table, show_cell, show_sum
from pages.positions.views import show_distances, show_rotation, show_waves
from pages.shell.error_boundary import explained
from pages.shell.footer import show_computed, show_next
from pages.shell.parts import seen
from pages.shell.run_banner import show_run
from pages.ui.pickers import pick
from pages.ui.prediction import is_open
from pages.ui.text import text
from transformer.analysis.position_geometry import rotation, swap
from transformer.network.embedding import Embedding, Learned, sinusoid

words = text("positions")
st.title(words["title"])
st.markdown(words["sentence"])

with explained():
    view, trace = show_run()

    st.header(words["sum"], anchor="sum")
    side = show_sum(view, trace)

    st.header(words["table"], anchor="table")
    if is_open(ALIKE) or seen("table", 1100):
        table = pick_table(view, side)
        if not show_likeness(view, table):
            looking = pick(words["look"], list(words["looks"]), "part")
            st.markdown(words["looks"][looking])
            if looking == "table":
                show_cell(table)
            elif looking == "waves":
                show_waves(table)
            elif looking == "distances":
                show_distances(table)
            else:
                show_rotation(table)

    st.header(words["swap"], anchor="swap")
    if seen("swap", 1900):
        show_swap(view, trace)

    show_computed(words["computed_text"], sinusoid, Learned, Embedding.forward, rotation, swap)
    show_next(words["next_text"])
