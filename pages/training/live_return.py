"""Keeps the training and the own models of a session when a page is loaded again. The page finds them by a name in its
address."""

import streamlit as st

from pages.training.live_desk import DESK, Desk, desk
from pages.training.live_sidebar import offer_when_new
from pages.ui.link_values import publish
from transformer import CheckpointError

# RUN: the name of the session's training in the link. GONE: the session key that says whether a link named a training that does
# not exist any more.
RUN, GONE = "live_run", "live_gone"


def keep_training() -> None:
    """Keep the training and the own models of this session when any page is loaded again. Call this before the sidebar."""
    if DESK in st.session_state or RUN in st.query_params:
        session_desk = desk()
        come_back(session_desk)
        if session_desk.came_back is not None and session_desk.training:
            try:
                offer_when_new(session_desk.training)
            except CheckpointError:
                return  # there is no room for the model; the page Watch it learn shows this error


def come_back(session_desk: Desk) -> bool:
    """If the page was loaded again, move the training and the models that the link names to this session. Write this session's
    name to the link. Returns whether the link named a training that does not exist any more."""
    state = st.session_state
    asked = st.query_params.get(RUN, "")
    if session_desk.training is None and asked and asked != session_desk.name:
        state[GONE] = not session_desk.come_back(asked)
    session_desk.go_on()
    state[RUN] = session_desk.name
    publish(RUN, session_desk.name or None)
    return state.get(GONE, False)
