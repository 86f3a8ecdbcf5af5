"""Words that may follow the typed text, as buttons below the text box, so that nobody must guess which words a model knows."""

import pandas as pd
import streamlit as st

from pages.shell.models.catalogue import trained, trained_key
from pages.shell.view.runs import runs
from pages.ui.caches import cached
from pages.ui.limits import TEXT_CHARACTERS
from pages.ui.text import text
from transformer.tasks import TASKS, find_task

MOST = 8  # chips
KEY = "next_word"
# Key of the fragment, which is drawn again after a text is typed, without the whole sidebar.
CHIPS = "next_words"


@cached
def next_words(task_name: str, source: str) -> tuple[str, ...]:
    """Up to `MOST` words that may follow a text in the language of a task such as `english-french`. Empty if no word may
    follow, or if the task is not in `TASKS` or has too many such words."""
    return tuple(find_task(task_name).next_words(source)[:MOST]) if task_name in TASKS else ()


@st.fragment(key=CHIPS)
def show_next_words(model: str) -> None:
    """Draw buttons for words that may follow the text in the sidebar, and a list of all words that the model knows."""
    if not trained(model):
        return
    words, pipeline = text("sidebar"), runs().pipeline(trained_key(model))
    source = st.session_state["source"]
    fitting = next_words(pipeline.card.task, source) if len(source) <= TEXT_CHARACTERS else ()
    if fitting:
        st.pills(words["next_words"], fitting, key=KEY, on_change=_append, help=words["next_words_help"])
    vocabulary = pipeline.vocabulary("source")
    if vocabulary.tokenizer_name == "english":
        known = vocabulary.words
        label = words["all_words"].format(count=len(known))
        # The menu has content only while it is open. Otherwise the table would be sent with every click.
        menu = st.popover(label, icon=":material/menu_book:", width="stretch", key="all_words", on_change="rerun")
        if menu.open:
            classes = [find_task(pipeline.card.task).word_class(word, "source") for word in known]
            menu.dataframe(pd.DataFrame({words["word"]: known, words["class"]: classes}), hide_index=True, height=320)


def _append() -> None:
    """Put the picked word at the end of the text."""
    word = st.session_state[KEY]
    if word is not None:
        st.session_state["source"] = f"{st.session_state['source']} {word}".strip()
    st.session_state[KEY] = None
    st.rerun()  # the whole app, because the text box is not in this fragment
