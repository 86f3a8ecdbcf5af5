"""Tired or wide: one adjective decides which noun a pronoun refers to. One head's attention turns to that noun, and silencing
the head shows whether the answer depends on it."""

import streamlit as st

from pages.shell.error_boundary import explained
from pages.shell.frame.footer import show_computed, show_next
from pages.shell.frame.parts import seen
from pages.shell.models.model_texts import COMPARED, question_of
from pages.shell.view.pronouns import run_model
from pages.turning.comparison import is_told, needed_head, show_overview, show_turning
from pages.ui.limits import TEXT_CHARACTERS
from pages.ui.prediction import is_open
from pages.ui.text import text
from transformer.analysis.head_measures import shift
from transformer.analysis.importance import head_importance
from transformer.tasks import find_task

words = text("turning")

with explained():
    examples = find_task("english-french").examples
    row = st.container(horizontal=True, key="sentences")  # app.css
    typed = [
        row.text_input(
            words[f"sentence_{letter}"],
            value=example.source,
            max_chars=TEXT_CHARACTERS,
            key=f"sentence_{letter}",
            bind="query-params",
            help=words["sentence_help"],
        )
        for letter, example in zip("ab", examples, strict=False)
    ]
    first, second = (text.strip() or example.source for text, example in zip(typed, examples, strict=False))
    st.caption(words["fixed"])
    for place, model in enumerate(COMPARED):
        if seen(model, 900, at_once=place == 0 or is_open(question_of(model))):
            show_turning(model, first, second)
    show_overview()
    if all(map(is_told, COMPARED)):
        st.info(words["explanation"], icon=":material/psychology_alt:")
    show_computed(words["computed_text"], shift, run_model, needed_head, head_importance)
    show_next(words["next_text"])
