"""The section in which a visitor trains a model, tested without a browser."""

import copy
import dataclasses
import hashlib
import json
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cachetools import TTLCache
from safetensors.torch import save
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from pages.shell.frame.model_picker import OPENED
from pages.shell.models import own_models
from pages.shell.models.own_models import OwnModel, load_own, own_name
from pages.training import live_desk
from pages.training import live_training as live
from pages.training.live_desk import DESK, Desk, Line
from pages.training.live_pictures import CURVES, thinned
from pages.training.live_return import TOKEN
from pages.ui import tab_memory
from pages.ui.text import text
from tests.pages.apps import Tab, charts, on_page, shown
from tests.pages.training.links import SHORT, TINY
from tests.waiting import SECONDS, wait_for
from transformer import CheckpointError, Pipeline, Transformer
from transformer.tasks import find_task
from transformer.training.live_run import Copy, LiveTraining
from transformer.training.training_settings import LiveSettings

PAGE = "pages/training/page.py"
SESSION = "test session id"  # the session id of every `AppTest`


@pytest.fixture
def tab(monkeypatch: pytest.MonkeyPatch) -> Tab:
    """The tab in which all sessions of a test run, one after another."""
    tab = Tab()
    monkeypatch.setattr(tab_memory, "_mount", tab.mount)
    return tab


@pytest.fixture(autouse=True)
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """A line that only this test uses. Its trainings are ended after the test."""
    line = Line(1)
    monkeypatch.setattr(live_desk, "LINE", line)
    monkeypatch.setattr(live, "LINE", line)
    monkeypatch.setattr(live_desk, "TRAINING_NICENESS", 0)
    clear_session_resource_cache(SESSION)
    yield line
    clear_session_resource_cache(
        SESSION
    )  # Streamlit does the same when a browser disconnects; this releases the desk, which stops the training
    wait_for(lambda: not line._running)


def desk_of(app: AppTest) -> Desk:
    return app.session_state[DESK]


@pytest.mark.slow
def test_a_link_sets_every_box_and_invalid_values_give_the_defaults() -> None:
    query = {
        "live_world": "sort",
        "live_longest": "7",
        "live_d_model": "32",
        "live_heads": "8",
        "live_layers": "3",
        "live_d_ff": "128",
        "live_norm": "post-norm",
        "live_learning_rate": "0.01",
        "live_batch": "16",
        "live_warmup": "198",
        "live_smoothing": "0.2",
        "live_steps": "99",
        "live_seed": "5",
    }
    app = on_page(PAGE, **SHORT, **query)
    assert not app.exception
    assert app.button(key="live_start").label == "Start training"
    assert chosen(app) == LiveSettings(
        task="sort",
        longest=7,
        d_model=32,
        heads=8,
        layers=3,
        d_ff=128,
        pre_norm=False,
        learning_rate=0.01,
        batch=16,
        warmup=198,
        label_smoothing=0.2,
        steps=99,
        seed=5,
    )
    says = text("live")["long_warmup"].format(rate=0.005)
    assert says in [caption.value for caption in app.caption]
    nonsense = dict.fromkeys(query, "<b>-1e999</b>")
    assert chosen(on_page(PAGE, **SHORT, **nonsense)) == LiveSettings()


def chosen(app: AppTest) -> LiveSettings:
    """The settings with which the button would start a training. No training is started."""
    started: list[LiveSettings] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Desk, "start", lambda _, settings: started.append(settings))
        app.run()  # a button calls the method that existed when it was drawn
        app.button(key="live_start").click().run()
    assert not app.exception
    return started[0]


@pytest.mark.slow
def test_a_training_is_watched_to_its_end_and_its_model_is_in_the_sidebar(tmp_path: Path) -> None:
    app = on_page(PAGE, **TINY)
    assert any("Nothing is being trained" in info.value for info in app.info)
    app.button(key="live_start").click().run()
    assert not app.exception
    training = desk_of(app).training
    assert training is not None
    wait_for(lambda: training.progress.status == "running" or not training.progress.alive)
    app.run()  # this run asks the training for a view of the text
    assert training.join(SECONDS)
    app.run()
    assert not app.exception
    assert training.progress.status == "done"
    assert any("Step **40** of 40" in shown(element.value) for element in app.markdown)
    # The model at the end of the training answers another text.
    app.text_input(key="live_text").set_value("zyx").run()
    assert not app.exception
    assert not app.error
    (curves,) = [chart.spec["data"] for chart in charts(app) if chart.key == CURVES]
    assert curves[0]["x"].tolist() == list(range(1, 41))
    (answer,) = [html.proto.body for html in app.get("html") if "live_answer" in html.proto.body]
    assert re.search(r"after step 40, (?:right|wrong; the right answer is xyz).*\): zyx →", answer)
    app.text_input(key="live_text").set_value("☃ nonsense").run()
    assert not app.exception
    picker = app.sidebar.selectbox(key="model")
    assert "my-reverse" in picker.options[1:]  # the first option is the default model
    # A page opens the model. A message from the browser that still names the model before must not undo this.
    app.session_state[OPENED] = "my-reverse"
    picker.set_value("copy").run()
    assert app.session_state["model"] == app.query_params["model"] == "my-reverse"
    app.switch_page("pages/attention/page.py").run()
    assert not app.exception
    assert not app.error
    assert any("trained here on reverse: 40 of 40 steps" in shown(caption.value) for caption in app.sidebar.caption)
    # The downloaded file contains this model.
    copy = training.progress.copy
    assert copy is not None
    (tmp_path / "mine.safetensors").write_bytes(copy.data)
    assert Pipeline.load(tmp_path / "mine.safetensors").card.trained_on == 40 * 8


@pytest.mark.slow
def test_a_training_is_resumed_after_the_page_was_loaded_again(line: Line, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stoppable(Fake):
        def stop(self) -> None:
            super().stop()
            self.become("stopped")
            line.ended(self)

    training = Stoppable()
    monkeypatch.setattr(live_desk, "LiveTraining", lambda *_: training)
    app = on_page(PAGE, **TINY)
    app.button(key="live_start").click().run()
    token = desk_of(app).name
    assert len(token) == 22  # 128 bits
    assert tab.storage[TOKEN][1] == token
    assert token not in str(app.query_params)
    clear_session_resource_cache(SESSION)  # the browser disconnects
    assert (training.starts, training.stops, training.progress.status) == (1, 1, "stopped")
    app = on_page(PAGE, **TINY)
    assert not app.exception
    assert desk_of(app).training is training
    assert (training.starts, training.stops, training.progress.status) == (2, 1, "running")
    assert [caption for caption in app.caption if "was loaded again" in caption.value]
    # The same on a page that does not draw the training: the training's model is in the sidebar again.
    training.progress = dataclasses.replace(training.progress, copy=Copy(7, Pipeline.load("reverse").to_bytes()))
    clear_session_resource_cache(SESSION)
    app = on_page("pages/masks/page.py", model="my-reverse", source="abc")
    assert not app.exception
    assert not app.sidebar.warning
    assert app.session_state["model"] == "my-reverse"
    assert tab.storage[TOKEN][1] == token
    wait_for(lambda: training.starts == 3)
    assert training.progress.status == "running"
    clear_session_resource_cache(SESSION)
    app = on_page(PAGE, **TINY)
    # A training that its visitor has stopped is kept too, and stays stopped.
    app.button(key="live_stop").click().run()
    assert not [caption for caption in app.caption if "was loaded again" in caption.value]
    clear_session_resource_cache(SESSION)
    app = on_page(PAGE, **TINY)
    assert not [caption for caption in app.caption if "was loaded again" in caption.value]
    assert desk_of(app).training is training
    assert training.starts == 4
    # Another visitor has the link, but not the tab.
    clear_session_resource_cache(SESSION)
    monkeypatch.setattr(tab_memory, "_mount", Tab().mount)
    app = on_page(PAGE, **TINY, live_run=token)
    assert desk_of(app).training is None
    # If the training is not kept any more, the page says this.
    tab.storage[TOKEN] = ("", "unknown")
    monkeypatch.setattr(tab_memory, "_mount", tab.mount)
    app = on_page(PAGE, **TINY)
    assert [info for info in app.info if "is not here any more" in info.value]
    assert tab.storage[TOKEN][1] == ""


def components(app: AppTest) -> list[dict[str, Any]]:
    """The data of the page's components."""
    sent = [json.loads(each.proto.json or "{}") for each in app.main.get("bidi_component")]
    return [data for data in sent if isinstance(data, dict)]


def test_a_link_to_a_model_of_another_tab_shows_a_warning(tab: Tab) -> None:
    app = on_page("pages/attention/page.py", model="my-reverse")
    assert not app.exception
    assert any("Only that tab has it" in warning.value for warning in app.sidebar.warning)


class Fake(LiveTraining):
    """A training without a process."""

    def __init__(self, settings: LiveSettings | None = None) -> None:
        super().__init__(settings or LiveSettings())
        self.starts = self.stops = 0

    def start(self) -> None:
        self.starts += 1
        self.become("running")

    def stop(self) -> None:
        self.stops += 1

    def become(self, status: str) -> None:
        self.progress = dataclasses.replace(self.progress, status=status)


def test_trainings_wait_in_line_for_a_place() -> None:
    line, (a, b, c) = Line(1), (Fake(), Fake(), Fake())
    for training in (a, b, c, b):
        line.enter(training)
    assert [line.place(training) for training in (a, b, c)] == [0, 1, 2]
    assert [training.starts for training in (a, b, c)] == [1, 0, 0]
    line.leave(b)
    assert [line.place(training) for training in (b, c)] == [0, 1]
    a.become("done")
    line.ended(a)
    assert (line.place(c), c.starts, b.starts) == (0, 1, 0)


def test_a_paused_training_loses_its_place_to_a_waiting_one() -> None:
    line, (a, b) = Line(1), (Fake(), Fake())
    line.enter(a)
    a.become("paused")
    assert a.stops == 0
    line.enter(b)
    assert a.stops == 1
    assert line.gave_way(a)
    a.become("stopped")
    line.ended(a)
    assert b.starts == 1
    line.enter(a)
    assert not line.gave_way(a)


def test_the_text_to_watch_fits_the_training_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_desk, "LiveTraining", lambda settings, *_: Fake(settings))
    query = {name: value for name, value in TINY.items() if name not in ("live_text", "live_longest")}
    app = on_page(PAGE, **query)
    app.button(key="live_start").click().run()
    app.selectbox(key="live_world").set_value("addition").run()
    assert app.text_input(key="live_text").value == "headlight"  # the model of the shown training reads letters
    desk_of(app).training.become("done")
    live_desk.LINE.ended(desk_of(app).training)
    app.button(key="live_start").click().run()
    assert app.text_input(key="live_text").value == find_task("addition").examples[0].source
    live_desk.LINE.ended(desk_of(app).training)


def test_the_page_explains_why_a_training_gave_way_or_failed(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    training, other = Fake(), Fake()
    monkeypatch.setattr(live_desk, "LiveTraining", lambda *_: training)
    app = on_page(PAGE, **TINY)
    app.button(key="live_start").click().run()
    training.become("paused")
    line.enter(other)
    training.become("stopped")
    app.run()
    assert not app.exception
    assert [info for info in app.info if "somebody waited for its place" in info.value]
    training.progress = dataclasses.replace(training.progress, status="failed", problem="diverged", step=7)
    app.run()
    assert [error for error in app.error if "At step 7 the loss was not a number" in error.value]
    assert not [button for button in app.button if button.key == "live_resume"]
    line.ended(training)
    line.ended(other)


def test_a_training_that_was_stopped_in_line_does_not_wait_any_more(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    first, training = Fake(), Fake()
    line.enter(first)
    monkeypatch.setattr(live_desk, "LiveTraining", lambda *_: training)
    app = on_page(PAGE, **TINY)
    app.button(key="live_start").click().run()
    assert [info for info in app.info if "You are number **1** in line" in info.value]
    app.button(key="live_stop").click().run()
    assert not app.exception
    assert not [info for info in app.info if "in line" in info.value]
    assert [markdown for markdown in app.markdown if "not started" in markdown.value]
    line.ended(first)
    assert training.starts == 0


def test_a_curve_has_a_limit_on_its_points() -> None:
    assert thinned((3.0, 1.0)) == [(1, 3.0), (2, 1.0)]
    points = thinned(tuple(range(1000)), 10)
    assert [step for step, _ in points] == list(range(100, 1001, 100))
    assert points[0][1] == pytest.approx(49.5)


def test_the_name_of_an_own_model_has_only_plain_characters() -> None:
    assert own_name("reverse") == "my-reverse"
    assert own_name("../<b>Größe</b> 2!") == "my-b-gr-e-b-2"
    assert own_name("☃") == "my-model"
    assert own_name("my-reverse") == "my-reverse"
    assert len(own_name("x" * 1000)) < 50


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is not a whole safetensors file"),
        (b"PK\x03\x04 a zip file with a pickle", "is not a whole safetensors file: it begins like a pickle"),
        (b"\x80\x04\x95 a pickle", "is not a whole safetensors file: it begins like a pickle"),
        (save({"weight": torch.zeros(3)}, {"format": "pt", "architecture": "another"}), "no model that Headlight wrote"),
        (b"\x02\0\0\0\0\0\0\0{}", "no model that Headlight wrote"),
        (b"\xff" * 64, "is not a whole safetensors file"),
    ],
)
def test_a_foreign_file_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    from pages.training.live_files import accept

    with pytest.raises(CheckpointError, match=reason):
        accept(data, "x.safetensors")


@pytest.mark.parametrize(("field", "value"), [("activation", "gelu"), ("sinusoid_order", "halves")])
def test_a_network_that_the_pages_do_not_explain_is_refused(field: str, value: str) -> None:
    from pages.training.live_files import accept

    reverse = Pipeline.load("reverse")
    other = dataclasses.replace(reverse, model=Transformer(reverse.config.replace(**{field: value})))
    with pytest.raises(CheckpointError, match=f"has {field} '{value}'; the pages of this app explain"):
        accept(other.to_bytes(), "x.safetensors")


@pytest.mark.slow
def test_an_accepted_upload_is_in_the_sidebar_and_a_refused_one_changes_nothing(
    tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Contents that the server already has take no room, so these are of no other test.
    reverse = Pipeline.load("reverse")
    data = dataclasses.replace(reverse, card=dataclasses.replace(reverse.card, description="Of one test only.")).to_bytes()
    app = on_page(PAGE, model="copy", part="live")
    app.file_uploader[0].upload("Mine.safetensors", data[:-1]).run()
    assert not app.exception
    assert "Refused, and nothing has changed" in shown(app.error[0].value)
    assert app.session_state["model"] == "copy"
    with monkeypatch.context() as full:
        full.setattr(own_models, "OWN_MEGABYTES", 0)
        app.file_uploader[0].upload("Mine.safetensors", data).run()
        assert "has no room" in shown(app.error[0].value)
    app.file_uploader[0].upload("Mine.safetensors", data).run()
    assert not app.error
    assert app.session_state["model"] == "my-mine"
    assert "my-mine" in app.sidebar.selectbox(key="model").options
    assert "uploaded from Mine.safetensors" in shown(app.sidebar.caption[0].value)
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    assert load_own(OwnModel("my-mine", digest, 0)).card.measures == {}  # what a file says of itself is not shown
    # A model that is trained here has the name of its task. It would replace an uploaded model with this name.
    app.file_uploader[0].upload("reverse.safetensors", data).run()
    assert {"my-mine", "my-reverse-uploaded"} < {*app.sidebar.selectbox(key="model").options}
    app.sidebar.selectbox(key="model").set_value("my-mine").run()
    # The model is kept when any page is loaded again, here a page without an upload.
    _, token = tab.storage[TOKEN]
    assert len(token) == 22
    clear_session_resource_cache(SESSION)  # the browser disconnects
    view = {"model": "my-mine", "source": "abc"}
    app = on_page("pages/masks/page.py", **view)
    assert not app.exception
    assert not app.sidebar.warning
    assert app.session_state["model"] == "my-mine"
    assert tab.storage[TOKEN][1] == token
    # The page can be loaded again any number of times, but another visitor does not get the model: not with the link, and not
    # with a copy of the tab.
    for other in (Tab(), copy.deepcopy(tab)):
        monkeypatch.setattr(tab_memory, "_mount", other.mount)
        app = on_page("pages/masks/page.py", **view)
        assert any("Only that tab has it" in warning.value for warning in app.sidebar.warning)
    monkeypatch.setattr(tab_memory, "_mount", tab.mount)
    clear_session_resource_cache(SESSION)
    assert on_page("pages/masks/page.py", **view).session_state["model"] == "my-mine"


def test_models_of_disconnected_browsers_are_dropped_to_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stores: dict[str, dict[str, Any]] = {}

    def session(name: str) -> dict[str, Any]:
        """Switch to the session with this name; returns its store of models."""
        monkeypatch.setattr(own_models, "own_store", lambda: stores[name])
        return stores.setdefault(name, {})

    monkeypatch.setattr(own_models, "_LEFT", TTLCache(16, 300))
    monkeypatch.setattr(own_models, "_CONTENTS", weakref.WeakValueDictionary())
    first, second, third = (Pipeline.load(name).to_bytes() for name in ("reverse", "copy", "sort"))
    for name, data in (("early", first), ("late", second)):
        own_models.keep_left(name, session(name))  # an empty store is not kept
        own_models.add_own("my-model", data, "")
        own_models.keep_left(name, stores.pop(name))
    assert list(own_models._LEFT) == ["early", "late"]
    session("other")
    room = len(first) + len(second) + len(third) - 1
    monkeypatch.setattr(own_models, "OWN_MEGABYTES", room / 2**20)
    own_models.add_own("my-model", third, "")
    assert list(own_models._LEFT) == ["late"]
    assert not own_models.take_left("early")
    assert own_models.take_left("late")
    assert list(stores["other"]) == ["my-model"]  # the session's own model is kept
    assert stores["other"]["my-model"].contents.data == third
    monkeypatch.setattr(own_models, "_LEFT", TTLCache(16, -1))
    own_models.keep_left("too late", stores["other"])
    assert not own_models.take_left("too late")
