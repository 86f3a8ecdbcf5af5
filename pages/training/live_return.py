"""Keep the training and the own models of a session when its page is loaded again. The browser's tab stores a secret key, with
which the tab's next session finds the training and the models. No link contains the key, so no other visitor can take them."""

import streamlit as st

from pages.shell.models.own_models import PREFIX, own_models
from pages.training.live_desk import DESK, desk
from pages.training.live_sidebar import offer_when_new
from pages.ui.tab_memory import recalled, tab_memory
from transformer import CheckpointError

# TOKEN: the name of the token in the tab. GONE: the session key that says whether the training of the tab does not exist any
# more.
TOKEN, GONE = "training", "live_gone"


def keep_training() -> None:
    """Keep the training and the own models of this session when any page is loaded again. Call this before the sidebar.

    If the URL names an own model, the run stops until the tab has reported its secret key, because the sidebar would replace an
    unknown model.
    """
    state, model = st.session_state, st.query_params.get("model", "")
    waits = model.startswith(PREFIX) and model not in own_models()
    with st.sidebar:
        tab_memory(TOKEN, desk().name if DESK in state else "", _come_back, waits)
    if waits and not recalled(TOKEN):
        st.stop()
    if DESK not in state:
        return
    session_desk = desk()
    if session_desk.came_back is not None and session_desk.training:
        try:
            offer_when_new(session_desk.training)
        except CheckpointError:
            return  # there is no room for the model; the page Watch it learn shows this error


def _come_back(token: str) -> None:
    if token and desk().training is None:
        st.session_state[GONE] = not desk().come_back(token)
