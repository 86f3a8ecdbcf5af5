"""The overview of all heads in a real browser, on a demo page with known weights."""

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, expect
from streamlit.testing.v1 import AppTest

from pages.ui import head_grid as module
from tests.pages.visitor import SCREEN, Visitor, serving
from transformer.figures.attention_figures import LEVELS, MASKED_LEVEL

browser_only = pytest.mark.browser

SCALE = np.frombuffer(base64.b64decode(module.weight_colors()), np.uint8).reshape(-1, 3)

DEMO = """
import numpy as np
import streamlit as st

from pages.ui.head_grid import overview, picked

case = st.query_params.get("case", "small")
layers, heads, tokens = {
    "one": (1, 1, 1), "big": (6, 8, 30), "many": (12, 12, 64), "flow": (6, 8, 12), "many flow": (12, 12, 12)
}.get(case, (3, 4, 4))
st.session_state.setdefault("seed", 0)
st.session_state.setdefault("here", (0, 0))
st.set_page_config(layout="wide")

noise = np.random.default_rng(st.session_state["seed"]).normal(size=(layers, heads, tokens, tokens)) * 3
near = -np.abs(np.subtract.outer(np.arange(tokens), np.arange(tokens)))
noise = noise * 0.5 + near * np.linspace(0, 1.5, layers * heads).reshape(layers, heads, 1, 1)
weights = np.exp(noise) / np.exp(noise).sum(-1, keepdims=True)
allowed = np.ones(weights.shape, bool)
if case != "many":
    allowed[:, heads // 2 :] = np.tri(tokens, dtype=bool)  # half of the heads may not look ahead
queries = keys = [f"token{index}" for index in range(tokens)]
if case == "small":
    queries, keys = ["<sos>", "<b>x</b>", "<pad>", " "], ["the", "<pad>", "<b>x</b>", "it"]
    # Layer 2, head 3.
    weights[1, 2] = [[1, 0, 0, 0], [0.25, 0.75, 0, 0], [0.1, 0.2, 0.7, 0], [0.5, 0.001, 0.25, 0.249]]
    weights[1, 2, 0, 1] = np.nan  # masked: must not matter
    allowed[2, 3] = False
if case == "many":
    weights[11, 11] = 0.001
    weights[11, 11, 33, 21] = 0.5
more = {}
if case.endswith("flow"):
    order = [(layer, head) for head in reversed(range(heads)) for layer in range(layers)]
    order = [] if st.session_state.get("none") else order
    more = {"order": order, "captions": [f"{0.99 - 0.006 * index:.2f}" for index in range(len(order))]}


def take():
    st.session_state["here"] = picked("demo") or st.session_state["here"]
    st.session_state["told"] = st.session_state.get("told", 0) + 1


def anew():
    st.session_state["seed"] += 1


st.session_state["runs"] = st.session_state.get("runs", 0) + 1
st.title("Every head")
overview(weights, allowed, queries, keys, st.session_state["here"], "#0072B2", "demo", take, **more)
found = picked("demo")
st.button("Anew", on_click=anew)
st.checkbox("No tiles", key="none")
st.text(f"runs {st.session_state['runs']}, told {st.session_state.get('told', 0)}")
st.text(f"here {st.session_state['here']} found {found} outside {picked('nobody')}")
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that serves the demo page."""
    script = tmp_path_factory.mktemp("overview") / "demo.py"
    script.write_text(DEMO, encoding="utf-8")
    with serving(script) as address:
        yield address


class Overview(Visitor):
    """A visitor of the demo page. Layers and heads are counted from 1, as on the page; cells from 0."""

    def show(self, case: str = "small") -> "Overview":
        self.open(f"?case={case}")
        self.root = self.page.locator(".head_grid")
        self.picture = self.root.locator(".picture")
        expect(self.root).to_have_attribute("data-painted", re.compile(r"\d+"))
        self.picture.scroll_into_view_if_needed()
        return self

    @property
    def places(self) -> list[dict[str, float]]:
        """The place of each tile in the picture, in px."""
        return self.picture.evaluate("""picture => {
            const corner = picture.getBoundingClientRect();
            return [...picture.querySelectorAll(".tile")].map((tile) => tile.getBoundingClientRect()).map(
                ({ left, top, width, height }) => ({ left: left - corner.left, top: top - corner.top, w: width, h: height }));
        }""")

    @property
    def painted(self) -> int:
        return int(self.root.get_attribute("data-painted") or 0)

    def at(self, tile: int, query: float = 0, key: float = 0, queries: int = 4, keys: int = 4) -> dict[str, float]:
        """The middle of a cell in the picture; `tile` counts the drawn tiles from 0, row by row."""
        place = self.places[tile]
        return {
            "x": place["left"] + (key + 0.5) * place["w"] / keys,
            "y": place["top"] + (query + 0.5) * place["h"] / queries,
        }

    def tile(self, layer: int, head: int) -> int:
        """The number of the tile of a head among those that are drawn."""
        names = self.root.locator(".tile").evaluate_all("tiles => tiles.map((tile) => tile.dataset.tile)")
        return names.index(f"{layer},{head}")

    def is_at(self, mark: str, tile: str) -> None:
        """Check which tile is selected, or has the cursor."""
        expect(self.root.locator(f".tile.{mark}")).to_have_attribute("data-tile", tile)

    def point(self, layer: int, head: int, query: int, key: int) -> str:
        """The tooltip of a cell."""
        self.picture.hover(position=self.at(self.tile(layer, head), query, key))
        return self.tip.inner_text()

    def click(self, tile: int) -> None:
        self.picture.click(position=self.at(tile))

    def color(self, layer: int, head: int, query: int, key: int, queries: int = 4, keys: int = 4) -> list[int]:
        """Red, green, blue and alpha of a cell."""
        at = [int(px) for px in self.at(self.tile(layer, head), query, key, queries, keys).values()]
        canvas = self.picture.locator("canvas")
        return canvas.evaluate("(canvas, at) => [...canvas.getContext('2d').getImageData(...at, 1, 1).data]", at)

    @property
    def tip(self) -> Locator:
        return self.root.locator(".tip")

    @property
    def runs(self) -> str:
        return self.page.get_by_text(re.compile("^runs ")).inner_text()

    def announced(self, sentence: str) -> None:
        expect(self.page.get_by_text(sentence)).to_be_visible()

    def fits(self) -> None:
        """Check that nothing is wider than the page."""
        assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        room = self.root.evaluate("root => root.querySelector('.sheet').scrollWidth - root.clientWidth")
        assert room <= 0
        # Streamlit scrolls inside its own element.
        assert self.page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth") <= 0


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[BrowserContext]:
    """The browser of a phone with a touchscreen."""
    context = browser.new_context(**(SCREEN | {"has_touch": True, "is_mobile": True, "device_scale_factor": 3}))
    yield context
    context.close()


@pytest.fixture
def view(known: BrowserContext, demo: str) -> Iterator[Overview]:
    """A visitor of the demo page; the test fails if the browser reported an error."""
    visitor = Overview(known, demo)
    yield visitor
    visitor.close()
    assert visitor.complaints == []


@pytest.mark.slow
@browser_only
def test_hovering_shows_the_cell_and_its_weight_without_a_rerun(view: Overview) -> None:
    view.show()
    before, painted = view.runs, view.painted
    expected = ["layer 2, head 3", "query 1: <b>x</b>", "key 1: <pad>", "weight 0.748 (±0.002)"]
    assert view.point(2, 3, 1, 1).split("\n") == expected
    assert view.point(2, 3, 2, 2).split("\n")[1:] == ["query 2: <pad>", "key 2: <b>x</b>", "weight 0.701 (±0.002)"]
    assert view.point(2, 3, 3, 0).split("\n")[1:] == ["query 3: ␣", "key 0: the", "weight 0.500 (±0.002)"]
    assert view.point(2, 3, 3, 1).split("\n")[-1] == "weight under 0.002"
    assert view.point(2, 3, 0, 1).split("\n")[1:] == ["query 0: <sos>", "key 1: <pad>", "masked: may not be looked at"]
    assert view.root.locator(".tip b").count() == 0
    view.page.mouse.move(2, 2)
    expect(view.tip).to_be_hidden()
    view.settle()
    assert (view.runs, view.painted) == (before, painted)


@pytest.mark.slow
@browser_only
def test_each_click_starts_a_rerun_and_moves_the_frame(view: Overview) -> None:
    view.show()
    view.is_at("selected", "1,1")
    expect(view.root).to_have_attribute("data-tiles", "12")
    painted = view.painted
    view.click(view.tile(2, 3))
    view.announced("here (1, 2) found (1, 2) outside None")
    view.is_at("selected", "2,3")
    view.click(view.tile(2, 3))
    view.announced("runs 3, told 2")
    style = view.root.locator(".tile.selected").evaluate("frame => getComputedStyle(frame).outlineColor")
    assert style == "rgb(0, 114, 178)"
    assert view.root.locator(".label.on").all_text_contents() == ["head 3", "layer 2"]
    assert view.painted == painted  # selecting moves only the frame


@pytest.mark.slow
@browser_only
def test_a_pick_is_returned_in_one_run_only(view: Overview) -> None:
    view.show().click(view.tile(3, 1))
    view.announced("here (2, 0) found (2, 0)")
    view.page.get_by_role("button", name="Anew").click()
    view.announced("here (2, 0) found None")


@pytest.mark.slow
@browser_only
def test_the_keyboard_reaches_and_picks_a_tile(view: Overview) -> None:
    view.show()
    view.page.locator("h1").click()
    for _ in range(12):
        if view.page.evaluate("document.activeElement?.shadowRoot?.activeElement?.className") == "picture":
            break
        view.page.keyboard.press("Tab")
    expect(view.picture).to_be_focused()
    frame = "tile => getComputedStyle(tile, '::after').outlineStyle"
    assert view.root.locator(".tile.cursor").evaluate(frame) == "dashed"
    assert view.picture.evaluate("picture => getComputedStyle(picture).outlineWidth") == "3px"
    before = view.runs
    for pressed, cursor in [
        ("ArrowUp", "1,1"),
        ("ArrowDown", "2,1"),
        ("End", "2,4"),
        ("ArrowRight", "2,4"),
        ("ArrowLeft", "2,3"),
    ]:
        view.page.keyboard.press(pressed)
        view.is_at("cursor", cursor)
    says = view.root.get_by_role("status")
    expect(says).to_contain_text("layer 2, head 3: row 0: <sos> puts 1.00 on 0: the; row ")
    assert view.runs == before
    view.page.keyboard.press("Enter")
    view.announced("here (1, 2) found (1, 2)")
    expect(says).to_contain_text("This head is selected.")
    expect(view.picture).to_be_focused()
    view.page.keyboard.press("ArrowDown")
    view.page.keyboard.press("ArrowRight")
    expect(says).to_have_text("layer 3, head 4: masked, nothing may be looked at.")
    view.page.keyboard.press("Space")
    view.announced("here (2, 3) found (2, 3)")
    assert "12" not in (view.picture.get_attribute("aria-label") or "")
    assert "layers from top to bottom (3)" in (view.picture.get_attribute("aria-label") or "")


@pytest.mark.slow
@browser_only
def test_cells_have_the_colour_of_their_weight_and_masked_cells_a_colour_outside_the_scale(view: Overview) -> None:
    view.show()
    assert view.color(2, 3, 0, 0) == [*SCALE[254], 255]
    assert view.color(2, 3, 1, 1) == [*SCALE[190], 255]
    assert view.color(2, 3, 3, 1) == [*SCALE[0], 255]
    assert view.color(2, 3, 0, 1)[3] == 0  # the hatched tile below the canvas is seen
    masked = view.root.locator(".tile").first.evaluate("tile => getComputedStyle(tile).backgroundColor")
    grey, opacity = (float(re.findall(r"[\d.]+", masked)[part]) for part in (0, 3))
    assert np.abs(SCALE - (255 + opacity * (grey - 255))).sum(-1).min() > 60


@browser_only
def test_without_tiles_no_map_of_the_tiles_before_is_left(view: Overview) -> None:
    view.show("flow")
    assert view.picture.locator("canvas").evaluate("canvas => canvas.width") > 0
    view.page.get_by_text("No tiles").click()
    expect(view.root.locator(".tile")).to_have_count(0)
    assert view.picture.locator("canvas").evaluate("canvas => canvas.width") == 0


@pytest.mark.slow
@browser_only
def test_new_data_is_painted_in_place(view: Overview) -> None:
    view.show()
    tile = view.root.locator(".tile").first
    tile.evaluate("tile => tile.dataset.mine = 'still here'")
    painted, color, places = view.painted, view.color(1, 1, 0, 0), view.places
    view.page.get_by_role("button", name="Anew").click()
    view.announced("runs 2")
    expect(view.root).to_have_attribute("data-painted", str(painted + 1))
    expect(tile).to_have_attribute("data-mine", "still here")
    assert view.color(1, 1, 0, 0) != color
    assert view.places == places


@browser_only
def test_a_custom_order_shows_captions_and_a_click_picks_the_clicked_tile(view: Overview) -> None:
    view.show("flow")
    captions = view.root.locator(".label.caption")
    assert captions.all_text_contents()[:2] == ["L1 H8 · 0.99", "L2 H8 · 0.98"]
    assert captions.evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth)")
    view.click(1)
    view.announced("here (1, 7) found (1, 7)")
    view.is_at("selected", "2,8")
    assert view.root.locator(".label.on").all_text_contents() == ["L2 H8 · 0.98"]


@pytest.mark.slow
@browser_only
@pytest.mark.parametrize("case", ["one", "small", "big", "many", "flow"])
def test_the_overview_fits_a_laptop(view: Overview, case: str) -> None:
    view.show(case).fits()
    assert view.root.evaluate("root => root.clientHeight") <= 620
    _picture(view, f"laptop-{case}")


@browser_only
def test_many_tiles_with_captions_stay_readable_because_the_picture_grows(view: Overview) -> None:
    view.show("many flow").fits()
    assert min(place["h"] for place in view.places) >= 56
    assert view.root.locator(".label.caption").evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth)")
    _picture(view, "laptop-many-flow")


@pytest.mark.slow
@browser_only
def test_a_single_large_weight_is_visible_and_named_with_more_cells_than_pixels(view: Overview) -> None:
    view.show("many")
    place = view.places[-1]
    assert place["w"] < 64
    assert place["h"] < 64
    view.picture.hover(position=view.at(view.tile(12, 12), 33.4, 21.4, 64, 64))
    expected = ["layer 12, head 12", "query 33: token33", "key 21: token21", "weight 0.500 (±0.002)"]
    assert view.tip.inner_text().split("\n") == expected
    size = view.root.locator(".tile").last.evaluate("tile => [tile.clientHeight - 1, tile.clientWidth - 1]")
    pixel = [int((cell + 0.9) * pixels / 64) for cell, pixels in zip((33, 21), size, strict=True)]
    assert view.color(12, 12, *pixel, *size) == [*SCALE[127], 255]


@pytest.mark.slow
@browser_only
@pytest.mark.parametrize("case", ["small", "big", "many", "flow"])
def test_the_overview_fits_a_phone_and_a_tap_picks_a_tile(phone: BrowserContext, demo: str, case: str) -> None:
    visitor = Overview(phone, demo)
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    visitor.show(case).fits()
    _picture(visitor, f"phone-{case}")
    expect(visitor.root.get_by_role("status")).to_have_text("Tap a tile to read that head.")
    layers, heads = {"small": (3, 4), "big": (6, 8), "many": (12, 12), "flow": (6, 8)}[case]
    # The last tile is tapped because Streamlit's header may cover the first tile.
    visitor.picture.tap(position=visitor.at(layers * heads - 1))
    layer, head = (layers - 1, 0) if case == "flow" else (layers - 1, heads - 1)
    visitor.announced(f"here ({layer}, {head}) found ({layer}, {head})")
    visitor.close()
    assert visitor.complaints == []


@pytest.mark.slow
@browser_only
def test_text_is_light_in_the_dark_theme(view: Overview) -> None:
    view.page.emulate_media(color_scheme="dark")
    view.show("big")
    color = view.root.evaluate("root => getComputedStyle(root).color")
    assert min(map(int, re.findall(r"\d+", color))) > 200
    view.picture.hover(position=view.at(view.tile(4, 6), 5, 3, 30, 30))
    _picture(view, "dark-big")


@pytest.mark.slow
@browser_only
def test_a_narrower_window_makes_smaller_tiles(view: Overview) -> None:
    view.show("big")
    wide = view.places[0]["w"]
    view.page.set_viewport_size({"width": 700, "height": 900})
    view.settle()
    assert view.places[0]["w"] < wide
    view.fits()


def _picture(view: Overview, name: str) -> None:
    """Save a screenshot in the folder named by HEADLIGHT_PICTURES, if it is set."""
    if folder := os.environ.get("HEADLIGHT_PICTURES"):
        view.page.screenshot(path=Path(folder) / f"overview-{name}.png")


def _page(layers: int, heads: int, tokens: int, causal: bool) -> None:
    import numpy as np

    from pages.ui.head_grid import overview

    weights = np.random.default_rng(0).dirichlet(np.ones(tokens), (layers, heads, tokens)).astype(np.float32)
    allowed = np.broadcast_to(np.tri(tokens, dtype=bool) if causal else np.True_, weights.shape)
    names = [f"token{index}" for index in range(tokens)]
    overview(weights, allowed, names, names, (np.int64(0), 1), "#000000", "tiles")


def _sent(*case: Any) -> tuple[dict[str, Any], bytes]:
    """The header of the data sent to the browser, and its numbers as bytes."""
    app = AppTest.from_function(_page, args=case).run()
    assert not app.exception
    sent = app.get("bidi_component")[0].proto.bytes
    end = 4 + int.from_bytes(sent[:4], "little")
    return json.loads(sent[4:end]), sent[end:]


@pytest.mark.parametrize(("case", "most"), [((6, 8, 30), 120_000), ((12, 12, 64), 800_000)])
@pytest.mark.parametrize("causal", [False, True])
def test_the_data_sent_to_the_browser_is_small_and_without_nan(case: tuple[int, int, int], most: int, causal: bool) -> None:
    data, sent = _sent(*case, causal)
    assert len(json.dumps(data)) + len(sent) <= most
    assert data["selected"] == [0, 1]
    assert data["shape"] == [*case, case[-1]]
    assert "NaN" not in json.dumps(data)
    levels = np.frombuffer(sent, np.uint8).reshape(data["shape"])
    assert (levels[0, 0, 0, 1] == MASKED_LEVEL) == causal
    assert len(base64.b64decode(data["colors"]["scale"])) == 3 * (LEVELS + 1)


def _picking() -> None:
    """A page that writes which tile was picked."""
    import streamlit as st

    from pages.ui.head_grid import picked

    st.text(picked("overview"))


@pytest.mark.parametrize("message", [None, 3, [1], [1, 2, 3], ["1", 2], [True, 0], [-1, 0], [0.5, 1], {"layer": 1}])
def test_invalid_picks_from_the_browser_are_ignored(message: Any) -> None:
    app = AppTest.from_function(_picking)
    for sent, picked in ((message, None), ([1, 2], (1, 2))):
        app.session_state["overview"] = {"pick": sent}
        assert [each.value for each in app.run().text] == [str(picked)]
