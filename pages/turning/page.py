"""Tired or wide: one adjective decides what a pronoun refers to, and one head shows it."""

import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.footer import show_computed, show_next
from pages.shell.parts import seen
from pages.turning.comparison import MODELS, read, show_turning
from pages.ui.text import text
from transformer.analysis.head_measures import shift

words = text("turning")
st.title(words["title"])
st.markdown(words["sentence"])
st.caption(words["fixed"])

with explained():
    for place, model in enumerate(MODELS):
        if place == 0 or seen(model, 650):
            show_turning(model)
    st.info(words["explanation"], icon=":material/psychology_alt:")
    show_computed(words["computed_text"], shift, read)
    show_next(words["next_text"])
