"""The Attention page in a real browser."""

import re

import pytest
from playwright.sync_api import Browser

from tests.pages.conftest import Visitor

pytestmark = pytest.mark.browser

MOSAIC, MAP = 0, 1


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
