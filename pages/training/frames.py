"""The frames of a training: its snapshots, and the shipped model as the last one."""

from typing import NamedTuple

import streamlit as st

from pages.shell.runs import available, runs, snapshot_of, snapshots
from pages.shell.view import View
from pages.ui.text import text
from transformer import Pipeline
from transformer.pipeline.snapshots import snapshot_name


class Frames(NamedTuple):
    """The states of a model in its training, in order.

    Attributes:
        model: the shipped model.
        steps: training steps done at each frame.
        names: of the models, as in a link: snapshots, and the shipped model as the last.
    """

    model: str
    steps: tuple[int, ...]
    names: tuple[str, ...]

    def pipeline(self, index: int) -> Pipeline:
        """The model at a frame; loaded once for all sessions."""
        return runs().pipeline(self.names[index])


def frames_of(model: str) -> Frames | None:
    """The frames of a shipped model; None if it has no snapshots."""
    steps = snapshots(model)
    if not steps:
        return None
    last = int(runs().pipeline(model).card.recipe["steps"])
    before = [step for step in steps if step < last]
    return Frames(model, (*before, last), (*(snapshot_name(model, step) for step in before), model))


def show_which(view: View) -> Frames | None:
    """Draw whose training the page shows; returns its frames, or None if the model has no snapshots and no start that has."""
    words = text("training")
    model, _ = snapshot_of(view.model) or (view.model, 0)
    shipped = model in available()
    frames = frames_of(model) if shipped else None
    if frames:
        return frames
    start = str(runs().pipeline(model).card.recipe.get("start") or "") if shipped else ""
    frames = frames_of(start) if start in available() else None
    if frames:
        st.info(words["fine_tuned"].format(model=model, start=start), icon=":material/fork_right:")
        return frames
    st.info(words["no_snapshots"].format(model=view.model), icon=":material/photo_library:")
    with st.container(horizontal=True):
        for name in available():
            if snapshots(name):
                st.link_button(words["open_model"].format(model=name), f"training?model={name}", icon=":material/movie:")
    return None
