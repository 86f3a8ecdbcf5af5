"""Each undocumented part of Streamlit and Plotly used by our scripts still works: one test for each function of compat.js."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.app_server import ROOT
from pages.ui.compat import key_class
from pages.ui.scripts import address_of
from pages.ui.text import text
from tests.pages.visitor import Visitor

pytestmark = pytest.mark.browser

COMPAT = ROOT / "pages" / "ui" / "compat.js"


@pytest.fixture(scope="module")
def page(browser: Browser, url: str) -> Iterator[Page]:
    """The Attention page, with the functions of compat.js as `compat`. All tests share it, in the order of this file."""
    visitor = Visitor(browser, url)  # a new visitor has a short history, so a new entry changes its length
    page = visitor.open("attention?model=reverse&source=torch&part=map", whole=True)
    page.evaluate(f"async () => {{ window.compat = await import('{url}/{address_of(COMPAT)}') }}")
    yield page
    visitor.close()
    assert visitor.complaints == []


def returned(page: Page, expression: str) -> Any:
    """The result of a function body that runs in the page, with `compat`."""
    return page.evaluate(f"() => {{ {expression} }}")


@pytest.mark.slow
def test_element_with_key(page: Page) -> None:
    assert returned(page, "return compat.elementWithKey('head-map').querySelector('.js-plotly-plot') !== null")
    assert returned(page, "return compat.elementWithKey('no-such-key')") is None
    assert page.locator(f".{key_class('save head-map')}").count() == 1


@pytest.mark.slow
def test_opened_at(page: Page) -> None:
    assert str(returned(page, "return compat.openedAt()")).endswith("attention?model=reverse&source=torch&part=map")


def test_header_height(page: Page) -> None:
    assert returned(page, "return compat.headerHeight()") == 60


def test_sidebar(page: Page) -> None:
    assert returned(page, "return compat.sidebar().querySelector('nav, [data-testid=stSidebarNav]') !== null")


def test_navigation_lists(page: Page) -> None:
    tags = returned(page, "return [...compat.navigationLists()].map((part) => part.tagName)")
    assert tags.count("UL") == 1
    assert tags.count("LI") == page.get_by_test_id("stSidebarNavLink").count()


def test_sidebar_fold(page: Page) -> None:
    """When the examples of the sidebar are unfolded, the sidebar scrolls until all of them are visible."""
    fold = page.locator(".st-key-examples summary")
    assert returned(page, "return compat.sidebarFold({ composedPath: () => [document.querySelector('h1')] })") is None
    fold.click()
    examples = page.locator(".st-key-example-list button:visible")
    expect(examples.last).to_be_in_viewport()
    expect(examples.first).to_be_in_viewport()
    fold.click()
    expect(examples.last).to_be_hidden()


@pytest.mark.slow
def test_scroll_boxes(page: Page) -> None:
    """“How it is computed” contains a formula and code."""
    page.get_by_text(text("common")["computed"]).click()
    page.locator(".stCode pre").first.wait_for()
    kinds = returned(page, "return [...compat.scrollBoxes()].map((box) => box.tagName)")
    assert {"PRE", "SPAN"} <= set(kinds)
    parts = "[...compat.scrollBoxes()].map((box) => [box, [...compat.partsOfScrollBox(box)]])"
    assert returned(page, f"return {parts}.every(([, parts]) => parts.length > 0)")
    assert returned(page, f"return {parts}.flatMap(([, parts]) => parts).some((part) => part.matches('.base'))")
    assert returned(
        page, f"return {parts}.every(([box, parts]) => [box, ...parts].every((part) => compat.scrollBoxOf(part) === box))"
    )
    page.get_by_text(text("common")["computed"]).click()
    page.locator(".stCode pre").first.wait_for(state="detached")


def test_shadow_roots(page: Page) -> None:
    """That of the grid of all heads is among them."""
    for place in ("compat.pageScroller()", "compat.elementWithKey('overview')"):
        assert returned(page, f"return compat.shadowRoots({place}).some((root) => root.querySelector('.head_grid'))")


def test_page_background(page: Page) -> None:
    assert returned(page, "return compat.pageBackground()") == "rgb(255, 255, 255)"


def test_theme_color(page: Page) -> None:
    root = "compat.shadowRoots(compat.elementWithKey('overview'))[0].querySelector('.head_grid')"
    colors = returned(
        page, f"return ['background-color', 'primary-color', 'text-color'].map((name) => compat.themeColor({root}, name))"
    )
    assert colors[0].lower() == "#ffffff"
    assert all(colors)


def test_keep_entries(page: Page) -> None:
    """The app has called the function. Streamlit's changes of the address on a page add no entry and keep its part."""
    page.evaluate("history.replaceState({}, '', location.href + '#head')")
    address = page.url
    entries, entry = page.evaluate("[history.length, history.state.entry]")
    for change in ("pushState", "replaceState"):
        page.evaluate(f"history.{change}({{}}, '', location.pathname + location.search + '&order={change}')")
        assert page.url.endswith(f"&order={change}#head")
    assert page.evaluate("[history.length, history.state.entry]") == [entries, entry]
    page.evaluate("address => history.replaceState({}, '', address)", address)


def test_report_choices(page: Page) -> None:
    """The first choice after a change of the address adds an entry; the entry before it has the address from before."""
    address, entry = page.url, page.evaluate("history.state.entry")
    count = page.evaluate("history.headlight.count")

    def report(choices: int, opened: int = 0, path: str = "attention") -> int:
        told = f"{{ path: '{path}', count: {choices}, opened: {opened} }}"
        returned(page, f"compat.reportChoices({told})")
        return page.evaluate("history.state.entry") - entry

    page.evaluate("window.entries = []")
    returned(page, "compat.whenEntryOpens(() => window.entries.push(compat.entryNumber()))")
    assert report(count) == 0
    for order in ("none", "one"):
        page.evaluate(f"history.pushState({{}}, '', location.href + '&order={order}')")
    changed = page.url
    assert report(count + 1, path="masks") == 0  # it comes late: this page was left
    move = "to => { history.headlight.own = true; history.replaceState(history.state, '', to); history.headlight.own = false; }"
    page.evaluate(move, ".")
    assert report(count + 1) == 0  # the same on the first page, which has no path
    page.evaluate(move, changed)
    assert report(count + 1) == 1
    assert report(count + 2) == 1  # the address has not changed
    page.evaluate("history.pushState({}, '', location.href + '&order=two')")
    assert report(count + 3, opened=count + 3) == 1  # the choice was made before this address was opened
    page.go_back()
    page.wait_for_function("entry => history.state.entry === entry", arg=entry)
    assert page.url == address
    assert page.evaluate("window.entries") == [entry + 1, entry]


def test_add_to_header(page: Page) -> None:
    assert page.locator("header .undo").count() == 1  # the app has added it
    returned(page, "compat.addToHeader(Object.assign(document.createElement('i'), { id: 'added' }))")
    assert page.locator("header #added").count() == 1


@pytest.mark.slow
def test_open_in_session(page: Page) -> None:
    """Another page opens without reloading the app, and Back returns to the previous page."""
    page.evaluate("window.sameSession = true; window.opened = []")
    returned(page, "compat.whenAddressOpens((byPerson) => window.opened.push(byPerson))")
    returned(page, "compat.openInSession('masks?model=reverse&source=torch')")
    page.get_by_role("heading", name="Masks", level=1).wait_for()
    assert page.evaluate("window.sameSession")
    page.go_back()
    page.get_by_role("heading", name="Attention", level=1).wait_for()
    assert page.evaluate("window.sameSession")
    assert page.evaluate("window.opened") == [False, True]
    place = page.evaluate("[history.length, history.state.entry]")
    returned(page, "compat.openInSession('tokens?model=reverse&source=torch', true)")
    page.get_by_role("heading", name="Tokens", level=1).wait_for()
    assert page.evaluate("[history.length, history.state.entry]") == place


@pytest.mark.slow
def test_when_opened(page: Page) -> None:
    """A message that no person asked for waits until the server has opened the address, and the widgets have its values."""
    returned(page, "compat.openInSession('attention?model=reverse&source=torch&part=map', true)")
    page.evaluate("new Promise((done) => compat.whenOpened(done))")
    layer = "document.querySelector('.st-key-layer [aria-checked=true]').textContent"
    assert page.evaluate(layer) == "2"
    page.evaluate(
        f"""() => {{
            compat.openInSession('attention?model=reverse&source=torch&layer=1&part=map', true);
            window.told = [];
            compat.whenOpened(() => window.told.push({layer}));
            compat.whenOpened(() => window.told.push('forgotten'))();
            // A report that comes now is of the address before, also if the server has opened that one only now.
            const {{ count, openings }} = history.headlight;
            const address = location.search;
            compat.reportChoices({{ path: 'attention', count, opened: count, address, openings: openings + 1 }});
        }}"""
    )
    assert page.evaluate("window.told") == []
    page.wait_for_function("window.told.length")
    assert page.evaluate("window.told") == ["1"]
    # For another part of the same address, the server is asked for nothing.
    returned(page, "compat.openInSession(location.search + '#head', true); window.told = []")
    assert page.evaluate("(compat.whenOpened(() => window.told.push('at once')), window.told)") == ["at once"]
    page.wait_for_url("**#head")


def test_only_compat_js_uses_internals() -> None:
    internals = ("st-key-", "data-testid", "stApp", "js-plotly", "_fullLayout", "_context", "popstate", "pushState", "--st-")
    # The chart imports nothing from outside its folder.
    scripts = [file for file in (ROOT / "pages").rglob("*.js") if file != COMPAT and file.parent.name != "chart"]
    found = {file.name: [name for name in internals if name in file.read_text(encoding="utf-8")] for file in scripts}
    assert json.dumps({name: names for name, names in found.items() if names}) == "{}"


def test_page_scroller(page: Page) -> None:
    page.wait_for_function("compat.pageScroller().scrollHeight > innerHeight")  # when the page is drawn
