"""The page that shows a training has the numbers of the library at every snapshot."""

import io
import itertools
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.testing.v1 import AppTest

from pages.shell.view.background import BACKGROUND, Background
from pages.training import film_curves
from pages.training.batches import PAIRS
from pages.training.batches import batches as batches_of
from pages.training.film import ASKED
from pages.training.films import CHECKED, Film
from pages.training.frames import frames_of
from pages.training.head_history import largest_change
from pages.ui.format import fixed, number, share, whole
from pages.ui.text import text
from tests.pages.apps import charts, on_page, shown, shown_errors
from tests.pages.explained import explanation
from tests.pages.visitor import Visitor
from tests.waiting import wait_for
from transformer import Pipeline
from transformer.analysis.head_measures import alignment_mask, measure
from transformer.analysis.label_smoothing import least_loss
from transformer.figures.attention_figures import quantized
from transformer.tasks import find_task
from transformer.training.gradient_step import StepSettings, Weight, open_step
from transformer.training.held_out import batch_of, held_out
from transformer.training.recipe import recipe
from transformer.training.short_run import ShortRun, short_run

PAGE = "pages/training/page.py"


def film(app: AppTest) -> tuple[dict[str, Any], np.ndarray]:
    """The data of the film, and the levels of all heads at the frames that are ready: [frame, layer, head, query, key]."""
    for element in app.main.get("bidi_component"):
        sent = element.proto.bytes
        if sent:
            end = 4 + int.from_bytes(sent[:4], "little")
            data = json.loads(sent[4:end])
            if "frames" in data:
                ready = [frame for frame in data["frames"] if "rows" in frame]
                shape = (len(ready), *data["grid"]["shape"])
                return data, np.frombuffer(sent[end:], np.uint8).reshape(shape)
    raise AssertionError("the page has no film")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"model": "reverse"}, "is right"),
        ({"model": "reverse", "target": "abc"}, "the target text has"),
        ({"model": "everyday"}, "writes"),
    ],
)
def test_the_film_calls_only_a_known_answer_right(query: dict[str, str], says: str) -> None:
    data, _ = film(on_page(PAGE, source="abc", **query))
    assert says in data["text"]["bars"]
    assert ("right" in data["text"]["tokens"]) == (says == "is right")


@pytest.mark.slow
def test_the_pictures_of_the_film_are_between_words_where_tokens_are_pieces() -> None:
    app = on_page(PAGE, model="everyday", source="The skyscraper disappeared.", kind="cross")
    data, levels = film(app)
    assert data["grid"]["keys"] == ["<sos>", "The", "skyscraper", "disappeared", ".", "<eos>"]
    assert any("▁" in token for token in data["target"])  # what is expected is said piece by piece
    # No loss is computed for this model, so none is compared with the recorded one.
    assert not any(text("training")["film_dropout"] in each.value for each in app.caption)
    app.session_state["join"] = False
    assert film(app.run())[1].shape[-1] > levels.shape[-1]


def check(app: AppTest) -> AppTest:
    assert not app.exception
    assert not app.error
    return app


@pytest.mark.parametrize(("model", "says"), [("own-sizes", "not_trained"), ("addition", "no_snapshots")])
def test_without_a_film_the_page_says_whether_the_model_was_trained(model: str, says: str) -> None:
    app = check(on_page(PAGE, model=model))
    assert app.info[0].value == text("training")[says].format(model=model)


@pytest.mark.slow
def test_the_film_has_the_numbers_of_the_library_at_every_snapshot() -> None:
    app = check(on_page(PAGE, model="reverse", source="abc", snapshot="168", token="2", kind="cross", layer="1", head="3"))
    data, levels = film(app)
    steps = [*Pipeline.snapshots("reverse")]
    assert [frame["step"] for frame in data["frames"] if "rows" in frame] == [168]  # the others are run when requested
    (alone,), shown_at_168 = levels, data["frames"][steps.index(168)]
    app.session_state[ASKED] = data["film"]
    data, levels = film(check(app.run()))
    assert data["frames"][steps.index(168)] == shown_at_168
    assert np.array_equal(levels[steps.index(168)], alone)
    assert [frame["step"] for frame in data["frames"]] == steps
    assert (data["frame"], data["row"], data["target"]) == (steps.index(168), 1, ["c", "b", "a", "<eos>"])
    assert data["grid"]["selected"] == [0, 2]
    pairs = list(itertools.islice(find_task("reverse").pairs("held-out", "film"), CHECKED))
    for index in (0, 4, len(steps) - 1):
        name = "reverse" if index == len(steps) - 1 else f"reverse@{steps[index]:06d}"
        pipeline, frame = Pipeline.load(name), data["frames"][index]
        trace, checked = pipeline.trace("abc", "cba"), held_out(pipeline, pairs, 0.05)
        (answer,) = pipeline.answers(["abc"])
        # The answer has at most one token more than the right answer, without `<eos>`.
        assert frame["answer"] == (answer.text if len(answer.tokens) <= 4 else "".join(answer.tokens[:4]) + "…")
        assert (frame["ended"], frame["right"]) == (len(answer.tokens) <= 4, frame["answer"] == "cba")
        state = "answer_untrained" if index == 0 else "answer" if index == len(steps) - 1 else "answer_unfinished"
        assert frame["says"] == text("training")["film"][state]
        assert (frame["loss"], frame["accuracy"]) == pytest.approx((checked.loss, checked.exact), abs=1e-4)
        expected = quantized(trace.attention("cross")[:, 0].numpy(), trace.allowed("cross")[:, 0].numpy())
        assert np.array_equal(levels[index], expected)
        probabilities = trace.probabilities[0, 1].numpy()
        bars = {token: share for token, share, _ in frame["rows"][1]["bars"]}
        (right,) = pipeline.target_vocabulary.ids(["b"])
        assert bars["b"] == pytest.approx(float(probabilities[right]), abs=1e-4)
        assert max(bars.values()) == pytest.approx(float(probabilities.max()), abs=1e-4)
        assert sum(bars.values()) + frame["rows"][1]["rest"] == pytest.approx(1, abs=1e-3)
    # A target that the visitor typed does not cut off a right answer.
    assert Film(frames_of("reverse"), "abc", "z").answer(len(steps) - 1).text == "cba"
    (says,) = [said for each in app.caption if "how little of the probability" in (said := shown(each.value))]
    assert f"falling below {fixed(least_loss(len(pipeline.target_vocabulary), 0.05), 2)}" in says
    assert ("Dropout was on" in says) == bool(pipeline.config.dropout)
    (curves,) = [chart.spec["data"] for chart in charts(app) if chart.key == film_curves.KEY]
    recorded = Pipeline.load("reverse").card.history
    assert curves[0]["customdata"] == curves[2]["customdata"] == [entry["step"] for entry in recorded]
    np.testing.assert_allclose(curves[0]["y"], [entry["loss"] for entry in recorded], rtol=1e-6)
    np.testing.assert_allclose(curves[2]["y"], [entry["accuracy"] for entry in recorded], rtol=1e-6)
    assert curves[1]["customdata"] == curves[3]["customdata"] == list(steps)
    # The mark of a frame stands on its point.
    np.testing.assert_allclose(curves[1]["x"], [frame["place"] for frame in data["frames"]], rtol=1e-6)


def test_a_snapshot_in_the_sidebar_is_the_first_frame_and_invalid_links_are_ignored() -> None:
    app = check(on_page(PAGE, model="reverse@000316", source="abc"))
    data, _ = film(app)
    assert data["frames"][data["frame"]]["step"] == 316
    app = check(on_page(PAGE, model="reverse", source="abc", snapshot="317", token="99", kind="x", measure="y"))
    data, _ = film(app)
    assert (data["frame"], data["row"]) == (0, 0)
    assert not {"snapshot", "token", "kind", "measure"} & {*app.query_params}


def test_a_snapshot_is_a_model_on_every_page_and_says_what_it_is() -> None:
    app = check(on_page("pages/attention/page.py", model="reverse@000316", source="abc", layer="2"))
    steps = Pipeline.load("reverse").card.recipe["steps"]
    assert f"reverse after 316 of {whole(steps)} steps of its training" in shown(app.sidebar.caption[0].value)
    options = app.sidebar.selectbox(key="model").options
    assert "reverse@000316" in options
    assert len([option for option in options if "@" in option]) == 1
    assert "reverse@000316" not in on_page("pages/attention/page.py", model="reverse").sidebar.selectbox(key="model").options
    (link,) = [url for each in app.main.caption for url in re.findall(r"\((training.*?)\)", each.value)]
    assert link == "training?model=reverse%40000316&source=abc&kind=encoder&layer=2&head=1"


def test_the_error_for_an_unknown_snapshot_names_the_snapshots_that_exist() -> None:
    app = on_page("pages/attention/page.py", model="reverse@000317", source="abc")
    assert "There is no snapshot 'reverse@000317'" in shown_errors(app)
    assert "316" in shown_errors(app)
    assert "There is no snapshot 'copy@000001'" in shown_errors(on_page("pages/attention/page.py", model="copy@000001"))


@pytest.mark.slow
def test_a_model_without_snapshots_links_to_models_with_them_and_a_fine_tuned_one_shows_its_start() -> None:
    app = check(on_page(PAGE, model="copy", source="abc"))
    links = [each.proto.url for each in app.main.get("link_button")]
    assert "training?model=reverse" in links
    assert not [
        link
        for link in on_page("pages/attention/page.py", model="copy").main.get("link_button")
        if "training" in link.proto.url
    ]
    tuned = [name for name in Pipeline.available() if Pipeline.load(name).card.recipe.get("start")]
    for name in tuned:
        start = Pipeline.load(name).card.recipe["start"]
        if Pipeline.snapshots(start) and not Pipeline.snapshots(name):
            app = check(on_page(PAGE, 240, model=name))
            assert any(f"This is the training of **{start}**" in caption.value for caption in app.caption)
            assert [frame["step"] for frame in film(app)[0]["frames"]] == list(frames_of(start).steps)
            turning = [Pipeline.load(each).card.measures.get("pronouns") for each in (name, start)]
            if turning[0] and turning[1] and all(turning[0][place] == turning[1][place] for place in ("layer", "head")):
                assert app.selectbox(key="measure").value == "shift"  # the history of how the head learnt to turn
            told = [each.value for each in app.markdown if "rewards layer" in each.value]
            assert len(told) == bool(Pipeline.load(start).card.recipe.get("turning"))


@pytest.mark.parametrize(("part", "says"), [("step", True), ("live", False), ("own", False)])
def test_only_parts_about_the_recorded_training_say_whose_it_is(part: str, says: bool) -> None:
    app = check(on_page(PAGE, model="english-french", part=part))
    assert any("This is the training of" in caption.value for caption in app.caption) == says


@pytest.mark.slow
def test_a_button_goes_to_the_frame_at_which_the_head_changed_most() -> None:
    app = check(on_page(PAGE, model="reverse", source="headlight", layer="2", head="1", measure="alignment"))
    frames = frames_of("reverse")
    values = []
    aligned = alignment_mask(find_task("reverse").alignment(tuple("headlight"), tuple("thgildaeh")), 10, 11)
    for name in frames.names:
        weights = Pipeline.load(name).trace("headlight", "thgildaeh").attention("cross")[:, 0].numpy()
        values.append(measure(weights, aligned)["alignment"][1, 0])
    changes = np.abs(np.diff(values))
    assert largest_change(np.array(values)) == changes.argmax() + 1
    after = frames.steps[changes.argmax() + 1]
    assert app.button(key="jump").label == f"Go to step {after:,}"
    pairs = list(itertools.islice(find_task("reverse").pairs("held-out", "film"), CHECKED))
    exact = [held_out(Pipeline.load(name), pairs).exact for name in frames.names[changes.argmax() :][:2]]
    (says,) = [shown(each.value) for each in app.markdown if "It changed most" in each.value]
    first, last = (round(each * len(pairs)) for each in exact)
    told = f"exactly right answers to the {len(pairs)} held-out pairs that this page tests went from {first} to **{last}**"
    assert told in says
    app.button(key="jump").click().run()
    data, _ = film(check(app))
    assert data["frames"][data["frame"]]["step"] == after
    assert app.query_params["snapshot"] == str(after)
    (chart,) = [each for each in charts(app.main) if "alignment" in each.text]
    drawn = [trace for trace in chart.spec["data"] if trace["showlegend"]]
    assert drawn[0]["customdata"] == list(frames.steps)


@pytest.mark.parametrize("name", ["expand", "up_projection"])
def test_links_with_the_former_and_the_present_name_of_a_weight_open_it(name: str) -> None:
    query = {"model": "reverse", "source": "abc", "part": "step", "weight": f"encoder.layers.0.feed_forward.{name}.weight"}
    app = check(on_page(PAGE, 240, **query))
    present = "encoder.layers.0.feed_forward.up_projection.weight"
    assert app.selectbox(key="weight").value == app.query_params["weight"] == present
    assert not app.warning


@pytest.mark.slow
def test_the_step_has_the_numbers_of_the_library() -> None:
    query = {"model": "reverse", "source": "abc", "part": "step", "snapshot": "168", "earlier": "1"}
    query |= {"row": "3", "column": "5", "pair": "2"}
    app = check(on_page(PAGE, 240, weight="output_projection.weight", count_padding="true", **query))
    pipeline = Pipeline.load("reverse@000168")
    weight = Weight("output_projection.weight", (2, 4))
    settings = StepSettings(recipe("reverse").rate_at(168), 0.05, 1.0)
    stream = find_task("reverse").pairs("train", "one step")
    batches = [batch_of(pipeline, list(itertools.islice(stream, PAIRS))) for _ in range(2)]
    step = open_step(pipeline, batches, weight, settings)
    assert [metric.value for metric in app.metric] == [number(step.gradient, 6), number(step.finite_difference, 6)]
    said = " ".join(shown(each.value) for each in app.markdown)
    assert f"output_projection.weight[2, 4]` = {number(step.value, 6)} (as in Python" in said
    assert f"the loss of the same batch is **{fixed(step.loss_after, 4)}**; it was {fixed(step.loss, 4)}" in said
    assert f"the loss of this batch was {fixed(step.loss_at_start, 4)}; the steps before (1, on other batches)" in said
    assert f"would be **{fixed(float(step.losses.mean()), 4)}** instead of {fixed(step.loss, 4)}" in said
    # If padding were learnt, its loss would fall to the least loss that label smoothing allows.
    least = least_loss(len(pipeline.target_vocabulary), 0.05)
    (lie,) = [shown(each.value) for each in app.warning if "never asked to predict padding" in each.value]
    lied = np.where(step.counted, step.loss, least).mean()
    assert f"fall to about {fixed(least, 4)}" in lie
    assert f"would show **{fixed(float(lied), 4)}**" in lie
    app.toggle(key="count_padding").set_value(False).run()
    given = float(step.shares[1, 0])
    said = " ".join(shown(each.value) for each in check(app).markdown)
    assert (
        f"got {share(given, 2)}, and −log of that is {fixed(-np.log(given), 3)}. Its bar says {fixed(step.losses[1, 0], 3)}"
        in said
    )
    assert f"below {fixed(least, 4)}" in said
    adam = app.dataframe[-1].value
    assert adam["value"].tolist()[-2:] == [number(step.update.change, 6), number(step.value_after, 6)]
    predicted = app.dataframe[-2].value
    assert predicted["source"].tolist() == [pair.source for pair in batches_of(pipeline, 2)[-1]]
    # Another part shows the smoothed target of the first token of the first pair.
    app.segmented_control(key="part").set_value("settings").run()
    (chart,) = [each for each in charts(check(app).main) if "share that training asks for" in each.text]
    (bars,) = chart.spec["data"]
    smoothing, count = pipeline.card.recipe["label_smoothing"], len(pipeline.target_vocabulary)
    assert len(bars["y"]) == len(set(bars["y"])) == 6
    assert float(bars["text"][0]) == pytest.approx(1 - smoothing + smoothing / count, abs=0.005)
    assert float(bars["text"][1]) == pytest.approx(smoothing / count, rel=0.01)
    assert bars["y"][0] == batches_of(pipeline, 1)[0][0].target[0]


def warmup(run: "ShortRun") -> None:
    from pages.training.experiments import show_warmup

    show_warmup(run)


def overfitting(run: "ShortRun") -> None:
    import streamlit as st

    from pages.training.experiments import show_overfitting

    st.toggle("another choice")
    show_overfitting(run)


SHORT = ShortRun("reverse", 3e-3, 5, 10, 4)


def trained(script: Callable[[ShortRun], None], run: ShortRun, button: str, **query: str) -> AppTest:
    """The part after its trainings, which a button starts if they are not in the cache."""
    app = AppTest.from_function(script, args=(run,), default_timeout=240)
    for name, value in query.items():
        app.query_params[name] = value
    check(app.run())
    if app.button:
        app.button(key=button).click().run()
        assert app.session_state[BACKGROUND][button].join(60)
        app.run()
    return check(app)


@pytest.mark.slow
def test_a_button_runs_two_short_trainings() -> None:
    app = check(AppTest.from_function(warmup, args=(SHORT,), default_timeout=240).run())
    assert not [each for each in app.markdown if "After 10 steps" in each.value]
    app = trained(warmup, SHORT, "run-warmup")
    (result,) = [shown(each.value) for each in app.markdown if "After 10 steps" in each.value]
    for settings in (SHORT, replace(SHORT, warmup=0)):
        assert fixed(short_run(settings, 600, lambda *_: None)[-1].held_out_loss, 3) in result
    # The curves are in the cache now, so they are drawn without a click.
    again = AppTest.from_function(warmup, args=(SHORT,), default_timeout=240).run()
    assert [each for each in again.markdown if "After 10 steps" in each.value]


def test_a_point_of_a_short_training_says_what_its_loss_means_and_how_long_its_step_was() -> None:
    for place, rate in ((0, 1), (1, 5)):  # of 5 steps of warm-up, step 1; and step 10, the last of all
        cell = f"warmup-runs.0.0.{place}"
        found = explanation(trained(warmup, SHORT, "run-warmup", cell=cell), cell)
        probability, learning_rate = found.formula.split("\n")
        assert found._replace(formula=probability).result == pytest.approx(math.exp(-found.drawn), rel=1e-3)
        assert found._replace(formula=learning_rate).result == pytest.approx(3e-3 * rate / 5 * (0.2 if place else 1), rel=1e-3)


@pytest.mark.parametrize("line", [0, 1])
def test_a_point_of_a_training_on_few_pairs_is_one_of_two_losses_and_their_difference(line: int) -> None:
    cell = f"overfitting.{line}.{line}.1"
    found = explanation(trained(overfitting, replace(SHORT, pairs=8), "run-overfit", cell=cell), cell)
    held_out, own = (float(part.strip("() ")) for part in found.formula.partition("=")[0].split(" - ", 1))
    assert (own, held_out)[line] == pytest.approx(found.drawn, rel=1e-3)
    assert found.result == pytest.approx(held_out - own, abs=1e-3)


def test_the_page_offers_both_short_trainings() -> None:
    keys = {button.key for button in check(on_page(PAGE, 240, model="copy", source="abc", part="settings")).button}
    assert {"run-warmup", "run-overfit"} <= keys


def test_clicks_work_during_a_short_training_and_it_can_be_stopped() -> None:
    long = ShortRun("reverse", 3e-3, 5, 1_000_000, 4, pairs=8)
    app = check(AppTest.from_function(overfitting, args=(long,), default_timeout=240).run())
    app.button(key="run-overfit").click().run()
    training = app.session_state[BACKGROUND]["run-overfit"]
    assert [each.key for each in check(app).button if each.key == "stop-run-overfit"]
    for chosen in (True, False):  # other choices work, and the training continues
        check(app.toggle[0].set_value(chosen).run())
        assert training.alive
    app.button(key="stop-run-overfit").click().run()
    assert training.join(60)
    assert training.step < 1_000_000
    assert [each.key for each in check(app).button if each.key == "run-overfit"]
    # A training that waits for another visitor's training shows its place in the line, and can be stopped.
    other = Background([partial(short_run, long, 600)], 1_000_000)
    wait_for(lambda: other.step > 0)
    app.button(key="run-overfit").click().run()
    training = app.session_state[BACKGROUND]["run-overfit"]
    assert (other.place, training.place, training.step) == (0, 1, 0)
    assert [each for each in check(app).info if "number **1** in line" in each.value]
    app.button(key="stop-run-overfit").click().run()
    assert training.join(60)
    assert other.alive
    other.stop()
    # When the visitor leaves, the training also ends.
    app.button(key="run-overfit").click().run()
    training = app.session_state[BACKGROUND]["run-overfit"]
    clear_session_resource_cache("test session id")
    assert training.join(60)


@pytest.mark.slow
@pytest.mark.browser
def test_moving_the_slider_repaints_without_the_server_and_updates_the_address(visitor: Visitor) -> None:
    page = visitor.open("training?model=reverse&source=abc")
    root = page.locator(".film")
    output = root.locator("output")
    steps = Pipeline.snapshots("reverse")
    assert output.text_content() == f"step 0 of {steps[-1]:,}"
    slider = root.get_by_role("slider")
    slider.focus()
    # The frame is painted during the event, so the browser does not ask the server.
    frames = slider.evaluate(
        """(slider) => [1, 4, 7].map((frame) => {
            slider.value = String(frame);
            slider.dispatchEvent(new Event('input'));
            return slider.closest('.film').dataset.frame;
        })"""
    )
    assert frames == ["1", "4", "7"]
    assert output.text_content() == f"step {steps[7]:,} of {steps[-1]:,}"
    slider.press("ArrowLeft")
    assert output.text_content() == f"step {steps[6]:,} of {steps[-1]:,}"
    page.wait_for_url(re.compile(rf"snapshot={steps[6]}\b"))  # sent when the slider has rested
    visitor.settle()
    # The browser asked for the frames when the slider got the focus.
    answers = root.locator(".answer b")
    answers.wait_for()
    slider.evaluate("slider => { slider.value = '8'; slider.dispatchEvent(new Event('input')); }")
    assert answers.text_content() == f"{Pipeline.load(f'reverse@{steps[8]:06d}').answer('abc')} ✓"
    expect(root.locator(".answer")).not_to_contain_text("…")
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    visitor.settle()
    root.locator(".chip").nth(1).click()
    page.wait_for_url(re.compile("token=2"))
    visitor.settle()
    # A line in the curves marks the step, also while the film moves without the server. A click on a point goes to its frame.
    mark = "document.querySelector('.st-key-film_curves .chart > div').layout.shapes.map(({xref, x0}) => [xref, x0])"
    place = math.log1p(steps[6] / 10)
    assert page.evaluate(mark) == [["x", pytest.approx(place)], ["x2", pytest.approx(place)]]
    chart = page.locator(".st-key-film_curves .chart")
    chart.scroll_into_view_if_needed()
    point = chart.locator(".points path").first.bounding_box()
    assert point
    page.mouse.move(point["x"] + point["width"] / 2, point["y"] + point["height"] / 2)
    expect(chart.locator(".hovertext")).to_contain_text("step 0")
    page.mouse.down()
    page.mouse.up()
    expect(output).to_have_text(f"step 0 of {steps[-1]:,}")
    expect(root.locator(".answer")).to_contain_text(text("training")["film"]["stopped_wrong"])
    page.wait_for_function(f"({mark}).every(([, x]) => x === 0)")
    # A finger that scrolls the page over the slider must not move it.
    finger = """(element, [name, x, y]) => element.dispatchEvent(
        new PointerEvent(name, {pointerId: 7, pointerType: 'touch', buttons: 1, clientX: x, clientY: y}))"""
    slider.evaluate(finger, ["pointerdown", 0, 0])
    slider.evaluate("slider => { slider.value = '6'; slider.dispatchEvent(new Event('input')); }")
    slider.evaluate(finger, ["pointercancel", 0, 0])
    expect(output).to_have_text(f"step 0 of {steps[-1]:,}")
    slider.evaluate("slider => { slider.value = '6'; slider.dispatchEvent(new Event('input')); }")
    visitor.settle()
    canvas = root.locator(".head_grid .picture")
    canvas.scroll_into_view_if_needed()
    visitor.settle()  # a part that scrolling brought on the screen is drawn now
    box = canvas.bounding_box()
    assert box
    canvas.click(position={"x": 0.9 * box["width"], "y": 0.3 * box["height"]})
    page.wait_for_url(re.compile("head=4"))
    assert "layer=1" in page.url
    # The picture of the frame, its weights, the numbers of the curves, and the model's card can be saved.
    page.get_by_role("button", name=re.compile("^Save")).nth(1).click()  # the first saves the curves

    def saved(button: str) -> tuple[str, bytes]:
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()

    name, data = saved("Picture as PNG")
    assert (name, data[:4]) == (f"reverse-{steps[6]:06d}-cross.png", b"\x89PNG")
    name, data = saved("Picture as SVG")
    assert name == f"reverse-{steps[6]:06d}-cross.svg"
    assert f"step {steps[6]:,} of {steps[-1]:,}" in data.decode()
    assert page.locator(".answer b").inner_text() in data.decode()
    # The buttons stay on the screen while the page is scrolled down, but in the picture the step is at the top.
    heights = {words: float(y) for y, words in re.findall(r'<text [^>]*y="([^"]+)"[^>]*>([^<]+)', data.decode())}
    assert heights[f"step {steps[6]:,} of {steps[-1]:,}"] < min(y for words, y in heights.items() if words.startswith("Token "))
    # A line of text is as long as on the page, with any font.
    assert re.search(r'textLength="[1-9][0-9.]*"[^>]*>Its training is not finished', data.decode())
    _, data = saved("Numbers as CSV")
    shown = Pipeline.load(f"reverse@{steps[6]:06d}").trace("abc", "cba").attention("cross")[:, 0]
    assert pd.read_csv(io.BytesIO(data))["weight"].to_numpy() == pytest.approx(shown.flatten().numpy(), abs=1e-6)
    page.keyboard.press("Escape")
    visitor.settle()
    page.get_by_role("button", name=re.compile("^Save")).first.click()
    _, data = saved("Numbers as CSV")
    numbers = pd.read_csv(io.BytesIO(data), keep_default_na=False)
    assert numbers["step"].tolist()[-len(steps) :] == list(steps)
    assert numbers["answer"].tolist()[-1] == "cba"
    page.keyboard.press("Escape")
    visitor.settle()  # the menu that closes can swallow a click
    name, data = saved("Card of the run as JSON")
    assert (name, json.loads(data)["recipe"]["steps"]) == ("reverse-card.json", steps[-1])
    page.reload()
    page.locator(".film[data-painted]").wait_for()
    assert output.text_content() == f"step {steps[6]:,} of {steps[-1]:,}"
    root.get_by_role("button", name="Play").click()
    expect(output).to_have_text(f"step {steps[-1]:,} of {steps[-1]:,}")
    # A link to a part below the screen opens it.
    page.goto("about:blank")
    page.goto(f"{visitor.url}/training?model=reverse&source=abc#overfit")
    expect(page.get_by_role("button", name="Train it now")).to_be_in_viewport()
