"""Presenting: what the app draws with `present=1`; in a browser, the keys, and the size of every letter on two projectors."""

import pytest
from playwright.sync_api import expect

from pages.shell.frame.navigation import name_of, page_files
from pages.ui.presenting import PRESENT
from pages.ui.text import text
from tests.pages.apps import on_page
from tests.pages.legibility import CUT_OFF, PROJECTORS, SMALL
from tests.pages.visitor import Visitor

SCROLL = "document.querySelector('.stMain').scrollTop"
END = "document.querySelector('.stMain').scrollHeight - document.querySelector('.stMain').clientHeight"
# From now on, note the size of each text that is painted on a canvas.
WATCH_CANVASES = """() => {
    const {prototype} = CanvasRenderingContext2D;
    const {fillText} = prototype;
    window.painted = new Map();
    prototype.fillText = function (words, ...place) {
        const {b, d} = this.getTransform();
        const onScreen = this.canvas.getBoundingClientRect().width / this.canvas.width;
        const size = parseFloat(/[\\d.]+px/.exec(this.font)[0]) * Math.hypot(b, d) * onScreen;
        if (words.trim() && size) window.painted.set(words, size);
        return fillText.call(this, words, ...place);
    };
}"""
# Controls without a name; and below, the width in px by which the page is wider than the screen.
NAMELESS = """() => [...document.querySelectorAll('.stMain :is(button, a[href], input, select, textarea)')].filter((control) =>
    control.checkVisibility() && !(control.ariaLabel || control.innerText?.trim() || control.title || control.labels?.length
        || control.getAttribute('aria-labelledby'))).map((control) => control.outerHTML.slice(0, 80))"""
SIDEWAYS = "document.querySelector('.stMain').scrollWidth - document.querySelector('.stMain').clientWidth"


def test_a_link_presents_all_pages_of_the_session() -> None:
    app = on_page("pages/attention/page.py", model="reverse", source="torch", present="1")
    assert app.session_state[PRESENT]
    assert not [button for button in app.button if button.label == text("present")["start"]]
    assert [each.value for each in app.header][:2] == [
        "Cross-attention, layer 2, head 2",
        "Every head at once, layers × heads: 2 × 4",
    ]
    app.switch_page("pages/tokens/page.py").run()
    assert app.query_params[PRESENT] == "1"


@pytest.mark.parametrize(("page", "reads"), [("attention", True), ("lessons", False)])
def test_the_box_of_the_text_is_under_the_title_of_a_page_that_reads_it(page: str, reads: bool) -> None:
    app = on_page(f"pages/{page}/page.py", model="reverse", source="torch")
    assert not app.exception
    assert app.main.text_area(key="source").value == "torch"  # also where it is hidden, so that it keeps its value
    assert text(page).get("reads_source", True) == reads


def test_pasted_lines_become_one_text() -> None:
    app = on_page("pages/attention/page.py", model="english-french", source="the cat sleeps .")
    app.text_area(key="source").set_value("the dog\nsleeps .").run()
    assert not app.exception
    assert app.session_state["source"] == "the dog sleeps ."


def test_a_button_below_the_page_starts_presenting() -> None:
    app = on_page("pages/tokens/page.py", model="reverse", source="torch")
    (start,) = [button for button in app.button if button.label == text("present")["start"]]
    start.click().run()
    assert app.session_state[PRESENT]


@pytest.mark.slow
@pytest.mark.browser
def test_every_text_is_large_and_a_clicker_steps_through_the_parts(visitor: Visitor) -> None:
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
    heading = page.locator("#picked")  # the picture of this head comes first, and below it all heads
    page.wait_for_function(f"{SCROLL} > 0")
    assert abs((heading.bounding_box() or {})["y"] - 16) < 20
    # The next part is more than a screen below, so the step first shows the content between.
    before = page.evaluate(SCROLL)
    page.keyboard.press("PageDown")
    page.wait_for_function(f"{SCROLL} > {before}")
    assert page.evaluate(SCROLL) - before < PROJECTORS[1]["height"]
    # The last part is taller than the screen, too.
    for _ in range(8):
        page.keyboard.press("PageDown")
    page.wait_for_function(f"{SCROLL} > {END} - 1")
    for _ in range(8):
        page.keyboard.press("PageUp")
    page.wait_for_function(f"{SCROLL} === 0")
    words = text("present")["bar"]
    # While a text box or a list has the focus, the keys of the bar have no effect. While a switch has it, they do.
    for control, covers in (("<textarea>", 0), ("<input>", 0), ("<input role='combobox'>", 0), ("<input type='checkbox'>", 1)):
        page.evaluate(
            "control => { document.querySelector('#typed')?.remove(); const box = document.createElement('div');"
            "box.id = 'typed'; box.innerHTML = control; document.body.append(box); box.firstChild.focus(); }",
            control,
        )
        page.keyboard.press("b")
        expect(page.get_by_text(words["black"])).to_have_count(covers)
    page.keyboard.press("b")
    page.evaluate("document.querySelector('#typed').remove()")
    page.keyboard.press("b")
    expect(page.get_by_text(words["black"])).to_be_attached()
    page.keyboard.press(".")
    expect(page.get_by_text(words["black"])).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    visitor.settle()
    assert "present" not in page.url


PAGES = [name_of(file) for file in page_files()]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_every_part_of_every_page_is_large_and_whole_on_both_projectors(name: str, visitor: Visitor) -> None:
    page, words = visitor.page, text(name)
    labels = text("choices")["part"]
    group = str(words.get("look") or words.get("part_label") or words.get("part"))
    parts = [labels.get(part, part) for part in words.get("looks", words.get("parts", {}))]
    if name == "decoding":
        group, parts = words["method"], ["greedy", "sampling", "beam"]
    page.set_viewport_size(PROJECTORS[1])
    visitor.open(f"{name}?present=1" if name != PAGES[0] else "?present=1", whole=True)
    page.evaluate(WATCH_CANVASES)
    # Check each part only on the narrower screen, because it has less room. The wider screen has the same letter size.
    for size, part in [(PROJECTORS[1], ""), (PROJECTORS[0], ""), *((PROJECTORS[0], part) for part in parts[1:])]:
        page.set_viewport_size(size)
        if part:
            visitor.choose(group, part)
        else:
            visitor.settle()
        for check in (SMALL, CUT_OFF, NAMELESS):
            assert page.evaluate(check) == [], f"{part} at {size}"
        expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)
        assert page.evaluate(SIDEWAYS) <= 0, f"{part} at {size}"
