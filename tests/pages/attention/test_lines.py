"""The attention lines in a real browser, on a demo page with known weights."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from benchmarks.app_server import ROOT
from tests.pages.visitor import Visitor, serving

pytestmark = pytest.mark.browser

DEMO = """
import numpy as np
import streamlit as st

from pages.attention.lines import lines

NASTY = "<img src=x onerror=alert(1)>"
case = st.query_params.get("case", "small")
start = {}
if case == "cross":
    queries, keys = ["<sos>", "chat", "dort"], ["<sos>", "the", "cat", "sleeps", ".", "<eos>"]
    weights = np.zeros((1, 3, 6), np.float32)
    weights[0, np.arange(3), [0, 2, 3]] = 0.75
    weights[0, :, 5] = 0.25
elif case == "big":
    queries = keys = [f"token{index}" for index in range(64)]
    noise = np.random.default_rng(0).normal(size=(8, 64, 64)) * 3
    weights = np.exp(noise) / np.exp(noise).sum(-1, keepdims=True)
elif case == "long":
    queries = keys = [f"t{index}" for index in range(100)]
    weights = np.full((2, 100, 100), 0.01)
else:
    queries = keys = ["<sos>", "cat", "<pad>", NASTY]
    # Head 1: 0.7 to itself, 0.1 to the others. Head 2: every query 0.4, 0.3, 0.2, 0.1.
    weights = np.stack([np.full((4, 4), 0.1) + 0.6 * np.eye(4), np.tile([0.4, 0.3, 0.2, 0.1], (4, 1))])
allowed = np.ones(weights.shape, bool)
if case not in ("cross", "big", "long"):
    allowed[:, :, 2] = False  # with a weight nevertheless: a masked pair must not be drawn whatever it holds
    weights[0, 3, 2] = np.nan
if case == "start":
    start = {"locked": [("query", 1), ("key", 3)], "heads": [1], "threshold": 0.2}
if st.session_state.get("Shorter"):
    queries, weights, allowed = queries[:2], weights[:, :2], allowed[:, :2]

def changed():
    st.session_state["told"] = st.session_state.get("told", 0) + 1

st.session_state["runs"] = st.session_state.get("runs", 0) + 1
st.title("Lines")
state = lines(weights, allowed, queries, keys, key="demo", on_change=changed, **start)
st.toggle("Shorter", key="Shorter")
st.text(f"runs {st.session_state['runs']}, told {st.session_state.get('told', 0)}")
queries, keys = (tuple(place for side, place in state.locked if side == name) for name in ("query", "key"))
st.text(f"queries {queries} keys {keys} heads {state.heads} threshold {state.threshold}")
st.text(f"locked {state.locked}")
"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that serves the demo page."""
    script = tmp_path_factory.mktemp("lines") / "demo.py"
    script.write_text(DEMO, encoding="utf-8")
    with serving(script) as address:
        yield address


class Lines(Visitor):
    """A visitor of the demo page. Queries and keys are counted from 0, heads from 1."""

    def show(self, case: str = "small") -> "Lines":
        self.open(f"?case={case}")
        self.root = self.page.locator(".lines")
        expect(self.root).to_have_attribute("data-lines", re.compile(r"\d+"))
        return self

    def query(self, index: int) -> Locator:
        return self.root.locator(".column.query .token").nth(index)

    def key(self, index: int) -> Locator:
        return self.root.locator(".column.key .token").nth(index)

    def head(self, number: int) -> Locator:
        return self.root.get_by_role("button", name=f"Head {number}", exact=True)

    def drawn(self, count: int) -> None:
        expect(self.root).to_have_attribute("data-lines", str(count))

    def shares(self, side: str) -> list[str]:
        return self.root.locator(f".column.{side} .token .share").all_text_contents()

    def announced(self, sentence: str) -> None:
        """Assert that the part of the page that Python draws shows a text."""
        expect(self.page.get_by_text(sentence)).to_be_visible()

    @property
    def runs(self) -> str:
        return self.page.get_by_text(re.compile("^runs ")).inner_text()

    def away(self) -> None:
        """Move the pointer off the tokens."""
        self.page.mouse.move(2, 2)


@pytest.fixture
def view(known: BrowserContext, demo: str) -> Iterator[Lines]:
    """A visitor of the demo page; the test fails if the browser reported an error."""
    visitor = Lines(known, demo)
    yield visitor
    visitor.close()
    assert visitor.complaints == []


@pytest.mark.slow
def test_every_allowed_weight_above_the_threshold_has_a_line(view: Lines) -> None:
    view.show().drawn(2 * 4 * 3)
    view.announced("queries () keys () heads (0, 1) threshold 0.05")


@pytest.mark.slow
def test_hovering_over_a_query_shows_only_its_lines_and_shares_without_a_rerun(view: Lines) -> None:
    view.show()
    before = view.runs
    view.query(1).hover()
    view.drawn(2 * 3)
    # The shares are the mean over the two heads. The masked <pad> has no share.
    assert view.shares("key") == ["0.25", "0.50", "", "0.10"]
    assert view.shares("query") == [""] * 4
    expect(view.key(2)).to_have_class(re.compile("masked"))
    shades = [view.key(index).evaluate("token => token.style.getPropertyValue('--share')") for index in range(4)]
    assert shades == ["0.2500", "0.5000", "0", "0.1000"]
    view.away()
    view.drawn(24)
    assert view.shares("key") == [""] * 4
    view.settle()
    assert view.runs == before


def test_hovering_over_a_key_shows_which_queries_attend_to_it(view: Lines) -> None:
    view.show().key(0).hover()
    view.drawn(2 * 4)
    assert view.shares("query") == ["0.55", "0.25", "0.25", "0.25"]
    view.key(2).hover()
    view.drawn(0)
    assert view.shares("query") == [""] * 4


def test_a_click_locks_a_token_and_starts_a_rerun(view: Lines) -> None:
    view.show().query(1).click()
    view.announced("queries (1,) keys () heads (0, 1)")
    view.announced("locked (('query', 1),)")
    view.announced("told 1")
    expect(view.query(1)).to_have_attribute("aria-pressed", "true")
    expect(view.root.get_by_role("status")).to_contain_text("Locked: query 1, cat")
    view.away()
    view.drawn(2 * 3)
    view.query(1).click()
    view.announced("queries () keys ()")
    view.drawn(24)


@pytest.mark.slow
def test_shares_of_two_locked_tokens_are_added(view: Lines) -> None:
    view.show().query(0).click()
    view.query(1).click()
    view.announced("queries (0, 1) keys ()")
    view.drawn(2 * 2 * 3)
    # The pointer is still on the second token.
    assert view.shares("key") == ["0.80", "0.70", "", "0.20"]
    view.key(3).hover()
    view.drawn(2 * 4)
    view.away()
    view.drawn(2 * 2 * 3)
    view.root.get_by_role("button", name="Unlock all").click()
    view.announced("queries () keys ()")
    view.drawn(24)


@pytest.mark.slow
def test_the_keyboard_can_do_everything_that_the_pointer_can(view: Lines) -> None:
    page = view.show().page
    view.root.get_by_role("slider").focus()
    page.keyboard.press("Tab")  # the unlock button is disabled, so this is the first token
    expect(view.query(0)).to_be_focused()
    view.drawn(2 * 3)
    page.keyboard.press("ArrowDown")
    expect(view.query(1)).to_be_focused()
    outline = view.query(1).evaluate("token => getComputedStyle(token).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    view.announced("queries (1,) keys ()")
    page.keyboard.press("ArrowRight")
    expect(view.key(1)).to_be_focused()
    view.drawn(2 * 4)
    page.keyboard.press("End")
    page.keyboard.press("Space")
    view.announced("queries (1,) keys (3,)")
    page.keyboard.press("Home")
    expect(view.key(0)).to_be_focused()
    page.keyboard.press("Escape")
    view.announced("queries () keys ()")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(view.key(0)).to_be_focused()


@pytest.mark.slow
def test_heads_are_switched_off_and_on(view: Lines) -> None:
    view.show().head(1).click()
    view.drawn(4 * 3)
    expect(view.head(1)).to_have_attribute("aria-pressed", "false")
    view.announced("heads (1,) threshold")
    view.query(1).hover()
    view.drawn(3)
    assert view.shares("key") == ["0.40", "0.30", "", "0.10"]
    view.away()
    view.root.get_by_role("button", name="None", exact=True).click()
    view.drawn(0)
    view.announced("heads () threshold")
    expect(view.root.get_by_role("status")).to_contain_text("No head is on")
    view.root.get_by_role("button", name="All", exact=True).click()
    view.drawn(24)
    view.announced("heads (0, 1) threshold")


@pytest.mark.slow
def test_a_double_click_or_alt_click_leaves_only_that_head_on(view: Lines) -> None:
    view.show().head(2).dblclick()
    view.announced("heads (1,) threshold")
    view.announced("told 1")  # sent to Python once, not once for each click
    view.head(1).click(modifiers=["Alt"])
    view.announced("heads (0,) threshold")
    view.drawn(4 * 3)


@pytest.mark.slow
def test_the_threshold_hides_lines_and_starts_a_rerun_when_released(view: Lines) -> None:
    slider = view.show().root.get_by_role("slider", name="Hide lines below")
    slider.fill("0.2")  # above it are three weights of 0.7, and four each of 0.4 and 0.3
    view.drawn(3 + 8)
    expect(view.root.locator(".threshold .value")).to_have_text("0.20")
    view.announced("threshold 0.2")
    slider.fill("1")
    view.drawn(0)
    status = view.root.get_by_role("status")
    expect(status).to_have_text(
        re.compile(r"^No weight here reaches 1\.00, so there are no lines: the largest is 0\.(69|70)\. Move")
    )
    view.query(1).click()
    expect(status).to_have_text(re.compile("^Locked: query 1, cat.* No weight here reaches 1.00"))
    slider.fill("0.69")
    view.drawn(1)
    expect(status).not_to_contain_text("No weight")
    view.root.get_by_role("button", name="Unlock all").click()
    view.query(3).click()  # its largest unmasked weight is 0.4
    view.root.get_by_role("button", name="Head 1", exact=True).click()
    expect(status).to_have_text(re.compile(r"No weight here reaches 0\.69, .* largest is 0\.(39|40)\."))


def test_a_page_can_set_the_initial_locks_heads_and_threshold(view: Lines) -> None:
    view.show("start")
    view.announced("queries (1,) keys (3,) heads (1,) threshold 0.2")
    view.announced("locked (('query', 1), ('key', 3))")
    # Query 1 has the weights 0.4 and 0.3 above the threshold. Key 3 gets only 0.1 from each query.
    view.drawn(2)
    assert view.shares("key") == ["0.40", "0.30", "", "0.10"]
    assert view.shares("query") == ["0.10"] * 4
    view.key(3).click()
    view.announced("queries (1,) keys () heads (1,) threshold 0.2")


@pytest.mark.slow
def test_a_rerun_keeps_the_choice_and_a_lock_returns_with_its_token(view: Lines) -> None:
    view.show().query(3).click()
    view.query(0).click()
    view.head(2).click()
    view.announced("queries (0, 3) keys () heads (0,)")
    view.page.get_by_text("Shorter").click()
    view.announced("queries (0,) keys () heads (0,)")
    view.away()
    view.drawn(3)
    assert view.root.locator(".column.query .token").count() == 2
    view.page.get_by_text("Shorter").click()
    view.announced("queries (0, 3) keys () heads (0,)")
    view.drawn(6)
    assert view.root.locator(".sheet").count() == 1


@pytest.mark.slow
def test_queries_and_keys_may_differ_in_number(view: Lines) -> None:
    view.show("cross").drawn(6)
    assert view.root.locator(".column.query .token").count() == 3
    view.key(2).hover()
    view.drawn(1)
    assert view.shares("query") == ["0.00", "0.75", "0.00"]
    view.key(5).focus()
    view.page.keyboard.press("ArrowLeft")
    expect(view.query(2)).to_be_focused()
    assert view.query(1).get_attribute("aria-label") == "query 1, chat: looks most at 'cat' 0.75"
    assert view.key(2).get_attribute("aria-label") == "key 2, cat: looked at most by 'chat' 0.75"


def test_tokens_are_shown_as_plain_text(view: Lines) -> None:
    view.show()
    names = view.root.locator(".column.query .name").all_inner_texts()
    assert names == ["<sos>", "cat", "<pad>", "<img src=x onerror=alert(1)>"]
    view.query(3).click()
    expect(view.root.get_by_role("status")).to_contain_text("<img src=x onerror=alert(1)>")
    assert view.root.locator("img").count() == 0


@pytest.mark.slow
def test_many_lines_are_drawn_on_the_canvas_and_not_as_elements(view: Lines) -> None:
    view.show("big")
    assert view.root.locator("*").count() < 800
    view.root.get_by_role("slider").fill("0")
    view.drawn(8 * 64 * 64)
    view.query(5).hover()
    view.drawn(8 * 64)


@pytest.mark.slow
def test_more_than_64_tokens_scroll(view: Lines) -> None:
    view.show("long").drawn(0)
    assert view.root.locator(".picture").evaluate("picture => picture.scrollHeight > picture.clientHeight + 500")
    view.root.get_by_role("slider").fill("0.01")
    view.query(99).hover()
    view.drawn(2 * 100)


def test_the_lines_fit_a_phone_without_scrolling_sideways(view: Lines) -> None:
    view.page.set_viewport_size({"width": 390, "height": 844})
    view.show("small")
    box = view.root.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert view.root.evaluate("root => root.scrollWidth <= root.clientWidth")
    canvas = view.root.locator("canvas").bounding_box()
    assert canvas is not None
    assert canvas["width"] >= 80


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_follow_the_colour_scheme_of_the_page(view: Lines, scheme: Literal["light", "dark"]) -> None:
    view.page.emulate_media(color_scheme=scheme)
    view.show()
    expect(view.root).to_have_attribute("data-scheme", scheme)
    pixels = view.root.locator("canvas").evaluate(
        """canvas => new Set(
            new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
    )
    assert pixels > 10


def test_invalid_values_from_the_browser_are_dropped() -> None:
    from pages.attention.lines import state_of

    sent = {"locked": [["query", 9], ["query", True], "x", ["key", 1], [[], 1]], "heads": [7, 1.5, "2"], "threshold": "high"}
    state = state_of(sent, (2, 3, 4), 0.05)
    assert state == ((("key", 1),), (0, 1), 0.05)
    assert state_of({"heads": []}, (2, 3, 4), 0.05).heads == ()
    assert state_of(None, (2, 3, 4), 0.1) == ((), (0, 1), 0.1)


def test_shapes_that_do_not_match_raise_an_error() -> None:
    import numpy as np

    from pages.attention.lines import lines

    with pytest.raises(ValueError, match=r"must both be \[head, query, key\] = \(1, 2, 2\)"):
        lines(np.zeros((1, 2, 3)), np.ones((1, 2, 3), bool), ["a", "b"], ["c", "d"], key="x")


def test_css_and_js_of_the_lines_are_in_the_folder_of_their_module() -> None:
    folder = Path(ROOT, "pages/attention")
    assert {file.name for file in folder.glob("lines.*")} == {"lines.py", "lines.css", "lines.js"}
