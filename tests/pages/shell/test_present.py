"""Presenting: `present=1` and what it draws; in a browser, the keys, and the size of every letter on two projectors."""

import pytest
from playwright.sync_api import ViewportSize, expect

from pages.shell.present import SOURCE
from pages.ui.presenting import PRESENT
from pages.ui.text import text
from tests.pages.apps import on_page
from tests.pages.conftest import Visitor

PROJECTORS: tuple[ViewportSize, ...] = ({"width": 1024, "height": 768}, {"width": 1280, "height": 720})
SCROLL = "document.querySelector('.stMain').scrollTop"
END = "document.querySelector('.stMain').scrollHeight - document.querySelector('.stMain').clientHeight"
# All texts that are seen and have less than 18 px; those in charts and in our components, too.
SMALL = """() => {
    const small = [];
    const look = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) look(element.shadowRoot);
            const words = [...element.childNodes].filter((node) => node.nodeType === 3 && node.textContent.trim());
            const box = element.getBoundingClientRect();
            if (!words.length || !element.checkVisibility() || box.width < 2 || box.height < 2) continue;
            if (element.closest('style, script, .katex, [data-testid="stSidebar"], [data-testid="stIconMaterial"]')) continue;
            const size = parseFloat(getComputedStyle(element).fontSize);
            if (size < 17.9) small.push([element.outerHTML.slice(0, 9), words[0].textContent.trim().slice(0, 30), size].join());
        }
    };
    look(document.querySelector('.stMain'));
    return small;
}"""
# Texts that reach over a side of the screen, outside of boxes that scroll.
CUT_OFF = """() => {
    const cut = [];
    const scrolls = (element) => {
        for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
            if (/auto|scroll/.test(getComputedStyle(at).overflowX) && !at.matches('.stMain')) return true;
        }
        return false;
    };
    const look = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) look(element.shadowRoot);
            const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
            const box = element.getBoundingClientRect();
            if (!words || !element.checkVisibility({visibilityProperty: true}) || box.width < 2 || box.height < 2) continue;
            if (element.closest('style, script, [data-testid="stSidebar"], .katex-mathml')) continue;
            if ((box.left < -1 || box.right > innerWidth + 1) && !scrolls(element)) cut.push(element.textContent.slice(0, 40));
        }
    };
    look(document.querySelector('.stMain'));
    return cut;
}"""


def test_a_link_presents_and_the_text_above_the_page_is_that_of_the_sidebar() -> None:
    app = on_page("pages/attention/page.py", model="reverse", source="torch", present="1")
    assert app.session_state[PRESENT]
    (box,) = [box for box in app.text_input if box.key == SOURCE]
    assert box.value == "torch"
    box.set_value("lamp").run()
    assert app.session_state["source"] == "lamp"
    assert not [button for button in app.button if button.label == text("present")["start"]]
    # Another page of the session presents as well.
    app.switch_page("pages/tokens/page.py").run()
    assert app.query_params[PRESENT] == "1"
    assert [box.value for box in app.text_input if box.key == SOURCE] == ["lamp"]


@pytest.mark.parametrize("page", ["turning", "lessons"])
def test_a_page_that_does_not_read_the_source_text_has_no_box_for_it(page: str) -> None:
    app = on_page(f"pages/{page}/page.py", present="1")
    assert not app.exception
    assert app.session_state[PRESENT]
    assert SOURCE not in [box.key for box in app.text_input]


def test_without_it_a_button_below_the_page_starts() -> None:
    app = on_page("pages/tokens/page.py", model="reverse", source="torch")
    assert SOURCE not in [box.key for box in app.text_input]
    (start,) = [button for button in app.button if button.label == text("present")["start"]]
    start.click().run()
    assert SOURCE in [box.key for box in app.text_input]


@pytest.mark.browser
def test_everything_is_large_and_a_clicker_leads_through_the_parts(visitor: Visitor) -> None:
    page = visitor.page
    page.set_viewport_size(PROJECTORS[0])
    visitor.open("attention?model=reverse&source=torch&kind=cross&present=1", whole=True)
    for size in PROJECTORS:
        page.set_viewport_size(size)
        visitor.settle()
        assert page.evaluate(SMALL) == []
        assert page.evaluate(CUT_OFF) == []
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.keyboard.press("PageDown")
    heading = page.locator("#overview")
    page.wait_for_function(f"{SCROLL} > 0")
    assert abs((heading.bounding_box() or {})["y"] - 16) < 20
    # The next part is further down than the screen is high: what is between is seen before it.
    before = page.evaluate(SCROLL)
    page.keyboard.press("PageDown")
    page.wait_for_function(f"{SCROLL} > {before}")
    assert page.evaluate(SCROLL) - before < PROJECTORS[1]["height"]
    # The last part is higher than the screen, too.
    for _ in range(8):
        page.keyboard.press("PageDown")
    page.wait_for_function(f"{SCROLL} > {END} - 1")
    for _ in range(8):
        page.keyboard.press("PageUp")
    page.wait_for_function(f"{SCROLL} === 0")
    words = text("present")["bar"]
    page.keyboard.press("b")
    expect(page.get_by_text(words["black"])).to_be_attached()
    page.keyboard.press(".")
    expect(page.get_by_text(words["black"])).to_have_count(0)
    page.keyboard.press("f")
    expect(page.get_by_text(words["frozen"])).to_be_visible()
    address = page.url
    # The part that Page Down prepares is named, and seen once the picture is taken away.
    page.keyboard.press("PageDown")
    expect(page.locator("#still > p")).to_contain_text("Press F to show “")
    named = page.locator("#still > p").inner_text()
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    expect(page.locator("#still > p")).not_to_have_text(named)
    page.keyboard.press("PageDown")
    page.mouse.click(300, 300)
    visitor.settle()
    assert page.url == address
    assert page.evaluate(SCROLL) == 0
    # The teacher types another text: the page changes beneath the picture, which shows it after the next press.
    box, chart = page.locator(".st-key-present_source input").first, "[data-testid='stPlotlyChart']"
    box.fill("lamp")
    box.press("Enter")
    page.wait_for_function("chart => document.querySelector(`${chart} svg`)?.textContent.includes('p')", arg=chart)
    visitor.settle()
    assert page.locator(f"#still {chart}").first.locator(".ytick text").all_text_contents() == ["<sos>", *"hcrot"]
    page.keyboard.press("f")
    expect(page.locator("#still")).to_have_count(0)
    assert page.evaluate(SCROLL) > 0
    assert visitor.ticks(0, "y") == ["<sos>", *"pmal"]
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    visitor.settle()
    assert "present" not in page.url
    # Dense pages, with shapes of tensors beside small letters and a table for each layer.
    for path in ("masks", "layers"):
        page.set_viewport_size(PROJECTORS[0])
        visitor.open(f"{path}?present=1")
        for size in PROJECTORS:
            page.set_viewport_size(size)
            assert page.evaluate(SMALL) == []
            assert page.evaluate(CUT_OFF) == []
