"""Download the model that was trained here, or upload a model."""

import streamlit as st

from pages.shell.frame.model_picker import open_model
from pages.shell.models.own_models import add_own, own_name
from pages.shell.view.opened_file import opened_file, show_file_box, show_refused
from pages.training.live_desk import desk
from pages.ui.export_menu import download
from pages.ui.format import byte_size
from pages.ui.limits import UPLOAD_MEGABYTES
from pages.ui.text import text
from transformer import CheckpointError, Pipeline
from transformer.tasks import TASKS
from transformer.training.live_run import LiveTraining

# Session key of the name of the model that was uploaded last.
UPLOAD = "live_upload"


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
        show_file_box(UPLOAD, words, accept)
        name = opened_file(UPLOAD)
        if not show_refused(UPLOAD, words["refused"]) and name:
            st.success(words["accepted"].format(name=name), icon=":material/check:")


def _show_downloads(training: LiveTraining) -> None:
    words, file = text("live"), f"{training.settings.task}-trained"

    def data() -> bytes:
        copy = training.copy()  # a copy of the model at the moment of the click
        return b"" if copy is None else copy.data

    def card() -> str:
        return Pipeline.from_bytes(data(), file).card.to_json()

    download(words["download"], data, f"{file}.safetensors", key="live_download", help=words["download_help"])
    download(words["card"], card, f"{file}-card.json", ":material/description:", key="live_card", help=words["card_help"])


def accept(data: bytes, file: str) -> str:
    """Add a model from a file to the session's own models, and open it; returns its name.

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
    desk().keep_models()
    open_model(name)
    return name
