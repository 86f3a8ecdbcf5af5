"""State in the address, tested in a browser: from page to page, Back and Forward, reload, and on a new server."""

from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page

from tests.pages.apps import LINKED, WORKED
from tests.pages.conftest import ROOT, Visitor, serving

pytestmark = pytest.mark.browser

BOXES = {
    "Source text": "source",
    "Target text": "target",
    "Further source texts": "batch",
    "Their target texts": "batch_targets",
}


def held(page: Page) -> dict[str, str]:
    """The values of the text boxes and the model picker of the sidebar."""
    boxes = {name: page.get_by_label(label, exact=True).input_value() for label, name in BOXES.items()}
    return {"model": page.get_by_test_id("stSidebar").get_by_role("combobox").first.input_value(), **boxes}


def go(visitor: Visitor, title: str) -> None:
    visitor.page.get_by_test_id("stSidebarNav").get_by_text(title, exact=True).click()
    visitor.page.get_by_role("heading", name=title, level=1).wait_for()
    visitor.settle()


def test_sidebar_survives_navigation_history_and_reload(visitor: Visitor) -> None:
    page = visitor.open(f"attention?{WORKED}")
    assert held(page) == LINKED
    go(visitor, "The head that turns")
    assert held(page) == LINKED
    visitor.type("Source text", "1 2 3")
    changed = {**LINKED, "source": "1 2 3"}
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert held(page) == LINKED  # Back restores the view as it was left
    page.go_forward()
    page.get_by_role("heading", name="The head that turns", level=1).wait_for()
    visitor.settle()
    assert held(page) == changed
    page.reload()
    page.locator("h1").first.wait_for()
    visitor.settle()
    assert held(page) == changed


def test_sidebar_survives_the_links_at_the_foot(visitor: Visitor) -> None:
    page = visitor.open(f"attention?{WORKED}&kind=cross", whole=True)
    foot = page.locator(".st-key-foot")
    foot.get_by_role("link").first.click()
    visitor.settle()
    assert "/attention" not in page.url
    assert held(page) == LINKED
    assert all(value.replace(" ", "+") in page.url for value in LINKED.values())


def test_back_and_forward_restore_the_choices_of_each_page(visitor: Visitor) -> None:
    """A page is left by the navigation, then by a link of the tour."""
    page = visitor.open("masks?model=reverse&source=torch", whole=True)
    visitor.choose("three conventions", "three conventions")
    addresses = [page.url]
    go(visitor, "Attention")
    visitor.choose("cross", "cross")
    addresses.append(page.url)
    visitor.see_all()
    page.get_by_test_id("stMain").get_by_role("link", name="Layers").last.click()  # the next stop of the tour
    page.get_by_role("heading", name="Layers", level=1).wait_for()
    visitor.settle()
    page.keyboard.press("ArrowRight")
    visitor.settle()
    addresses.append(page.url)
    assert [url.rpartition("/")[2].partition("?")[0] for url in addresses] == ["masks", "attention", "layers"]
    assert "part=three-conventions" in addresses[0]
    assert "kind=cross" in addresses[1]
    assert "stop=" in addresses[2]
    titles = ("Masks", "Attention", "Layers")
    for before, place in pairwise((2, 1, 0, 1, 2)):
        page.go_back() if place < before else page.go_forward()
        page.get_by_role("heading", name=titles[place], level=1).wait_for()
        visitor.settle()
        assert page.url == addresses[place]
    page.go_back()
    page.get_by_role("heading", name="Cross-attention, layer 1, head 1").wait_for()


def test_each_page_keeps_its_own_computed_part_open(visitor: Visitor) -> None:
    page = visitor.open("positions?computed=true")
    go(visitor, "Masks")
    assert page.locator("details[open] pre").count() == 0
    page.get_by_text("How it is computed").click()
    visitor.settle()
    address = page.url
    assert address.endswith("masks?computed=true")
    page.go_back()
    page.get_by_role("heading", name="Positions", level=1).wait_for()
    visitor.settle()
    assert page.url.endswith("positions?computed=true")
    assert page.locator("details[open] pre").count() > 0
    page.go_forward()
    page.get_by_role("heading", name="Masks", level=1).wait_for()
    visitor.settle()
    assert page.url == address
    assert page.locator("details[open] pre").count() > 0


def test_back_restores_model_and_sizes_after_a_change(visitor: Visitor) -> None:
    page = visitor.open("attention?model=own-sizes&n_heads=2&n_layers=1&source=big+cat")
    assert page.get_by_role("heading", name="1 layers × 2 heads").is_visible()
    go(visitor, "The head that turns")
    assert page.get_by_label("heads", exact=True).input_value() == "2"
    page.get_by_test_id("stSidebar").get_by_role("combobox").first.click()
    page.get_by_role("option", name="reverse", exact=True).click()
    visitor.settle()
    assert held(page) == {"model": "reverse", "source": "headlight", "target": "", "batch": "", "batch_targets": ""}
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    visitor.settle()
    assert held(page)["model"] == "own-sizes"
    assert held(page)["source"] == "big cat"
    assert page.get_by_label("heads", exact=True).input_value() == "2"
    assert page.get_by_role("heading", name="1 layers × 2 heads").is_visible()


def test_link_opens_on_a_new_server(browser: Browser) -> None:
    with serving(ROOT / "app.py") as url:
        visitor = Visitor(browser, url)
        page = visitor.open(f"attention?{WORKED}&kind=cross&layer=6&head=8", whole=True)
        assert held(page) == LINKED
        assert page.get_by_role("heading", name="Cross-attention, layer 6, head 8").is_visible()
        assert visitor.ticks(0, "x") == LINKED["source"].split()
        assert page.get_by_text("untrained").first.is_visible()
        visitor.close()
        assert visitor.complaints == []
