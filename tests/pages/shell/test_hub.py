"""The box for a model of a hub. In these tests the hub is a small server on this machine."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from streamlit.testing.v1 import AppTest

from pages.shell.frame import hub_box
from pages.shell.models import folders, hub_downloads
from pages.ui.text import text
from tests.pages.apps import on_page, shown, shown_errors, unfold
from tests.transformer.huggingface.loopback import COMMIT, Hub, serving
from tests.transformer.huggingface.tiny import folder_of
from transformer import CheckpointError
from transformer.huggingface import hub as hubs
from transformer.huggingface.hf_limits import HUB_DOWNLOADS, HUB_WAITING

MASKS = "pages/masks/page.py"
NAME = f"owner/tiny@{COMMIT}"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that visitors may use, with the model `owner/tiny`."""
    monkeypatch.setenv(hubs.STORE, str(tmp_path / "store"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(folders, "HUB", True)
    with serving(Hub(owner__tiny=folder_of("gpt2"))) as served:
        monkeypatch.setenv(hubs.ADDRESS, served.address)
        yield served
        served.gate.set()
        for thread in threading.enumerate():
            if thread.name.startswith("download "):
                thread.join()


def pressed(app: AppTest, key: str) -> AppTest:
    return app.sidebar.button(key=key).click().run()


def download_of(app: AppTest) -> hub_downloads.Download:
    one = app.session_state[hub_box.DOWNLOAD]
    assert isinstance(one, hub_downloads.Download)
    return one


@pytest.mark.slow
def test_a_model_that_two_visitors_request_is_downloaded_once(hub: Hub) -> None:
    hub.gate.clear()
    first, second = (unfold(on_page(MASKS, model="reverse"), hub_box.MENU) for _ in range(2))
    for app in (first, second):
        app.sidebar.text_input(key=hub_box.BOX).set_value("owner/tiny").run()
    one = download_of(first)
    assert one is download_of(second)
    assert one.alive
    pressed(first, "hub_cancel")  # the second visitor still waits
    assert hub_box.DOWNLOAD not in first.session_state
    hub.gate.set()
    one.thread.join()
    second.run()
    assert hub.listings == 1
    assert second.sidebar.selectbox(key="model").value == NAME
    assert shown_errors(second) == ""
    assert second.session_state["source"]  # the text box has an example of this kind of model
    linked = on_page(MASKS, model=NAME, source="the cat")
    assert linked.sidebar.selectbox(key="model").value == NAME
    assert shown_errors(linked) == ""


def test_a_link_asks_before_it_downloads_and_errors_are_sentences(hub: Hub) -> None:
    app = on_page(MASKS, model="owner/gone@main")
    assert hub.listings == 0
    assert text("hub")["linked"].format(name="owner/gone@main") in [shown(info.value) for info in app.sidebar.info]
    pressed(app, "hub_linked_start")
    download_of(app).thread.join()
    assert "The hub has no model 'owner/gone', or it is not open to everybody." in shown_errors(app.run())
    pressed(app, "hub_close")
    app = unfold(app, hub_box.MENU)
    app.sidebar.text_input(key=hub_box.BOX).set_value("http://127.0.0.1/private").run()
    assert "is not the id of a model" in shown_errors(app)
    assert hub.requests == []


def test_the_number_of_waiting_downloads_is_limited(hub: Hub) -> None:
    hub.gate.clear()
    for number in range(HUB_DOWNLOADS + HUB_WAITING):
        name = f"owner/model-{number}"
        hub.models[name] = hub.models["owner/tiny"]  # a model that the hub does not have would end its download at once
        hub_downloads.start(hubs.hub_id(name), "a visitor")
    with pytest.raises(CheckpointError, match="Too many models are being downloaded"):
        hub_downloads.start(hubs.hub_id("owner/another"), "a visitor")


def test_there_is_no_box_if_the_operator_has_not_allowed_it(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "HUB", False)
    app = on_page(MASKS, model="owner/tiny")
    assert text("hub")["refused"].format(name="owner/tiny") in [shown(warning.value) for warning in app.sidebar.warning]
    assert hub_box.MENU not in app.session_state
    assert hub.listings == 0
