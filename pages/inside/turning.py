"""Tired or wide: one adjective decides what a pronoun refers to, and one head shows it."""

import streamlit as st

from pages.widgets.problems import explained
from pages.widgets.text import text
from pages.widgets.turning import MODELS, show_turning

words = text("turning")
st.title(words["title"])
st.markdown(words["sentence"])

with explained():
    for model in MODELS:
        show_turning(model)
    st.info(words["explanation"], icon=":material/psychology_alt:")
