"""The Layers page: the worked example read off the page, the walk in a real browser."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Browser, expect
from streamlit.testing.v1 import AppTest

from pages.widgets.stops import heading, hidden, statistics, written
from pages.widgets.stream import signed
from pages.widgets.walk import STOP
from tests.pages.conftest import Visitor
from tests.transformer.small import SOURCE, TARGET, VARIANTS, small
from transformer.pipeline import Pipeline
from transformer.trace import run_traced
from transformer.untrained import Untrained
from transformer.walk import walk

ROOT = Path(__file__).parents[2]
PAGE = "pages/inside/layers.py"
TEXTS = ROOT / "assets/text/en"
PARTS = list(tomllib.loads((TEXTS / "layers.toml").read_text(encoding="utf-8"))["parts"])
EXAMPLE = {
    "source": "1 5 6 4 3 9 5 2 0",
    "target": "1 7 4 3 5 9 2",
    "batch": "1 8 7 3 4 5 6 7 2",
    "batch_targets": "1 5 6 2 4 7 6",
}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    app.switch_page(PAGE).run()
    assert not app.exception
    assert not app.error
    return app


def stop(app: AppTest, path: str) -> Any:
    """Go to a stop; the table of what it was made of."""
    app.selectbox(key=STOP).set_value(path).run()
    assert not app.exception
    return app.table[0].value


def sizes(shape: str) -> list[int]:
    """`[batch 2, head 8, query 9, d_head 32]` → [2, 8, 9, 32]"""
    return [int(part.split()[-1]) for part in shape.strip("[]").split(",")]


# --- the worked example, from the page ----------------------------------------------------------------------------------


def attention(path: str, queries: int, keys: int, d_model: int, shared: bool) -> dict[str, list[int]]:
    """Shapes of one attention, as variants.md and the texts it goes back to have them: 2 texts, 8 heads."""
    d_head = d_model // 8
    shapes = {}
    for role, length in (("query", queries), ("key", keys), ("value", keys)):
        if shared:
            shapes[f"{path}.{role}.split"] = [2, length, 8, d_head]
        shapes[f"{path}.{role}.projected"] = [2, length, 8, d_head] if shared else [2, length, d_model]
        shapes[f"{path}.{role}.heads"] = [2, 8, length, d_head]
    for name in ("scores", "scaled_scores", "masked_scores", "weights"):
        shapes[f"{path}.{name}"] = [2, 8, queries, keys]
    shapes[f"{path}.head_output"] = [2, 8, queries, d_head]
    return shapes | {f"{path}.{name}": [2, queries, d_model] for name in ("concatenated", "output")}


def expected(d_model: int, d_ff: int, shared: bool, layer: int) -> dict[str, list[int]]:
    """Shapes of one encoder and one decoder layer and of everything around them: sources of 9, targets of 7, 10 ids."""
    shapes = {"source_mask": [2, 1, 1, 9], "target_mask": [2, 1, 7, 7], "logits": [2, 7, 10], "probabilities": [2, 7, 10]}
    shapes |= {"source_embedding.position": [9, d_model], "target_embedding.position": [7, d_model]}
    for side, length, stack in (("source", 9, "encoder"), ("target", 7, "decoder")):
        whole = [2, length, d_model]
        shapes |= {f"{side}_embedding.{name}": whole for name in ("token", "sum")} | {f"{stack}.output": whole}
        here = f"{stack}.layers.{layer}"
        parts = ["self_attention", "feed_forward", *(["cross_attention"] if stack == "decoder" else [])]
        shapes |= {f"{here}.{part}_add_norm.{name}": whole for part in parts for name in ("sum", "normalized")}
        shapes |= attention(f"{here}.self_attention", length, length, d_model, shared)
        shapes |= {f"{here}.feed_forward.{name}": [2, length, d_ff] for name in ("hidden", "activated")}
        shapes[f"{here}.feed_forward.output"] = whole
    return shapes | attention(f"decoder.layers.{layer}.cross_attention", 7, 9, d_model, shared)


def listed(app: AppTest) -> dict[str, list[int]]:
    """Every stop of the list on the page, in its order, with the shape that stands beside it."""
    sent = [json.loads(part.proto.json) for part in app.get("bidi_component") if part.proto.json]
    (groups,) = [data["groups"] for data in sent if "groups" in data]
    return {path: json.loads(shape) for group in groups for path, _, shape in group["stops"]}


@pytest.mark.parametrize(
    ("model", "d_model", "d_ff", "shared", "count"),
    [("shared_heads", 256, 1024, True, 396), ("vanilla", 512, 2048, False, 342), ("pytorch", 512, 2048, False, 344)],
)
def test_the_worked_example_has_its_shapes_at_each_stop(model: str, d_model: int, d_ff: int, shared: bool, count: int) -> None:
    app = opened(model=model, **EXAMPLE)
    found = listed(app)
    assert list(found) == app.selectbox(key=STOP).options
    assert len(found) == count
    shapes = {path: shape for layer in range(6) for path, shape in expected(d_model, d_ff, shared, layer).items()}
    if model == "pytorch":
        shapes |= {"source_embedding.scaled": [2, 9, d_model], "target_embedding.scaled": [2, 7, d_model]}
    assert found == shapes
    # And at the stops themselves: for one variant all of a layer, for the others one of each kind of shape.
    some = ("cross_attention.query.heads", "cross_attention.key.heads", "cross_attention.weights", "feed_forward.hidden")
    layer = ("encoder.layers.5", "decoder.layers.5.cross_attention")
    visited = [path for path in shapes if ".layers." not in path or path.startswith(layer)]
    if not shared:
        visited = ["source_mask", "target_mask", "encoder.output", "logits", *(f"decoder.layers.5.{name}" for name in some)]
    for path in visited:
        table = stop(app, path)
        made = table[table["role"] == "result"].iloc[-1]
        assert (made["tensor"], sizes(made["shape"])) == (path, shapes[path])
        for _, given in table[table["role"] == "input"].iterrows():
            assert given["tensor"] == "token ids" or sizes(given["shape"]) == shapes[given["tensor"]]


def test_the_source_mask_of_the_example_hides_the_one_id_of_padding() -> None:
    app = opened(model="shared_heads", stop="source_mask", **EXAMPLE)
    assert any("17 of 18 are true" in caption.value for caption in app.caption)


def test_every_tap_of_the_model_is_on_the_page_once() -> None:
    paths = opened(model="english-french").selectbox(key=STOP).options
    assert len(paths) == len(set(paths))
    assert set(paths) == set(Pipeline.load("english-french").model.taps)


def test_parameters_on_the_page_are_all_of_the_model() -> None:
    app = opened(model="own sizes", variant="vanilla", n_layers="1", n_heads="2", d_model="16", d_ff="32", **EXAMPLE)
    counted: dict[str, int] = {}
    for path in app.selectbox(key=STOP).options:
        table = stop(app, path)
        for _, row in table[table["role"] == "parameter"].iterrows():
            counted[row["tensor"]] = 1
            for size in sizes(row["shape"]):
                counted[row["tensor"]] *= size
    key = Untrained.of(
        "vanilla",
        (EXAMPLE["source"], EXAMPLE["batch"]),
        (EXAMPLE["target"], EXAMPLE["batch_targets"]),
        {"encoder_layers": 1, "decoder_layers": 1, "heads": 2, "d_model": 16, "d_ff": 32},
    )
    assert sum(counted.values()) == sum(p.numel() for p in key.build().model.parameters())


# --- what is written about a stop ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_every_stop_is_written_about_in_every_variant(preset: str, norm_first: bool) -> None:
    trace = run_traced(small(preset, norm_first=norm_first), SOURCE, TARGET)
    for stop in walk(trace):
        why, formula = written(stop, trace.config)
        assert why.endswith(".")
        assert "$" not in why + formula
        assert formula.count("{") == formula.count("}")
        assert heading(stop)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_what_a_mask_hides_is_hidden_from_the_statistics(preset: str, norm_first: bool) -> None:
    trace = run_traced(small(preset, norm_first=norm_first), SOURCE, TARGET)
    for stop in walk(trace):
        masked, values = hidden(trace, stop), trace[stop.path].numpy()
        late = ("masked_scores", "weights", *(["scaled_scores"] if trace.config.mask_before_scaling else []))
        if stop.kind.rpartition(".")[2] in late:
            own = stop.path.startswith("decoder.layers") and "self_attention" in stop.path
            mask = (trace.masks.target if own else trace.masks.source).numpy()  # type: ignore[union-attr]
            assert masked is not None
            assert (masked == ~np.broadcast_to(mask, masked.shape)).all()
        else:
            assert masked is None
        if values.dtype != bool:
            numbers, count = statistics(trace[stop.path], masked)
            seen = values if masked is None else values[~masked]
            assert count == seen.size
            assert np.isfinite(numbers).all()
            assert numbers == pytest.approx((seen.min(), seen.max(), seen.mean(), seen.std()), rel=1e-4, abs=1e-6)


# --- stepping -------------------------------------------------------------------------------------------------------------


def test_a_step_computes_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(model="reverse", source="abcd")
    ran: list[object] = []
    trace = Pipeline.trace
    monkeypatch.setattr(Pipeline, "trace", lambda *given, **more: ran.append(given) or trace(*given, **more))
    for path in ("logits", "encoder.layers.0.self_attention.scores", "encoder.layers.1.feed_forward.hidden"):
        stop(app, path)
    assert ran == []


def test_back_and_next_go_through_every_tensor_in_order() -> None:
    app = opened(model="reverse", source="abcd", stop="source_mask")
    paths = app.selectbox(key=STOP).options
    assert app.button(key="walk_Left").disabled
    for path in paths[1:4]:
        app.button(key="walk_Right").click().run()
        assert app.selectbox(key=STOP).value == path
    app.button(key="walk_Left").click().run()
    assert app.selectbox(key=STOP).value == paths[2]
    stop(app, paths[-1])
    assert app.button(key="walk_Right").disabled
    assert app.button(key="walk_play").disabled


def test_an_input_can_be_gone_to() -> None:
    app = opened(model="reverse", source="abcd")
    stop(app, "encoder.layers.0.self_attention.masked_scores")
    app.button(key="go source_mask").click().run()
    assert app.selectbox(key=STOP).value == "source_mask"


@pytest.mark.parametrize("nonsense", ["nowhere", "encoder.layers.99.self_attention.scores", "", "<script>"])
def test_a_link_to_no_tensor_opens_the_one_shown_at_first(nonsense: str) -> None:
    app = opened(model="reverse", source="abcd", stop=nonsense)
    assert app.selectbox(key=STOP).value == "source_embedding.token"


def test_a_tensor_of_another_model_does_not_outlive_it() -> None:
    app = opened(model="shared_heads", source="a b c", stop="encoder.layers.5.self_attention.query.split")
    assert app.selectbox(key=STOP).value == "encoder.layers.5.self_attention.query.split"
    app.sidebar.selectbox(key="model").set_value("reverse").run()
    assert not app.exception
    assert app.selectbox(key=STOP).value == "source_embedding.token"


# --- every part, every model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("model", ["reverse", "english-french", "vanilla", "pytorch", "shared_heads"])
def test_every_part_shows_every_kind_of_model(part: str, model: str) -> None:
    sizes = {"variant": model, "n_layers": "2", "d_model": "32", "d_ff": "64"}
    own = {"model": "own sizes", **sizes, **EXAMPLE} if model in ("vanilla", "pytorch", "shared_heads") else {"model": model}
    app = opened(part=part, **own)
    assert not [error.value for error in app.error]
    for chart in app.get("plotly_chart"):
        assert chart.proto.alt


def test_parameters_and_source_are_shown_when_opened() -> None:
    app = opened(model="reverse", source="abcd", stop="encoder.layers.0.feed_forward.hidden")
    assert not app.get("plotly_chart")
    assert not app.code
    app.session_state["walk_parameters"] = True
    app.session_state["walk_source"] = True
    app.run()
    assert len(app.get("plotly_chart")) == 2  # weight and bias
    assert "hidden = self.hidden(self.expand(x))" in app.code[0].value


@pytest.mark.parametrize(("value", "said"), [(-0.034, "−0.03"), (-0.0012, "0.00"), (0.0, "0.00"), (0.746, "0.75")])
def test_a_cosine_has_a_true_minus_and_none_at_zero(value: float, said: str) -> None:
    assert signed(value) == said


@pytest.mark.parametrize("position", [0, 3])
def test_the_arithmetic_agrees_with_the_run(position: int) -> None:
    app = opened(model="reverse", source="abcd", part="arithmetic", work_part="feed_forward")
    box = app.selectbox(key="work_position")
    box.set_value(box.options[position]).run()
    said = [caption.value for caption in app.caption if "Worked out again" in caption.value]
    assert len(said) == 3
    assert all("had the same numbers" in caption for caption in said)


# --- in a browser --------------------------------------------------------------------------------------------------------

browser_only = pytest.mark.browser


class Walker(Visitor):
    """A person before the walk."""

    def at(self, query: str) -> "Walker":
        self.open(f"layers?{query}")
        self.root = self.page.locator(".stop").first
        expect(self.root).to_have_attribute("data-painted", re.compile(r"\d+"))
        return self

    @property
    def geometry(self) -> dict[str, Any]:
        return json.loads(self.root.get_attribute("data-geometry") or "{}")

    @property
    def path(self) -> str:
        return self.geometry["panels"][-1]["path"]

    def is_at(self, path: str) -> None:
        expect(self.root).to_have_attribute("data-geometry", re.compile(re.escape(f'"path":"{path}"')))
        for _ in range(100):
            if self.path == path:
                return
            self.page.wait_for_timeout(50)
        assert self.path == path


@pytest.fixture
def walker(browser: Browser, url: str) -> Any:
    walker = Walker(browser, url)
    yield walker
    walker.context.close()
    assert walker.complaints == []


WORKED = "model=shared_heads&" + "&".join(f"{name}={value.replace(' ', '+')}" for name, value in EXAMPLE.items())
LAYER = "encoder.layers.0"


@browser_only
def test_pictures_are_to_scale(walker: Walker) -> None:
    walker.at(f"{WORKED}&stop={LAYER}.self_attention.query.heads")
    before, after = walker.geometry["panels"]
    # 9 × 256 in 8 pieces of 32, then the same pieces one below the other.
    assert (before["side"], before["lines"], after["side"], after["lines"]) == (8, 1, 1, 8)
    assert before["w"] == pytest.approx(after["w"], abs=0.01)
    assert before["h"] == pytest.approx(after["h"], abs=0.01)

    walker.at(f"{WORKED}&stop={LAYER}.feed_forward.hidden")
    before, after = walker.geometry["panels"]
    assert after["w"] == pytest.approx(4 * before["w"], rel=0.01)
    assert after["h"] == pytest.approx(before["h"])
    assert after["each"][1] >= 4  # binned, and says so
    expect(walker.root).to_contain_text(re.compile(r"each dot stands for 1 × \d+ numbers"))

    walker.at(f"{WORKED}&stop={LAYER}.self_attention.scores")
    query, key, scores = walker.geometry["panels"]
    assert query["w"] == pytest.approx(key["w"])
    assert scores["w"] / query["w"] == pytest.approx(9 / 32, rel=0.01)


WRITTEN = """window.written = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.written.push(text);
    return write.call(this, text, ...rest);
};"""


@browser_only
def test_token_ids_are_written_and_axes_are_named(walker: Walker) -> None:
    walker.page.add_init_script(WRITTEN)
    page = walker.at("model=reverse&source=abcd").page
    pipeline = Pipeline.load("reverse")
    tokens = pipeline.trace("abcd").source_tokens[0]
    ids = map(str, pipeline.vocabulary("source").ids(tokens))
    assert {*tokens, *ids} <= set(page.evaluate("written"))
    expect(walker.root.locator(".axes")).to_have_text(["↓ source", "↓ source → d_model"])


@browser_only
def test_pointing_tells_the_exact_number_also_where_a_dot_stands_for_several(walker: Walker) -> None:
    walker.at("model=reverse&source=abcd&stop=logits")
    value = Pipeline.load("reverse").trace("abcd")["logits"].numpy()
    canvas = walker.root.locator(".panel canvas").last
    canvas.scroll_into_view_if_needed()
    box = walker.geometry["panels"][-1]
    columns, rows = value.shape[2], value.shape[1]
    row, column = 2, 5
    spot = {"x": box["left"] + (column + 0.5) * box["w"] / columns, "y": box["top"] + (row + 0.5) * box["h"] / rows}
    canvas.hover(position=spot)  # type: ignore[arg-type]
    said = walker.root.locator(".tip").inner_text().splitlines()[-1]
    assert float(said.replace("−", "-")) == pytest.approx(float(value[0, row, column]), rel=1e-6)

    walker.at(f"{WORKED}&stop={LAYER}.feed_forward.hidden")
    canvas, box = walker.root.locator(".panel canvas").last, walker.geometry["panels"][-1]
    canvas.hover(position={"x": box["left"] + 0.5, "y": box["top"] + 1})
    said = walker.root.locator(".tip").inner_text()
    found = [float(number.replace("−", "-")) for number in re.findall(r"d_ff \d+: (\S+)", said)]
    key = Untrained.of("shared_heads", (EXAMPLE["source"], EXAMPLE["batch"]), (EXAMPLE["target"], EXAMPLE["batch_targets"]))
    trace = key.build().trace([EXAMPLE["source"], EXAMPLE["batch"]], [EXAMPLE["target"], EXAMPLE["batch_targets"]])
    assert len(found) == box["each"][1] > 1
    assert found == pytest.approx(trace[f"{LAYER}.feed_forward.hidden"].numpy()[0, 0, : len(found)].tolist(), rel=1e-5)


@browser_only
def test_every_number_can_be_reached_with_the_keyboard(walker: Walker) -> None:
    path = f"{LAYER}.self_attention.weights"
    page = walker.at(f"model=reverse&source=abcd&stop={path}").page
    weights = Pipeline.load("reverse").trace("abcd")[path].numpy()[0]
    picture, tip = walker.root.locator(".panel canvas").last, walker.root.locator(".tip")

    def said() -> float:
        assert walker.root.get_by_role("status").inner_text() == ", ".join(tip.inner_text().splitlines())
        return float(tip.inner_text().splitlines()[-1].replace("−", "-"))

    page.keyboard.press("Tab")
    picture.focus()
    assert said() == pytest.approx(weights[0, 0, 0], rel=1e-6)
    for key, (head, query, to) in {
        "ArrowRight": (0, 0, 1),
        "ArrowDown": (0, 1, 1),
        "End": (0, 1, -1),
        "ArrowLeft": (0, 1, -2),
        "Home": (0, 1, 0),
    }.items():
        page.keyboard.press(key)
        assert said() == pytest.approx(weights[head, query, to], rel=1e-6)
    for _ in range(weights.shape[1]):
        page.keyboard.press("ArrowDown")  # over the edge of a head, into the one below
    assert walker.geometry["side"] == 1
    assert said() == pytest.approx(weights[1, 1, 0], rel=1e-6)
    # What is pointed at with the mouse is told in the same words.
    mark = walker.root.locator(".mark").bounding_box()
    assert mark
    told = tip.inner_text()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    assert tip.inner_text() == told

    assert walker.path == path
    page.keyboard.press("ArrowRight")  # outside the picture the keys belong to the walk again
    walker.is_at(f"{LAYER}.self_attention.head_output")
    walker.root.locator(".panel canvas").last.click()
    page.keyboard.press("ArrowLeft")  # and a click does not take them away
    walker.is_at(path)


@browser_only
def test_a_tap_tells_a_number(browser: Browser, url: str) -> None:
    walker = Walker(browser, url, has_touch=True)
    walker.page.set_viewport_size({"width": 390, "height": 844})
    walker.at("model=reverse&source=abcd&stop=logits")
    canvas, tip = walker.root.locator(".panel canvas").last, walker.root.locator(".tip")
    canvas.tap(position={"x": walker.geometry["panels"][-1]["left"] + 1, "y": walker.geometry["panels"][-1]["top"] + 1})
    value = Pipeline.load("reverse").trace("abcd")["logits"].numpy()[0, 0, 0]
    assert float(tip.inner_text().splitlines()[-1].replace("−", "-")) == pytest.approx(value, rel=1e-6)
    walker.page.locator("h1").tap()
    expect(tip).to_be_hidden()
    walker.context.close()
    assert walker.complaints == []


@browser_only
def test_vectors_of_one_position_are_drawn_a_dot_a_number(walker: Walker) -> None:
    walker.page.set_viewport_size({"width": 1280, "height": 720})
    walker.at("model=english-french&part=arithmetic&work_part=feed_forward")
    for root in walker.page.locator(".stop").all():
        expect(root).to_have_attribute("data-painted", re.compile(r"\d+"))
        panels = json.loads(root.get_attribute("data-geometry") or "{}")["panels"]
        assert [panel["each"] for panel in panels] == [[1, 1]] * len(panels)


@browser_only
def test_columns_can_be_opened_until_every_dot_is_one_number(walker: Walker) -> None:
    walker.at(f"{WORKED}&stop={LAYER}.feed_forward.hidden")
    walker.root.get_by_label("last column").fill("99")
    walker.root.get_by_label("last column").press("Tab")
    expect(walker.root).to_have_attribute("data-geometry", re.compile(r'"each":\[1,1\]\}\]\}$'))
    walker.root.get_by_role("button", name="all").click()
    assert walker.geometry["panels"][-1]["each"][1] >= 4


@browser_only
def test_arrow_keys_step_and_the_link_opens_the_same_stop(walker: Walker, browser: Browser) -> None:
    page = walker.at(f"model=reverse&source=abcd&stop={LAYER}.self_attention.scores").page
    page.keyboard.press("ArrowRight")
    walker.is_at(f"{LAYER}.self_attention.scaled_scores")
    page.keyboard.press("ArrowRight")
    walker.is_at(f"{LAYER}.self_attention.masked_scores")
    page.keyboard.press("ArrowLeft")
    walker.is_at(f"{LAYER}.self_attention.scaled_scores")
    walker.settle()
    assert f"stop={LAYER}.self_attention.scaled_scores" in page.url

    other = Walker(browser, walker.url).at(page.url.partition("layers?")[2])
    other.is_at(f"{LAYER}.self_attention.scaled_scores")
    assert other.page.get_by_role("heading", name="Encoder layer 1, self-attention · Scaled scores").is_visible()
    other.context.close()
    assert other.complaints == []


@browser_only
def test_arrow_keys_belong_to_the_text_or_the_list_they_are_pressed_in(walker: Walker) -> None:
    page = walker.at(f"model=reverse&source=abcd&stop={LAYER}.self_attention.scores").page
    page.get_by_label("Source text", exact=True).press("ArrowLeft")
    row = page.locator(f'.outline [data-path="{LAYER}.self_attention.scores"]')
    row.press("ArrowDown")
    below = page.locator(f'.outline [data-path="{LAYER}.self_attention.scaled_scores"]')
    expect(below).to_be_focused()
    below.press("ArrowLeft")
    summary = page.locator(".outline summary", has_text="Encoder layer 1")
    expect(summary).to_be_focused()
    summary.press("ArrowLeft")
    expect(row).to_be_hidden()
    summary.press("ArrowRight")
    expect(row).to_be_visible()
    walker.settle()
    assert walker.path == f"{LAYER}.self_attention.scores"


@browser_only
def test_play_goes_on_by_itself_and_stops_at_the_end(walker: Walker) -> None:
    page = walker.at("model=reverse&source=abcd&stop=decoder.layers.1.feed_forward_add_norm.normalized").page
    page.get_by_role("button", name="Play").click()
    walker.is_at("probabilities")
    walker.settle()
    expect(page.get_by_role("button", name="Play")).to_be_disabled()


@browser_only
@pytest.mark.parametrize("how", ["arrow key", "list", "pause"])
def test_playing_stops_when_a_person_picks(walker: Walker, how: str) -> None:
    page = walker.at("model=reverse&source=abcd&walk_speed=1&stop=source_mask").page
    page.get_by_role("button", name="Play").click()
    walker.is_at("source_embedding.token")
    if how == "arrow key":
        page.keyboard.press("ArrowRight")
    elif how == "list":
        page.locator('.outline [data-path="source_embedding.sum"]').click()
    else:
        page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    walker.settle()
    here = walker.path
    assert here == "source_embedding.sum" or how != "list"
    page.wait_for_timeout(1500)
    assert walker.path == here


@browser_only
def test_the_list_and_the_filmstrip_open_what_is_clicked(walker: Walker) -> None:
    page = walker.at("model=reverse&source=abcd").page
    page.locator(".outline summary", has_text="Decoder layer 2").click()
    page.locator('.outline [data-path="decoder.layers.1.cross_attention.weights"]').click()
    walker.is_at("decoder.layers.1.cross_attention.weights")
    walker.settle()
    walker.choose("Look at", "filmstrip")
    page.locator('.strip [data-path="encoder.layers.0.feed_forward.activated"]').press("Enter")
    walker.is_at(f"{LAYER}.feed_forward.activated")
    walker.settle()
    assert f"stop={LAYER}.feed_forward.activated" in page.url
    assert "part=filmstrip" not in page.url


@browser_only
@pytest.mark.parametrize(
    ("query", "root", "pictures", "words"),
    [
        ("stop=decoder.layers.0.self_attention.weights", ".stop", 2, "Attention weights"),
        (f"stop={LAYER}.self_attention.scores", ".stop", 3, "Raw scores"),
        ("part=filmstrip", ".strip", 20, "Attention weights"),
    ],
)
def test_what_is_drawn_can_be_saved(walker: Walker, query: str, root: str, pictures: int, words: str) -> None:
    page = walker.open(f"layers?model=reverse&source=abcd&{query}")
    page.locator(f"{root}[data-painted]").wait_for()
    ask = """root => { const asked = { svg: '' };
        root.dispatchEvent(new CustomEvent('picture', { detail: asked })); return asked.svg; }"""
    svg = ElementTree.fromstring(page.locator(root).evaluate(ask))
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f"{space}image")) == pictures
    said = [text.text for text in svg.findall(f"{space}text")]
    assert words in said
    # Which way the picture is read, and what a hatch means.
    if root == ".stop":
        assert svg.find(f"{space}polygon") is not None
        assert ("masked" in said) == ("decoder" in query)  # nothing is hidden in the encoder here


@browser_only
@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_nothing_is_wider_than_the_page(walker: Walker, width: int) -> None:
    walker.page.set_viewport_size({"width": width, "height": 800})
    for path in (
        f"{LAYER}.self_attention.masked_scores",
        f"{LAYER}.feed_forward.activated",
        f"{LAYER}.feed_forward_add_norm.sum",
    ):
        walker.at(f"{WORKED}&stop={path}")
        assert walker.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        room = walker.root.evaluate("root => root.scrollWidth - root.clientWidth")
        assert room <= 1, (path, room)


@browser_only
def test_choices_and_lines_fit_a_phone(browser: Browser, url: str) -> None:
    walker = Walker(browser, url, has_touch=True)
    walker.page.set_viewport_size({"width": 390, "height": 844})
    walker.at(f"{WORKED}&stop={LAYER}.self_attention.weights")
    heads = walker.page.locator(".st-key-walk_head button")
    expect(heads).to_have_count(9)
    group = heads.first.locator("..")
    assert group.evaluate("group => group.scrollWidth <= group.clientWidth")

    # Names and the buttons over a chart stand beside the lines or bars, not over them.
    for query, chart in (
        ("part=residual+stream", "stream"),
        ("part=ledger", "ledger-shares"),
        ("part=ledger", "ledger-growth"),
    ):
        page = walker.open(f"layers?model=english-french&{query}")
        picture = page.locator(f".st-key-{chart} .js-plotly-plot")
        drawn, names, buttons = (
            picture.locator(part).evaluate("part => { const box = part.getBoundingClientRect(); return { ...box.toJSON() }; }")
            for part in (".nsewdrag", ".legend .bg", ".modebar")
        )
        assert drawn["width"] > 0.6 * 390, chart
        assert names["top"] >= drawn["bottom"], chart
        assert buttons["bottom"] <= names["top"], chart
    walker.context.close()
    assert walker.complaints == []
