"""Download the model that was trained here, or upload a model."""

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.frame.model_picker import open_model
from pages.shell.models.own_models import add_own, own_name
from pages.shell.view.turns import aside
from pages.training.live_desk import desk
from pages.ui.escaping import literal
from pages.ui.export_menu import download
from pages.ui.format import byte_size
from pages.ui.limits import UPLOAD_MEGABYTES
from pages.ui.text import text
from transformer import CheckpointError, HeadlightError, Pipeline
from transformer.tasks import TASKS
from transformer.training.live_run import LiveTraining

# Session keys: the result of the last upload as (accepted?, sentence), and the number of uploads. The number is part of the key
# of the upload box, because Streamlit forgets the file when the box has a new key.
RESULT, COUNT = "live_upload_result", "live_uploads"


def show_files(training: LiveTraining | None) -> None:
    """Draw the buttons for the files of the model that is trained here, and the box for an upload."""
    words = text("live")
    st.subheader(words["files_title"])
    left, right = st.columns(2)
    with left:
        if training is None or training.progress.copy is None:
            st.caption(words["nothing_to_download"])
        else:
            _show_downloads(training)
    with right:
        key = f"live_upload_{st.session_state.get(COUNT, 0)}"
        st.file_uploader(
            words["upload"].format(megabytes=UPLOAD_MEGABYTES),
            # The box accepts any type, so that the page itself refuses a file and gives the reason. Streamlit would only say
            # "files are not allowed".
            max_upload_size=UPLOAD_MEGABYTES,
            key=key,
            help=words["upload_help"],
            on_change=_take_upload,
            args=(key,),
        )
        result = st.session_state.get(RESULT)
        if result:
            accepted, says = result
            (st.success if accepted else st.error)(says, icon=":material/check:" if accepted else ":material/block:")


def _show_downloads(training: LiveTraining) -> None:
    words, file = text("live"), f"{training.settings.task}-trained"

    def data() -> bytes:
        copy = training.copy()  # a copy of the model at the moment of the click
        return b"" if copy is None else copy.data

    def card() -> str:
        return Pipeline.from_bytes(data(), file).card.to_json()

    download(words["download"], data, f"{file}.safetensors", key="live_download", help=words["download_help"])
    download(words["card"], card, f"{file}-card.json", ":material/description:", key="live_card", help=words["card_help"])


def _take_upload(key: str) -> None:
    """Read the uploaded file. Add its model to the sidebar, or store the reason why it is refused. Called before the app runs
    again."""
    state, words = st.session_state, text("live")
    file = state.get(key)
    if file is None:
        return
    try:
        with aside():
            name = accept(file.name, file.getvalue())
        desk().keep_models()
        open_model(name)
        state[RESULT] = True, words["accepted"].format(name=name)
    except HeadlightError as problem:
        state[RESULT] = False, words["refused"].format(problem=literal(sentence(problem)))
    state[COUNT] = state.get(COUNT, 0) + 1
    st.rerun()  # runs the whole app, because the sidebar has one more model


def accept(file: str, data: bytes) -> str:
    """Add a model from a file to the session's own models; returns its name.

    Raises:
        HeadlightError: the file is refused. In this case, nothing is changed.
    """
    words = text("live")
    if len(data) > UPLOAD_MEGABYTES << 20:
        template = "The file has {size}; up to {most} MB are taken."
        raise CheckpointError(template, size=byte_size(len(data)), most=UPLOAD_MEGABYTES)
    stem = file.removesuffix(".safetensors")
    description = Pipeline.from_bytes(data, stem).card.description
    name = own_name(stem)
    if name in map(own_name, TASKS):  # a training in that task would replace the model
        name = own_name(f"{stem}-uploaded")
    add_own(name, data, words["about_upload"].format(file=file, description=description))
    return name
