"""The training and the own models of this session on every page: a name is in the address, by which a page that is loaded again
finds them."""

import streamlit as st

from pages.training.live_desk import DESK, Desk, desk
from pages.training.live_sidebar import offer_when_new
from pages.ui.link_values import publish
from transformer import CheckpointError

# Name of the session's training in the link; session key: whether a link named one that is not there any more.
RUN, GONE = "live_run", "live_gone"


def keep_training() -> None:
    """Keep the training of this session, and its own models, when any page is loaded again. Call it before the sidebar."""
    if DESK in st.session_state or RUN in st.query_params:
        session_desk = desk()
        come_back(session_desk)
        if session_desk.came_back is not None and session_desk.training:
            try:
                offer_when_new(session_desk.training)
            except CheckpointError:
                return  # no room for the model; Watch it learn says so


def come_back(session_desk: Desk) -> bool:
    """Take over the training and the models that the link names, if the page was only loaded again, and write the name of those
    of this session to the link. Whether the link names some that are not there any more."""
    state = st.session_state
    asked = st.query_params.get(RUN, "")
    if session_desk.training is None and asked and asked != session_desk.name:
        state[GONE] = not session_desk.come_back(asked)
    session_desk.go_on()
    state[RUN] = session_desk.name
    publish(RUN, session_desk.name or None)
    return state.get(GONE, False)
