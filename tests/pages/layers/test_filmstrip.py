"""The filmstrip on the Layers page."""

import re

import pytest
from playwright.sync_api import expect

from tests.pages.layers.opened import LAYER
from tests.pages.visitor import Visitor, Walker


@pytest.mark.slow
@pytest.mark.browser
def test_a_click_in_the_list_or_the_filmstrip_opens_that_stop(walker: Walker) -> None:
    page = walker.at("model=reverse&source=abcd").page
    page.locator(".tree .inner", has_text="Decoder layer 2").click()
    page.locator('.tree [data-id="decoder.layers.1.cross_attention.weights"]').click()
    walker.is_at("decoder.layers.1.cross_attention.weights")
    walker.settle()
    walker.choose("Look at", "filmstrip")
    film = page.locator(".st-key-film .chart")
    film.focus()
    page.keyboard.press("ArrowRight")
    label = film.locator(".hovertext")
    while "Feed-forward, after ReLU" not in label.text_content():
        before = label.text_content()
        page.keyboard.press("PageDown")
        expect(label).not_to_have_text(before)
    page.keyboard.press("Enter")
    walker.is_at(f"{LAYER}.feed_forward.activated")
    walker.settle()
    assert f"stop={LAYER}.feed_forward.activated" in page.url
    assert "part=filmstrip" not in page.url
    # The number that the clicked cell shows is explained.
    assert re.search(r"number=1\.0\.\d+\.\d+", page.url)
    expect(page.locator(".st-key-card-number .katex-display")).to_be_visible()
    expect(page.locator(".st-key-walk_shown")).to_be_focused()
    expect(page.get_by_role("heading", name="after ReLU")).to_be_in_viewport()


@pytest.mark.slow
@pytest.mark.browser
def test_a_tensor_opened_in_a_linked_filmstrip_is_in_the_address(visitor: Visitor) -> None:
    page = visitor.open("layers?model=reverse&source=abcd&part=filmstrip", whole=True)
    page.locator(".st-key-film .chart").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".st-key-film .hovertext")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".st-key-walk_shown")).to_be_focused()
    visitor.settle()
    page.wait_for_url("**stop=*")
