"""The frames of a training: its snapshots, and the shipped model as the last one."""

from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

from pages.shell.models.catalogue import available, filmed, snapshot_of, snapshots
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.link_values import kept_in_links
from pages.ui.text import text
from transformer import Pipeline
from transformer.pipeline.snapshots import snapshot_name


class Frames(NamedTuple):
    """The states of a model during its training, in order.

    Attributes:
        model: the name of the shipped model.
        steps: the number of training steps done at each frame.
        names: the names of the frames' models, as in a link: the snapshots, then the shipped model.
    """

    model: str
    steps: tuple[int, ...]
    names: tuple[str, ...]

    def pipeline(self, index: int) -> Pipeline:
        """The model of a frame, loaded once for all sessions."""
        return runs().own_pipeline(self.names[index])


def frames_of(model: str) -> Frames:
    """The frames of a shipped model that has snapshots."""
    last = int(runs().pipeline(model).card.recipe["steps"])
    before = [step for step in snapshots(model) if step < last]
    return Frames(model, (*before, last), (*(snapshot_name(model, step) for step in before), model))


def show_which(view: View) -> Frames | None:
    """Return the frames of the training that the page shows. If the model was fine-tuned from a model with snapshots, write
    this and return the frames of that model. If neither has snapshots, draw links to models that have some and return None."""
    words, source = text("training"), filmed(view.model)
    if source is None:
        st.info(words["no_snapshots"].format(model=view.model), icon=":material/photo_library:")
        with st.container(horizontal=True):
            for name in available():
                if snapshots(name):
                    query = urlencode({**kept_in_links(), "model": name})
                    st.link_button(words["open_model"].format(model=name), f"training?{query}", icon=":material/movie:")
        return None
    if source != view.model and snapshot_of(view.model) is None:
        st.caption(f":material/fork_right: {words['fine_tuned'].format(model=view.model, start=source)}")
    return frames_of(source)
