"""The drawn tensors of a stop in a real browser: their scale, and access to every number."""

import re

import pytest
from playwright.sync_api import Browser, expect

from tests.pages.apps import EXAMPLE, WORKED
from tests.pages.layers.opened import LAYER
from tests.pages.visitor import Walker
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.untrained import Untrained

pytestmark = pytest.mark.browser


def test_pictures_are_to_scale(walker: Walker) -> None:
    walker.at(f"{WORKED}&stop={LAYER}.self_attention.query.heads")
    before, after = walker.geometry["panels"]
    # A matrix of 9 × 256 as 8 pieces of 32 columns side by side, then the same pieces below each other.
    assert (before["side"], before["lines"], after["side"], after["lines"]) == (8, 1, 1, 8)
    assert before["w"] == pytest.approx(after["w"], abs=0.01)
    assert before["h"] == pytest.approx(after["h"], abs=0.01)

    walker.at(f"{WORKED}&stop={LAYER}.feed_forward.hidden")
    before, after = walker.geometry["panels"]
    assert after["w"] == pytest.approx(4 * before["w"], rel=0.01)
    assert after["h"] == pytest.approx(before["h"])
    assert after["each"][1] >= 4  # a cell stands for several numbers, and the page says this
    expect(walker.root).to_contain_text(re.compile(r"each cell stands for 1 × \d+ numbers"))

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


def test_cells_show_token_ids_and_axes_are_named(browser: Browser, url: str) -> None:
    walker = Walker(browser, url)
    walker.page.add_init_script(WRITTEN)
    page = walker.at("model=reverse&source=abcd").page
    pipeline = Pipeline.load("reverse")
    tokens = pipeline.trace("abcd").source_tokens[0]
    ids = map(str, pipeline.vocabulary("source").ids(tokens))
    assert {*tokens, *ids} <= set(page.evaluate("written"))
    expect(walker.root.locator(".axes")).to_have_text(["↓ source", "↓ source → d_model"])
    walker.close()
    assert walker.complaints == []


def test_hovering_shows_exact_numbers_even_if_a_cell_stands_for_several(walker: Walker) -> None:
    walker.at("model=reverse&source=abcd&stop=logits")
    value = Pipeline.load("reverse").trace("abcd")["logits"].numpy()
    canvas = walker.root.locator(".panel canvas").last
    canvas.scroll_into_view_if_needed()
    box = walker.geometry["panels"][-1]
    columns, rows = value.shape[2], value.shape[1]
    row, column = 2, 5
    spot = {"x": box["left"] + (column + 0.5) * box["w"] / columns, "y": box["top"] + (row + 0.5) * box["h"] / rows}
    canvas.hover(position=spot)  # type: ignore[arg-type]
    tip = walker.root.locator(".tip").inner_text().splitlines()[-1]
    assert float(tip.replace("−", "-")) == pytest.approx(float(value[0, row, column]), rel=1e-6)

    walker.at(f"{WORKED}&stop={LAYER}.feed_forward.hidden")
    canvas, box = walker.root.locator(".panel canvas").last, walker.geometry["panels"][-1]
    canvas.hover(position={"x": box["left"] + 0.5, "y": box["top"] + 1})
    tip = walker.root.locator(".tip").inner_text()
    values = [float(number.replace("−", "-")) for number in re.findall(r"d_ff \d+: (\S+)", tip)]
    key = Untrained.of("shared_heads", (EXAMPLE["source"], EXAMPLE["batch"]), (EXAMPLE["target"], EXAMPLE["batch_targets"]))
    trace = key.build().trace([EXAMPLE["source"], EXAMPLE["batch"]], [EXAMPLE["target"], EXAMPLE["batch_targets"]])
    assert len(values) == box["each"][1] > 1
    assert values == pytest.approx(trace[f"{LAYER}.feed_forward.hidden"].numpy()[0, 0, : len(values)].tolist(), rel=1e-5)


def test_the_keyboard_reaches_every_number(walker: Walker) -> None:
    path = f"{LAYER}.self_attention.weights"
    page = walker.at(f"model=reverse&source=abcd&stop={path}").page
    weights = Pipeline.load("reverse").trace("abcd")[path].numpy()[0]
    picture, tip = walker.root.locator(".panel canvas").last, walker.root.locator(".tip")

    def value_of_tip() -> float:
        assert walker.root.get_by_role("status").inner_text() == ", ".join(tip.inner_text().splitlines())
        return float(tip.inner_text().splitlines()[-1].replace("−", "-"))

    page.keyboard.press("Tab")
    picture.focus()
    assert value_of_tip() == pytest.approx(weights[0, 0, 0], rel=1e-6)
    for key, (head, query, to) in {
        "ArrowRight": (0, 0, 1),
        "ArrowDown": (0, 1, 1),
        "End": (0, 1, -1),
        "ArrowLeft": (0, 1, -2),
        "Home": (0, 1, 0),
    }.items():
        page.keyboard.press(key)
        assert value_of_tip() == pytest.approx(weights[head, query, to], rel=1e-6)
    for _ in range(weights.shape[1]):
        page.keyboard.press("ArrowDown")  # from the last row of a head into the head below
    assert walker.geometry["side"] == 1
    assert value_of_tip() == pytest.approx(weights[1, 1, 0], rel=1e-6)
    # The mouse and the keyboard show the same tooltip.
    mark = walker.root.locator(".mark").bounding_box()
    assert mark
    words = tip.inner_text()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    assert tip.inner_text() == words

    assert walker.path == path
    page.keyboard.press("ArrowRight")  # outside the picture the arrow keys step through the walk
    walker.is_at(f"{LAYER}.self_attention.head_output")
    walker.root.locator(".panel canvas").last.click()
    page.keyboard.press("ArrowLeft")  # the arrow keys also step after a click on the picture
    walker.is_at(path)


def test_a_tap_shows_a_number(browser: Browser, url: str) -> None:
    walker = Walker(browser, url, has_touch=True)
    walker.page.set_viewport_size({"width": 390, "height": 844})
    walker.at("model=reverse&source=abcd&stop=logits")
    canvas, tip = walker.root.locator(".panel canvas").last, walker.root.locator(".tip")
    canvas.tap(position={"x": walker.geometry["panels"][-1]["left"] + 1, "y": walker.geometry["panels"][-1]["top"] + 1})
    value = Pipeline.load("reverse").trace("abcd")["logits"].numpy()[0, 0, 0]
    assert float(tip.inner_text().splitlines()[-1].replace("−", "-")) == pytest.approx(value, rel=1e-6)
    walker.page.locator("h1").tap()
    expect(tip).to_be_hidden()
    walker.close()
    assert walker.complaints == []


def test_columns_can_be_enlarged_until_each_cell_is_one_number(walker: Walker) -> None:
    walker.at(f"{WORKED}&stop={LAYER}.feed_forward.hidden")
    walker.root.get_by_label("last column").fill("99")
    walker.root.get_by_label("last column").press("Tab")
    expect(walker.root).to_have_attribute("data-geometry", re.compile(r'"each":\[1,1\]\}\]\}$'))
    walker.root.get_by_role("button", name="all").click()
    assert walker.geometry["panels"][-1]["each"][1] >= 4


@pytest.mark.parametrize("width", [1440, 1280, 390])
def test_no_picture_is_wider_than_the_page(walker: Walker, width: int) -> None:
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
