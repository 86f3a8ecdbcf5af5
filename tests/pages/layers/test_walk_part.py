"""Navigation in the walk: buttons, links, arrow keys, the list, and playing."""

import numpy as np
import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from pages.layers.tensors import OPENED
from pages.layers.walk_part import EVERY, STOP, short_walk
from pages.shell.view.runs import runs
from tests.pages.layers.opened import LAYER, at_stop, opened
from tests.pages.visitor import Walker
from transformer.figures import tensor_view
from transformer.pipeline.pipeline import Pipeline


def test_a_step_does_not_run_the_model_again() -> None:
    ran: list[object] = []
    counting = runs().own_network("reverse").register_forward_pre_hook(lambda *given: ran.append(given))
    app = opened(model="reverse", source="a text that no other test runs")
    assert ran
    ran.clear()
    for path in ("logits", "encoder.layers.0.self_attention.scores", "encoder.layers.1.feed_forward.hidden"):
        at_stop(app, path)
    counting.remove()
    assert ran == []


def test_back_and_next_follow_the_order_of_the_list() -> None:
    app = opened(model="reverse", source="abcd", stop="source_mask")
    paths = app.selectbox(key=STOP).options
    assert app.button(key="walk_Left").disabled
    for path in paths[1:4]:
        app.button(key="walk_Right").click().run()
        assert app.selectbox(key=STOP).value == path
    app.button(key="walk_Left").click().run()
    assert app.selectbox(key=STOP).value == paths[2]
    at_stop(app, paths[-1])
    assert app.button(key="walk_Right").disabled
    assert not app.button(key="walk_play").disabled
    app.button(key="walk_play").click().run()
    assert app.selectbox(key=STOP).value == paths[0]


@pytest.mark.slow
def test_the_short_walk_has_twelve_stops_and_a_switch_to_all_tensors() -> None:
    app = opened(model="english-french", source="the cat sleeps .")
    trained = Pipeline.load("english-french")
    short = short_walk(trained.config.decoder_layers, trained.model.taps)
    assert len(short) == 12
    visited = [app.selectbox(key=STOP).value]
    while not app.button(key="walk_Right").disabled:
        app.button(key="walk_Right").click().run()
        visited.append(app.selectbox(key=STOP).value)
    assert visited == short
    assert app.header[0].value.startswith("12 of 12 · ")
    app.toggle(key=EVERY).set_value(True).run()
    app.button(key="walk_Left").click().run()
    assert app.selectbox(key=STOP).value == "logits"
    assert "/" not in app.header[0].value
    app.toggle(key=EVERY).set_value(False).run()
    assert app.selectbox(key=STOP).value == short[-2]
    # If a link names a tensor outside the short walk, the walk steps through all tensors.
    assert opened(model="reverse", source="abc", stop="encoder.layers.0.self_attention.scores").toggle(key=EVERY).value


def test_one_head_links_to_its_training() -> None:
    def links(**query: str) -> list[str]:
        app = opened(model="reverse", source="abc", **query)
        return [each.proto.url for each in app.main.get("link_button") if each.proto.url.startswith("training?")]

    cross = "decoder.layers.1.cross_attention."
    assert links(stop=f"{cross}scores", head="3") == ["training?model=reverse&source=abc&kind=cross&layer=2&head=3"]
    assert links(stop=f"{cross}scores") == links(stop="decoder.layers.1.feed_forward.hidden", head="3") == []


def test_attention_links_to_the_question_about_where_a_head_looks() -> None:
    def links(**query: str) -> list[str]:
        app = opened(model="reverse", source="abc", **query)
        return [each.proto.url for each in app.main.get("link_button") if each.proto.url.startswith("attention?")]

    cross = "decoder.layers.1.cross_attention."
    asks = "attention?model=reverse&source=abc&kind=cross&layer=2&head={}&predict=attention%3A"
    assert links(stop=f"{cross}scores", head="3") == [asks.format(3)]
    assert links(stop=f"{cross}weights") == [asks.format(1)]
    assert links(stop="decoder.layers.1.feed_forward.hidden") == []


def test_a_button_goes_to_an_input() -> None:
    app = opened(model="reverse", source="abcd")
    at_stop(app, "encoder.layers.0.self_attention.masked_scores")
    app.button(key="go source_mask").click().run()
    assert app.selectbox(key=STOP).value == "source_mask"


@pytest.mark.parametrize("nonsense", ["nowhere", "encoder.layers.99.self_attention.scores", "", "<script>"])
def test_a_link_to_a_missing_tensor_opens_the_default_stop(nonsense: str) -> None:
    app = opened(model="reverse", source="abcd", stop=nonsense)
    assert app.selectbox(key=STOP).value == "source_embedding.token"


def test_if_the_next_model_does_not_have_the_tensor_the_default_stop_is_shown() -> None:
    app = opened(model="shared_heads", source="a b c", stop="encoder.layers.5.self_attention.query.split")
    assert app.selectbox(key=STOP).value == "encoder.layers.5.self_attention.query.split"
    app.sidebar.selectbox(key="model").set_value("reverse").run()
    assert not app.exception
    assert app.selectbox(key=STOP).value == "source_embedding.token"


def take_events(views: list) -> None:
    """A page that has a picture of two tensors, and takes what the browser reports of it."""
    from pages.layers import tensors

    tensors.open_zoomed("key", views)
    tensors.take_click("key", views, 720, True, None)


@pytest.mark.parametrize(
    "sent",
    [
        {"zoom": {"axis": 2, "first": 1e308, "last": -1e308}},
        {"zoom": {"axis": 99, "first": 0, "last": 1}},
        {"zoom": {"axis": "2", "first": None, "last": "x"}},
        {"zoom": [1, 2]},
        {"click": {"axis": 2, "x": 10**400, "y": 0}},
        {"click": {"axis": True, "x": -5, "y": 0}},
        {"click": {"axis": 2, "x": 5}},
        {"click": "nonsense"},
        "nonsense",
    ],
)
def test_events_that_no_chart_sends_open_no_columns_or_valid_ones(sent: object) -> None:
    views = [tensor_view(name, np.zeros((3, width), np.float32), ("source", name)) for name, width in (("a", 64), ("b", 1024))]
    app = AppTest.from_function(take_events, args=(views,))
    app.session_state["key"] = sent
    app.run()
    assert not app.exception
    _, columns = app.session_state.get(OPENED, ("", (0, 0)))
    assert 0 <= columns[0] <= columns[1] < 1024


def take_pick(view: object, zooms: bool) -> None:
    """A page that has a picture of one tensor, and keeps the number that a click picks."""
    import streamlit as st

    from pages.layers import tensors

    tensors.take_click("key", [view], 720, zooms, lambda *number: st.session_state.update(picked=number))


@pytest.mark.parametrize("zooms", [False, True])
def test_a_click_on_a_cell_for_several_numbers_picks_the_strongest(zooms: bool) -> None:
    values = np.zeros((3, 1024), np.float32)
    values[1, 402] = -2
    app = AppTest.from_function(take_pick, args=(tensor_view("b", values, ("source", "d_ff")), zooms))
    app.session_state["key"] = {"click": {"axis": 1, "x": 100, "y": 1}}
    app.run()
    assert app.session_state["picked"][1] == (0, 1, 402)
    assert app.session_state.get(OPENED, None) == ((("key", "b"), (368, 436)) if zooms else None)


@pytest.mark.parametrize(
    "sent", [{"axis": True, "x": 1, "y": 1}, {"axis": 1, "x": True, "y": 1}, {"axis": 1, "x": 1, "y": True}]
)
def test_true_is_not_taken_for_the_number_1_of_a_click(sent: dict[str, object]) -> None:
    app = AppTest.from_function(take_pick, args=(tensor_view("b", np.ones((3, 8), np.float32), ("source", "d_ff")), False))
    app.session_state["key"] = {"click": sent}
    app.run()
    assert not app.exception
    assert "picked" not in app.session_state


# --- in a browser ------------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_arrow_keys_step_and_the_link_opens_the_same_stop(walker: Walker) -> None:
    page = walker.at(f"model=reverse&source=abcd&stop={LAYER}.self_attention.scores").page
    page.keyboard.press("ArrowRight")
    walker.is_at(f"{LAYER}.self_attention.scaled_scores")
    page.keyboard.press("ArrowRight")
    walker.is_at(f"{LAYER}.self_attention.masked_scores")
    page.keyboard.press("ArrowLeft")
    walker.is_at(f"{LAYER}.self_attention.scaled_scores")
    walker.settle()
    assert f"stop={LAYER}.self_attention.scaled_scores" in page.url

    walker.at(walker.become_stranger().removeprefix("layers?"))
    walker.is_at(f"{LAYER}.self_attention.scaled_scores")
    assert page.get_by_role("heading", name="Encoder layer 1, self-attention · Scaled scores").is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_arrow_keys_in_the_text_or_the_list_do_not_step(walker: Walker) -> None:
    page = walker.at(f"model=reverse&source=abcd&stop={LAYER}.self_attention.scores").page
    page.get_by_label("Source text", exact=True).press("ArrowLeft")
    row = page.locator(f'.tree [data-id="{LAYER}.self_attention.scores"]')
    row.press("ArrowDown")
    below = page.locator(f'.tree [data-id="{LAYER}.self_attention.scaled_scores"]')
    expect(below).to_be_focused()
    below.press("ArrowLeft")
    summary = page.locator(".tree .inner", has_text="Encoder layer 1")
    expect(summary).to_be_focused()
    summary.press("ArrowLeft")
    expect(row).to_be_hidden()
    summary.press("ArrowRight")
    expect(row).to_be_visible()
    walker.settle()
    assert walker.path == f"{LAYER}.self_attention.scores"


@pytest.mark.slow
@pytest.mark.browser
def test_playing_steps_through_the_walk_and_stops_at_the_end(walker: Walker) -> None:
    page = walker.at("model=reverse&source=abcd&stop=decoder.layers.1.feed_forward_add_norm.normalized").page
    page.get_by_role("button", name="Play").click()
    walker.is_at("probabilities")
    walker.settle()
    expect(page.get_by_role("button", name="Play again")).to_be_enabled()
    assert walker.path == "probabilities"


@pytest.mark.slow
@pytest.mark.browser
def test_playing_stops_when_the_visitor_chooses_a_stop_or_pauses(walker: Walker) -> None:
    page = walker.at("model=reverse&source=abcd&speed=2&stop=source_mask").page
    for how in ("arrow key", "list", "pause"):
        before = walker.timers
        page.get_by_role("button", name="Play").click()
        walker.is_at("source_embedding.token")
        assert walker.timers > before
        if how == "arrow key":
            page.keyboard.press("ArrowRight")
        elif how == "list":
            page.locator('.tree [data-id="source_embedding.sum"]').click()
        else:
            page.get_by_role("button", name="Pause").click()
        page.get_by_role("button", name="Play").wait_for()
        walker.settle()
        assert walker.path == "source_embedding.sum" or how != "list"
        assert not walker.plays
        if how != "pause":
            page.locator('.tree [data-id="source_mask"]').click()
            walker.is_at("source_mask")
            walker.settle()


# Notes which pictures of a chart move, and how they begin.
NOTE_MOVES = """() => {
    window.moves = [];
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames, options) {
        if (options.id === 'move') moves.push([this.classList[1], frames[0].transform !== 'none', frames[0].opacity]);
        return animate.call(this, frames, options);
    };
}"""


@pytest.mark.slow
@pytest.mark.browser
def test_a_result_moves_out_of_its_input_and_then_becomes_an_input_unless_less_motion_is_wanted(walker: Walker) -> None:
    page = walker.at(f"model=reverse&source=abc&stop={LAYER}.self_attention.query.heads").page
    page.evaluate(NOTE_MOVES)

    def moves(to: str) -> list[tuple[str, bool, int]]:
        page.locator(f'.tree [data-id="{LAYER}.self_attention.{to}"]').click()
        walker.is_at(f"{LAYER}.self_attention.{to}")
        walker.settle()
        return page.evaluate("moves.splice(0)")

    # The queries were the result; the keys are new; the scores move out of the queries.
    assert moves("scores") == [["xy", True, 1], ["x2y2", False, 0], ["x3y3", True, 0]]
    assert moves("scaled_scores") == [["xy", True, 1], ["x2y2", True, 0]]
    page.emulate_media(reduced_motion="reduce")
    assert moves("scores") == []
