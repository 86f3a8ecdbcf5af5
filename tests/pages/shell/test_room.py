"""Layout: boxes that scroll sideways fade at the edge, the first figure is on the first screen, and no page is very high."""

from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.shell.frame.navigation import page_files
from pages.ui.text import text
from tests.pages.visitor import SCREEN, Visitor

pytestmark = pytest.mark.browser

# For each box that can scroll: hidden width in px, whether it fades, width of the fade left and right in px, scrollbar colour.
EDGES = """() => [...document.querySelectorAll(".chart, .katex-display")].map((box) => {
    const style = getComputedStyle(box);
    const [before, after] = ["--before", "--after"].map((name) => parseFloat(style.getPropertyValue(name)));
    return [box.scrollWidth - box.clientWidth, style.maskImage !== "none", before, after, style.scrollbarColor];
})"""
TO_THE_END = """() => document.querySelectorAll(".chart, .katex-display").forEach(
    (box) => box.scrollTo(box.scrollWidth, 0))"""


@pytest.mark.slow
def test_scrollable_boxes_fade_at_the_hidden_side(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open("attention?model=reverse&kind=cross&part=steps&step=weights&source=abcdef", whole=True)
    hidden = page.evaluate(EDGES)
    assert max(most for most, *_ in hidden) > 50  # at least the map of the step
    for most, fades, before, after, bar in hidden:
        assert fades == (most > 0)
        assert (before, after) == (0, 48 if most else 0)
        assert not bar.startswith("rgba(0, 0, 0, 0)")  # visible without hovering
    page.evaluate(TO_THE_END)
    page.wait_for_function(f"({EDGES})().every(([most, , before, after]) => before === (most ? 48 : 0) && after === 0)")


@pytest.mark.slow
def test_boxes_that_fit_do_not_fade(visitor: Visitor) -> None:
    page = visitor.open("attention?model=reverse&kind=cross&part=steps&step=weights&source=abcdef", whole=True)
    assert len(hidden := page.evaluate(EDGES)) > 3
    assert not any(fades for _, fades, *_ in hidden)


@pytest.mark.slow
def test_full_screen_chart_fits_a_phone(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open("attention?part=map", whole=True)
    chart = page.locator(".st-key-head-map .chart")
    before = chart.bounding_box()
    button = chart.locator('[data-title^="Show on the whole screen"]')
    chart.hover()
    button.click()
    page.wait_for_function("document.fullscreenElement?.matches('.st-key-head-map .chart')")
    assert chart.bounding_box() == {"x": 0, "y": 0, "width": 390, "height": 844}
    drawing = chart.locator(".main-svg").first
    drawing.and_(page.locator('[height="828"]')).wait_for()
    button.click()
    page.wait_for_function("document.fullscreenElement === null")
    expect(drawing).not_to_have_attribute("height", "828")
    after = chart.bounding_box()
    assert before is not None
    assert after is not None
    assert (after["width"], after["height"]) == (before["width"], before["height"])


def check_title(page: Page) -> None:
    """Check that the page's title is right below the header."""
    header, title = (page.locator(place).first.bounding_box() for place in ('[data-testid="stHeader"]', "h1"))
    assert header is not None
    assert title is not None
    assert header["y"] + header["height"] <= title["y"] <= header["y"] + header["height"] + 16


@pytest.mark.slow
def test_page_title_is_right_below_the_header_on_a_phone(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    check_title(visitor.open("attention"))


@pytest.mark.slow
def test_title_is_right_below_the_header_and_first_layer_of_heads_is_visible_on_a_projector(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1280, "height": 720})
    page = visitor.open("attention")
    check_title(page)
    box = page.locator(".st-key-overview").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] / 2 < 720 - 10  # the upper half of the box is the first of two layers


@pytest.mark.slow
def test_the_leak_is_on_the_first_screen_of_masks_on_a_projector(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open("masks")
    # By how much a prediction changes without the causal mask, and the chart.
    for shown in ('[data-testid="stMetricValue"] >> nth=0', ".st-key-leak-future-off"):
        box = page.locator(shown).bounding_box()
        assert box is not None
        assert box["y"] + min(box["height"], 100) <= 768


# Page → the selector of its main picture.
PICTURES = {
    "": ".st-key-map",
    "tokens": "ol.tokens",
    "positions": ".st-key-positions-swap",
    "masks": ".st-key-leak-future-off",
    "attention": ".st-key-overview",
    "layers": ".st-key-walk_picture",
    "decoding": ".player .bars",
    "training": ".st-key-film_curves .chart",
}


@pytest.mark.slow
@pytest.mark.parametrize("link", PICTURES)
def test_a_phone_shows_the_picture_of_a_page_on_its_first_screen(visitor: Visitor, link: str) -> None:
    visitor.page.set_viewport_size({"width": 360, "height": 740})
    box = visitor.open(link).locator(PICTURES[link]).bounding_box()
    assert box is not None
    assert box["y"] + min(box["height"], 120) <= 740


# Texts that must be readable as a whole at any letter size.
READ = """.stMain :is(.stMarkdownEllipsis, [data-testid='stPageLink'] span, [data-tag] span,
    [data-testid='stFileUploaderDropzoneInstructions'] span)"""
CUT = """(texts) => texts.filter((box) => box.clientWidth && getComputedStyle(box).overflow !== "visible")
    .map((box) => box.innerText)"""


@pytest.mark.slow
@pytest.mark.parametrize(("link", "count"), [("patching?part=need", 4), ("decoding?method=sampling", 4), ("lessons", 8)])
def test_letters_of_twice_the_size_are_not_cut_off_on_a_phone(visitor: Visitor, link: str, count: int) -> None:
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    page = visitor.open(link)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.locator(READ).count() >= count
    assert page.locator(READ).evaluate_all(CUT) == []


@pytest.mark.slow
def test_ticks_of_a_chart_do_not_overlap_with_letters_of_twice_the_size(browser: Browser, url: str) -> None:
    visitor = Visitor(browser, url, viewport={"width": 390, "height": 844})
    visitor.page.add_init_script("addEventListener('DOMContentLoaded', () => document.documentElement.style.fontSize = '200%')")
    page = visitor.open("positions")
    page.locator(".chart").first.scroll_into_view_if_needed()
    expect(page.locator(".ytitle").first).to_have_css("font-size", "28px")
    columns = page.locator(".xtick text").evaluate_all("texts => texts.map(text => text.getBoundingClientRect().x)")
    sizes = page.locator(".xtick text").evaluate_all("texts => texts.map(text => parseFloat(getComputedStyle(text).fontSize))")
    assert min(right - left for left, right in pairwise(columns)) >= max(sizes)
    assert page.evaluate("document.querySelector('.stMain').scrollWidth") == 390
    visitor.close()
    assert visitor.complaints == []


# The top and the bottom of a part of the page, in px from the top of the screen.
SPAN = "part => [part.getBoundingClientRect().top, part.getBoundingClientRect().bottom]"


@pytest.mark.slow
def test_legends_and_buttons_on_a_phone_overlap_no_other_part(browser: Browser, url: str) -> None:
    visitor = Visitor(browser, url, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    chart = visitor.open("masks").locator(".st-key-leak-future-off")
    names, bars = (chart.locator(part).first.evaluate(SPAN) for part in (".legend .bg", ".nsewdrag"))
    assert names[1] <= bars[0]
    page = visitor.open("layers?model=reverse&part=ledger", whole=True)
    table = page.get_by_test_id("stFullScreenFrame").filter(has=page.get_by_test_id("stDataFrame")).nth(1)
    buttons = table.get_by_test_id("stElementToolbarButtonContainer").first.evaluate(SPAN)
    heading = page.get_by_text("By layer", exact=True).evaluate(SPAN)
    assert heading[1] <= buttons[0]
    assert buttons[1] <= table.get_by_test_id("stDataFrame").evaluate(SPAN)[0] + 2
    visitor.close()
    assert visitor.complaints == []


# The most screens that a page is high.
MOST_SCREENS = 4


def links_of_parts() -> list[str]:
    """A link to each part of each page, and to each step of a head."""
    links = []
    for file in page_files():
        name, words = file.parent.name, text(file.parent.name)
        path = "" if name == "home" else name
        links += [f"{path}?part={part}" for part in words.get("looks", words.get("parts", [""]))]
    return links + [f"attention?part=steps&step={step}" for step in ("input", "scores", "weights", "concatenated", "output")]


@pytest.mark.slow
def test_no_part_of_a_page_is_higher_than_four_screens(visitor: Visitor) -> None:
    screens = {}
    for link in links_of_parts():
        page = visitor.open(link, whole=True)
        # Some charts are drawn with another height on a narrow page, but only once they come near the screen.
        waiting = page.locator('.chart[data-state="waiting"]')
        while waiting.count():
            waiting.first.scroll_into_view_if_needed()
            visitor.settle()
        height = page.evaluate("document.querySelector('.stMain').scrollHeight")
        screens[link] = height / SCREEN["viewport"]["height"]
    assert {link: round(count, 2) for link, count in screens.items() if count > MOST_SCREENS} == {}
