"""Parts of a page that compute a run again, which is possible for the networks of this project only."""

import streamlit as st

from pages.shell.view import View
from pages.ui.escaping import literal
from pages.ui.text import text
from transformer import Transformer


def own_network(view: View) -> Transformer | None:
    """The network of a view, of which every step can be computed again; for a network of others, say in a sentence why this
    part is not drawn, and return None."""
    model = view.pipeline.model
    if model is None:
        st.info(text("common")["recorded"].format(model=literal(view.model)), icon=":material/info:")
    return model
