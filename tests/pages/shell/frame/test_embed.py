"""One figure of a page in a frame of another site."""

import pytest
from playwright.sync_api import expect

from pages.shell.frame.embed import FIGURE
from pages.shell.frame.navigation import name_of, page_files
from pages.ui.text import text
from tests.pages.visitor import Visitor

PAGES = [name_of(file) for file in page_files() if FIGURE in text(name_of(file))]


def test_every_page_with_a_model_has_a_figure() -> None:
    assert {name_of(file) for file in page_files()} - {*PAGES} == {"lessons"}


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("page", PAGES)
def test_an_embedded_page_shows_its_figure_and_a_caption_and_nothing_else(visitor: Visitor, page: str) -> None:
    visitor.page.set_viewport_size({"width": 900, "height": 560})
    shown = visitor.open(f"{'' if page == 'home' else page}?embed=true&source=the+cat+sleeps+.")
    figure = text(page)[FIGURE]
    expect(shown.locator(f".st-key-{figure}")).to_be_in_viewport()
    caption = shown.locator(".st-key-embedded")
    expect(caption).to_contain_text(text(page)["title"])
    link = caption.get_by_role("link").get_attribute("href") or ""
    assert "embed" not in link
    assert "source=the+cat+sleeps" in link
    expect(shown.get_by_test_id("stSidebar")).to_be_hidden()
    expect(shown.locator("h1")).to_be_hidden()
    # Every widget with a key that is visible is the figure, lies in it, or is around it.
    others = shown.locator(".stMain [class*='st-key-']:visible").evaluate_all(
        """(boxes, figure) => boxes.filter((box) => !box.closest(`${figure}, .st-key-embedded`)
            && !box.querySelector(`${figure}, .st-key-embedded`)).map((box) => box.className)""",
        f".st-key-{figure}",
    )
    assert others == []


@pytest.mark.slow
@pytest.mark.browser
def test_a_link_names_another_figure_and_a_hostile_name_is_ignored(visitor: Visitor) -> None:
    shown = visitor.open("attention?embed=true&figure=overview&source=the+cat+sleeps+.")
    expect(shown.locator(".st-key-overview")).to_be_in_viewport()
    expect(shown.locator(".st-key-head-map")).to_be_hidden()
    shown = visitor.open("attention?embed=true&figure=x{}*{color:red}&source=the+cat+sleeps+.")
    expect(shown.locator(".st-key-head-map")).to_be_in_viewport()
