"""The frames of a training: its snapshots, and the shipped model as the last one."""

from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

from pages.shell.models.catalogue import available, filmed, snapshot_of, snapshots
from pages.shell.view.runs import runs
from pages.shell.view.view import View
from pages.ui.format import whole
from pages.ui.link_values import kept_in_links, publish, seed
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer import Pipeline
from transformer.pipeline.snapshots import snapshot_name

SNAPSHOT = "snapshot"  # key of the frame in the session and in the URL


class Frames(NamedTuple):
    """The frames of a training: the states of a model that were saved during its training, in order.

    Attributes:
        model: the name of the shipped model.
        steps: the number of training steps done at each frame.
        names: the names of the frames' models, as in a URL: the snapshots, then the shipped model.
    """

    model: str
    steps: tuple[int, ...]
    names: tuple[str, ...]

    def pipeline(self, index: int) -> Pipeline:
        """The model of a frame (saved state), by its index from 0; loaded once for all sessions."""
        return runs().own_pipeline(self.names[index])


def frames_of(model: str) -> Frames:
    """The frames (saved states of the training) of a shipped model that has snapshots."""
    last = int(runs().pipeline(model).card.recipe["steps"])
    before = [step for step in snapshots(model) if step < last]
    return Frames(model, (*before, last), (*(snapshot_name(model, step) for step in before), model))


def frames_of_view(view: View) -> Frames | None:
    """The frames of the training of the view's model, or of the model that it was fine-tuned from. None if neither model has
    snapshots."""
    source = filmed(view.model)
    return None if source is None else frames_of(source)


def say_whose(frames: Frames, view: View) -> None:
    """Draw a caption if the frames are those of the model that the view's model was fine-tuned from."""
    if frames.model != view.model and snapshot_of(view.model) is None:
        st.caption(f":material/fork_right: {text('training')['fine_tuned'].format(model=view.model, start=frames.model)}")


def show_other_films(view: View) -> None:
    """Draw a note that the model was not trained or its training not recorded, and links to models with a recorded training."""
    words = text("training")
    says = words["no_snapshots" if view.pipeline.trained else "not_trained"]
    st.info(says.format(model=view.model), icon=":material/photo_library:")
    with st.container(horizontal=True):
        for name in available():
            if snapshots(name):
                query = urlencode({**kept_in_links(), "model": name})
                st.link_button(words["open_model"].format(model=name), f"training?{query}", icon=":material/movie:")


def pick_frame(view: View, frames: Frames, buttons: bool = False) -> int:
    """The index of the picked frame (saved state), from the session or the URL. By default it is the frame of the sidebar's
    model if that is a snapshot, otherwise 0. With `buttons`, also draw buttons that pick the frame, for a page without the
    film."""
    opened, steps = snapshot_of(view.model), frames.steps
    first = steps.index(opened[1]) if opened and opened[1] in steps else 0
    if buttons:
        labels = {index: whole(step) for index, step in enumerate(steps)}
        label = text("training")["frame"]
        return pick(label, range(len(steps)), SNAPSHOT, first=first, labels=labels, written=lambda index: str(steps[index]))

    def read(asked: str | None) -> int:
        return first if asked is None else {str(step): index for index, step in enumerate(steps)}[asked]

    seed(SNAPSHOT, read, lambda value: min(max(value, 0), len(steps) - 1))
    frame = st.session_state[SNAPSHOT]
    publish(SNAPSHOT, None if frame == first else str(steps[frame]))
    return frame
