"""Notes on a page for a model that runs in the classes of Hugging Face: the steps of its run cannot be computed again, and the
source lines of our own network did not compute this run."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.shell.models.folders import folder_models, own_network_name
from pages.shell.view.view import View
from pages.ui.escaping import literal
from pages.ui.text import text
from transformer import Transformer

OWN_NETWORK = "transformer.network"  # prefix of the modules of our own network


def own_network(view: View) -> Transformer | None:
    """The network of a view's model, if it is this project's own, so that each step of its run can be computed again. For
    another network, draw a sentence on why this part of the page is not drawn, and return None."""
    model, words = view.pipeline.model, text("common")
    if model is None:
        sentences, other = [words["recorded"].format(model=literal(view.model))], own_network_name(view.model)
        if other in folder_models():
            sentences.append(words["recorded_own"].format(model=literal(other)))
        st.info(" ".join(sentences), icon=":material/info:")
    return model


def say_other_source(*parts: Callable[..., Any]) -> None:
    """If the model runs in another network and some of `parts` are code of our own network, draw the note that this code did
    not compute the run."""
    name = st.session_state.get("model")
    model = folder_models().get(name) if name else None
    if model and not model.own_network and any(part.__module__.startswith(OWN_NETWORK) for part in parts):
        st.info(text("common")["recorded_source"].format(model=literal(model.name)), icon=":material/info:")
