"""The examples of the picked model in the sidebar, and the texts that a picked model starts with."""

import streamlit as st

from pages.shell.models.folders import folder_models, open_folder
from pages.shell.models.model_examples import TEXTS, Start, starts, take
from pages.ui.escaping import literal
from pages.ui.prediction import open_questions
from pages.ui.text import text
from transformer import HeadlightError

# Session keys: the model of the last run, and a dict: model → the texts that it had when another model was picked.
LAST_MODEL, TEXTS_OF_MODELS = "sidebar_model", "sidebar_texts"
# Key of the fragment with the sentence on an example.
LOOK_FOR = "look_for"


def show_examples(offered: tuple[Start, ...]) -> None:
    """Draw the list of examples: buttons that put texts into the sidebar. It unfolds there, so the page stays visible."""
    # Filled only while open: the buttons of a closed list would be sent with every click.
    menu = st.expander(text("sidebar")["examples"], icon=":material/lightbulb:", key="examples", on_change="rerun")
    if menu.open:
        with menu, st.container(gap=None, key="example-list"):
            for index, start in enumerate(offered):
                st.button(
                    literal(start.label),
                    key=f"example-{index}",
                    on_click=take,
                    args=(start,),
                    type="tertiary",
                    width="stretch",
                )


@st.fragment(key=LOOK_FOR)
def show_look_for(offered: tuple[Start, ...]) -> None:
    """If the sidebar's text boxes contain an example that this page can show, draw what to look for in it. Draw nothing while a
    question of the page is open, because the hint would tell the answer."""
    if open_questions():
        return
    for start in offered:
        if start.now and st.session_state.get("page") in start.pages:
            st.info(start.look_for, icon=":material/visibility:")


def start_anew() -> None:
    """Replace the sidebar's texts after another model was picked: by the texts that this model had last in this session, or
    else by its first example."""
    state = st.session_state
    texts: dict[str, Start] = state.setdefault(TEXTS_OF_MODELS, {})
    texts[state.get(LAST_MODEL, "")] = Start(look_for="", **{name: state[name] for name in TEXTS})
    model = state["model"]
    if model in folder_models() and model not in texts:
        try:
            open_folder(folder_models()[model])
        except HeadlightError:
            return  # the sidebar draws the error
    take(texts.get(model) or starts(model)[0])
