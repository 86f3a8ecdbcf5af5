"""The Layers page: every tensor of a run and its shape, from token ids to probabilities."""

import streamlit as st

from pages.layers.arithmetic import show_arithmetic
from pages.layers.calls import show_calls
from pages.layers.filmstrip import show_filmstrip
from pages.layers.ledger_part import show_ledger
from pages.layers.module_part import show_module
from pages.layers.residual_part import show_stream
from pages.layers.two_tensors import show_both_tensors
from pages.layers.walk_part import show_walk
from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_next
from pages.shell.view.joined_words import pick_words, say_joined
from pages.shell.view.run_banner import show_run
from pages.shell.view.second_run_menu import answer_row, pick_second_run
from pages.shell.view.two_runs import show_two_runs
from pages.ui.pickers import pick
from pages.ui.text import text

words = text("layers")

with explained():
    with answer_row("xsmall") as row:
        view, trace = show_run(batch=True)
    asked = pick_second_run(view, row)

    part = pick(words["part"], list(words["parts"]), "part")
    if words["parts"][part]:
        st.caption(words["parts"][part])
    # The other parts compute with the numbers of the run itself, so they do not join pieces to words.
    shown = pick_words(trace) if part in ("walk", "filmstrip", "residual-stream") else trace
    say_joined(shown, "" if part == "residual-stream" else words["joined_shapes"])
    both = st.container()
    if part == "walk":
        show_walk(view, trace, shown)
    elif part == "filmstrip":
        show_filmstrip(view, trace, shown)
    elif part == "residual-stream":
        show_stream(shown, view.pipeline.card.measures)
    elif part == "arithmetic":
        show_arithmetic(view, trace)
    elif part == "ledger":
        show_ledger(view, trace)
    elif part == "module":
        show_module()
    else:
        show_calls(view, trace)

    with both:
        show_two_runs(view, asked, lambda second: show_both_tensors(view, shown, second), texts=trace.batch_size)
    show_next(words["next_text"][part])
