"""Puts the model of a live training into the sidebar of its session, so that every page can show it."""

import streamlit as st

from pages.shell.frame.model_picker import open_model
from pages.shell.models.own_models import add_own, own_models, own_name
from pages.ui.format import whole
from pages.ui.text import text
from transformer.training.live_run import LiveTraining, Progress

# Session key: the training whose model is in the sidebar, and the step at which the training ended, or None if it has not
# ended.
OFFERED = "live_offered"


def model_name(training: LiveTraining) -> str:
    """The name of a training's model in the sidebar."""
    return own_name(training.settings.task)


def offer_when_new(training: LiveTraining) -> bool:
    """Put the training's model into this session's sidebar: when there is a first copy of it, and again when the training has
    ended. Returns whether this call did so. Raises `CheckpointError` if the server has no room for the model."""
    progress, name = training.progress, model_name(training)
    if progress.copy is None:
        return False
    known, end = st.session_state.get(OFFERED), None if progress.alive else progress.copy.step
    if known and known[0] is training and name in own_models() and (progress.alive or known[1] == end):
        return False
    _offer(training, progress)
    st.session_state[OFFERED] = training, end
    return True


def _offer(training: LiveTraining, progress: Progress) -> None:
    """Add the latest copy of the model to the session's own models."""
    copy, words = progress.copy, text("live")
    if copy is not None:
        about = words["about"].format(task=training.settings.task, step=whole(copy.step), steps=whole(training.settings.steps))
        add_own(model_name(training), copy.data, about)


def open_copy(training: LiveTraining) -> None:
    """Make a new copy of the model in training and pick it in the sidebar. For use in a callback, so that no run of the app
    waits for the copy."""
    training.copy()
    _offer(training, training.progress)
    open_model(model_name(training))
