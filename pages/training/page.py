"""Watch it learn: a model from random weights to the end of its training."""

import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.footer import show_computed, show_next
from pages.shell.run_banner import show_run
from pages.training.frames import show_which
from pages.ui.text import text
from transformer.training.run import Training

words = text("training")
st.title(words["title"])
st.markdown(words["sentence"])

with explained():
    view, trace = show_run()
    frames = show_which(view)
    if frames:
        st.subheader(words["recorded_title"].format(model=frames.model))
    show_computed(words["computed_text"], Training.learn)
    show_next(words["next_text"])
