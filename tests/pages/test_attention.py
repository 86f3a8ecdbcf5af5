"""The Attention page in a real browser."""

import re

import pytest
from playwright.sync_api import Browser

from tests.pages.conftest import Visitor

pytestmark = pytest.mark.browser

MAP = 0


def test_typed_text_stands_on_the_axes_with_its_special_tokens(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse")
    visitor.type("Source text", "cab")
    assert visitor.ticks(MAP, "x") == ["<sos>", "c", "a", "b", "<eos>"]
    assert visitor.ticks(MAP, "y") == ["<sos>", "c", "a", "b", "<eos>"]
    assert page.get_by_text("cab → bac").is_visible()

    visitor.choose("Kind of attention", "cross")
    assert visitor.ticks(MAP, "x") == ["<sos>", "c", "a", "b", "<eos>"]
    assert visitor.ticks(MAP, "y") == ["<sos>", "b", "a", "c"]


def test_a_link_opens_the_same_view_in_a_fresh_browser(visitor: Visitor, browser: Browser) -> None:
    page = visitor.open("attention?model=reverse")
    visitor.type("Source text", "headlamp")
    visitor.choose("Kind of attention", "decoder")
    visitor.choose("Layer", "2")
    visitor.choose("Head", "3")
    link, heading = page.url, "Decoder self-attention, layer 2, head 3"
    assert page.get_by_role("heading", name=heading).is_visible()
    cells = page.locator(".heatmaplayer").nth(MAP).inner_html()

    other = Visitor(browser, visitor.url)
    fresh = other.open(link.removeprefix(f"{visitor.url}/"))
    assert fresh.get_by_role("heading", name=heading).is_visible()
    assert fresh.get_by_label("Source text", exact=True).input_value() == "headlamp"
    assert other.ticks(MAP, "y") == visitor.ticks(MAP, "y") == ["<sos>", *"pmaldaeh"]
    assert fresh.locator(".heatmaplayer").nth(MAP).inner_html() == cells
    other.context.close()
    assert other.complaints == []


def test_a_reload_keeps_the_view(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse")
    visitor.type("Source text", "torch")
    visitor.choose("Head", "4")
    page.reload()
    page.locator("h1").first.wait_for()
    visitor.settle()
    assert page.get_by_label("Source text", exact=True).input_value() == "torch"
    assert page.get_by_role("heading", name=re.compile("layer 1, head 4")).is_visible()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is nothing to read"),
        ("ab3", "“3”, which this model does not know"),
        ("🙂", "1 to 12 letters from a to z"),
        ("<script>alert(1)</script>", "“<”, which this model does not know"),
        ("x" * 70, "this model reads up to 62"),
    ],
)
def test_a_text_the_model_cannot_read_is_answered_with_what_it_can(visitor: Visitor, text: str, said: str) -> None:
    page = visitor.open("attention?model=reverse")
    visitor.type("Source text", text)
    assert page.get_by_role("alert").filter(has_text=said).first.is_visible()
    assert "Traceback" not in page.inner_text("body")


def test_a_link_with_nonsense_opens_the_first_view(visitor: Visitor) -> None:
    page = visitor.open("attention?model=nobody&layer=99&head=-1&kind=sideways")
    assert page.get_by_role("heading", name="Encoder self-attention, layer 1, head 1").is_visible()


def test_teacher_forcing_puts_the_typed_target_on_the_axis(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&source=abc&target=xyz")
    assert visitor.ticks(MAP, "y") == ["<sos>", "x", "y", "z"]
    assert page.get_by_text("teacher forcing").is_visible()


def test_dark_and_light_both_show_the_tokens(browser: Browser, url: str) -> None:
    for scheme in ("light", "dark"):
        visitor = Visitor(browser, url, color_scheme=scheme)
        visitor.open("attention?model=reverse&source=abc")
        assert visitor.ticks(MAP, "x") == ["<sos>", "a", "b", "c", "<eos>"]
        visitor.context.close()
        assert visitor.complaints == []


def test_a_click_on_a_tile_opens_that_head(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&source=abc")
    canvas = page.locator(".overview canvas")
    box = canvas.bounding_box()
    assert box is not None
    # The last tile is at the lower right, whatever the room the labels take.
    canvas.click(position={"x": box["width"] - 20, "y": box["height"] - 20})
    visitor.settle()
    assert page.get_by_role("heading", name="Cross-attention, layer 2, head 4").is_visible()
    assert "layer=2" in page.url
    assert "head=4" in page.url


def test_an_edit_changes_the_run_and_its_link_reproduces_it(visitor: Visitor, browser: Browser) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&source=headlight&look=what-if")
    assert page.get_by_text("No edit is in force").is_visible()
    page.get_by_role("button", name="Masks, positions, scaling, residuals").click()
    page.get_by_role("button", name="No positional encoding").click()
    visitor.settle()
    said = page.get_by_text(re.compile(r"\d+ of \d+ tokens differ")).inner_text()
    assert "edits=no+positions" in page.url.replace("%20", "+")

    other = Visitor(browser, visitor.url)
    fresh = other.open(page.url.removeprefix(f"{visitor.url}/"))
    assert fresh.get_by_text(said).is_visible()
    other.context.close()
    assert other.complaints == []

    page.get_by_role("button", name="Clear all edits").click()
    visitor.settle()
    assert page.get_by_text("No edit is in force").is_visible()
    assert "edits=" not in page.url


def test_an_edit_that_is_none_is_answered_with_what_is_allowed(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&look=what-if&edits=make+tea")
    assert page.get_by_role("alert").filter(has_text="silence KIND layer N").first.is_visible()


def test_locked_tokens_of_the_lines_are_in_the_link(visitor: Visitor, browser: Browser) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&source=abc&look=lines")
    page.get_by_role("button", name=re.compile("query 1, c")).click()
    visitor.settle()
    assert "locked=q1" in page.url

    other = Visitor(browser, visitor.url)
    fresh = other.open(page.url.removeprefix(f"{visitor.url}/"))
    assert fresh.get_by_role("button", name=re.compile("query 1, c")).get_attribute("aria-pressed") == "true"
    other.context.close()
    assert other.complaints == []


def test_every_way_to_look_at_a_head_is_drawn(visitor: Visitor) -> None:
    visitor.open("attention?model=reverse&kind=cross&source=abc")
    for look in ("lines", "pattern", "combined", "what-if", "map"):
        visitor.choose("Look at this head as", look)
        assert not visitor.page.get_by_role("alert").filter(has_text="our side").count()
