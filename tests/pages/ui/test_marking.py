"""Cells are marked in a browser by mouse, keyboard and drag, and the link opens the same state."""

import pytest
from playwright.sync_api import expect

from tests.pages.visitor import Visitor

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_cells_are_marked_by_mouse_keyboard_and_drag_and_the_link_keeps_them(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&source=abcde&kind=cross&predict=attention.2:")
    root, cells = page.locator(".marking"), page.locator(".marking .cell")
    expect(cells).to_have_count(7)
    cells.nth(1).click()
    visitor.settle()
    assert cells.nth(1).get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(root).to_have_attribute("data-marks", "1.3")
    page.wait_for_url("**predict=attention.2%3A1.3**")
    visitor.settle()
    page.get_by_role("button", name="Answer once more").click()
    visitor.settle()
    cells.nth(1).click()
    visitor.settle()
    page.get_by_role("button", name="Show", exact=True).click()
    visitor.settle()
    assert page.url.endswith("predict=attention.2%3A1.3~3~shown")
    labels = [cell.get_attribute("aria-label") or "" for cell in cells.all()]
    assert "you marked it first, then not" in labels[1]
    assert labels[3].endswith("; you marked it")
    cells.nth(5).click()  # after the truth is shown, the answer cannot change
    visitor.settle()
    assert root.get_attribute("data-marks") == "3"

    page.set_viewport_size({"width": 360, "height": 780})
    visitor.open(page.url.split("/")[-1])
    assert [cell.get_attribute("aria-label") or "" for cell in cells.all()] == labels
    assert page.evaluate("document.querySelector('.stMain').scrollWidth <= innerWidth")

    visitor.open("masks?model=reverse&source=abc&predict=mask:")
    cells.nth(4).scroll_into_view_if_needed()
    first, last = (cells.nth(cell).bounding_box() for cell in (4, 6))
    assert first
    assert last
    page.mouse.move(first["x"] + 8, first["y"] + 8)
    page.mouse.down()
    page.mouse.move(last["x"] + 8, last["y"] + 8, steps=8)
    page.mouse.up()
    page.wait_for_url("**predict=mask%3A4-6**")
    visitor.settle()
    page.locator(".marking").get_by_role("button", name="Clear").click()
    page.wait_for_url(lambda url: url.endswith("predict=mask%3A"))
    visitor.settle()
