"""Parts of a page that compute a run again, which is possible for the networks of this project only."""

import streamlit as st

from pages.shell.folders import folder_models, own_network_name
from pages.shell.view import View
from pages.ui.escaping import literal
from pages.ui.text import text
from transformer import Transformer


def own_network(view: View) -> Transformer | None:
    """The network of a view, of which every step can be computed again; for a network of others, say in a sentence why this
    part is not drawn, and return None."""
    model, words = view.pipeline.model, text("common")
    if model is None:
        sentences, other = [words["recorded"].format(model=literal(view.model))], own_network_name(view.model)
        if other in folder_models():
            sentences.append(words["recorded_own"].format(model=literal(other)))
        st.info(" ".join(sentences), icon=":material/info:")
    return model
