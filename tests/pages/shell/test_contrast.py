"""Every page is accessible according to WCAG 2.2: contrast in both themes, axe-core, headings, large letters.

Each page is opened once, because opening it takes longer than all checks.
"""

import os
import re
from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.app_server import ROOT
from pages.shell.frame.navigation import name_of, page_files
from tests.pages.visitor import Visitor
from tests.waiting import wait_for

pytestmark = pytest.mark.browser

AXE = ROOT / ".ci" / "node_modules" / "axe-core" / "axe.min.js"

# Together these links open every page, with every kind of text: blocks, cards, tables, captions, code, keys and the list of
# tensors. Texts are short, because a chart has two letters for each token.
LINKS = (
    "?numbered=true",
    "lessons",
    "tokens?source=the+cat&computed=true",
    "positions?source=the+cat",
    "masks?source=the+cat&batch=the+cat+sleeps",
    "attention?source=the+cat&part=map&b=the+dog",
    "attention?source=the+cat&part=steps",
    "layers?source=the+cat",
    "layers?source=the+cat&part=filmstrip",
    "layers?source=the+cat&part=residual-stream",
    "patching?source=the+cat+sleeps+.&b=the+dog+sleeps+.",
    "decoding?source=the+cat&method=sampling",
    "training?source=the+cat",
)
# The links that are opened with the parts below the first screen, too. Together they have every kind of chart.
WHOLE = tuple(link for link in LINKS if link.startswith(("tokens", "masks", "attention", "layers")))
# The findings of axe-core that are serious or critical, each with the first elements: [rule, elements].
FINDINGS = """async (rules) => {
    // Contrast is checked in both themes below, also where axe-core cannot tell.
    const options = rules ? {runOnly: rules} : {rules: {"color-contrast": {enabled: false}}};
    const {violations} = await axe.run(document, {resultTypes: ["violations"], ...options});
    return violations.filter(({id, impact}) => ["serious", "critical"].includes(impact) || id === "heading-order")
        .map(({id, nodes}) => [id, nodes.slice(0, 3).map(({html}) => html)]);
}"""
# Red, green and blue of the page's background, from 0 to 255.
GROUND = "getComputedStyle(document.querySelector('.stApp')).backgroundColor.match(/[0-9]+/g).map(Number)"
# Width in px by which the page is wider than the screen, without boxes that scroll.
SIDEWAYS = "document.querySelector('.stMain').scrollWidth - document.querySelector('.stMain').clientWidth"


# Colour → texts of figures in it. Texts inside cells and bars are left out, because their background depends on the data.
WRITTEN = """() => {
    const found = {};
    for (const text of document.querySelectorAll(".js-plotly-plot text")) {
        if (text.closest(".heatmap-label, .bars") || !text.textContent.trim()) continue;
        (found[getComputedStyle(text).fill] ??= []).push(text.textContent);
    }
    return found;
}"""


# Texts of the page as [contrast with the background, text], lowest contrast first, without figures, formulas and disabled
# widgets. Translucent colours are blended as in a browser. A pixel is drawn in each colour to get its RGB from any CSS
# notation.
PALEST = """() => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const read = (colour) => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
    };
    const over = (front, share, back) => back.map((part, at) => front[at] * share + part * (1 - share));
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const luminance = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, share, at) => sum + share * linear(colour[at]), 0);
    const found = [];
    const look = (root) => {
        for (const element of root.querySelectorAll("*")) {
            if (element.shadowRoot) look(element.shadowRoot);
            const said = [...element.childNodes].map((node) => (node.nodeType === Node.TEXT_NODE ? node.data.trim() : ""));
            if (!said.join("") || !element.checkVisibility({visibilityProperty: true})) continue;
            if (element.closest("svg, .katex, [disabled], style")) continue;
            // The value of a slider stands above the thumb, not on it.
            if (element.closest('[data-testid="stSliderThumbValue"]')) continue;
            const above = [];
            for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) above.unshift(getComputedStyle(at));
            let [ground, opacity] = [[1, 1, 1], 1];
            if (above.some((style) => style.opacity === "0")) continue;
            for (const style of above) {
                opacity *= style.opacity;
                const [red, green, blue, share] = read(style.backgroundColor);
                ground = over([red, green, blue], share, ground);
            }
            const [red, green, blue, share] = read(above.at(-1).color);
            const pair = [over([red, green, blue], share * opacity, ground), ground].map(luminance);
            found.push([(Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05), said.join(" ").trim()]);
        }
    };
    look(document);
    return found.sort(([one], [other]) => one - other);
}"""


# Labels of the pictures whose text for screen readers has no number: charts, drawings, canvases, and SVGs with the role of an
# image. A data frame is left out, because its canvas has a table for screen readers.
UNTOLD = """() => {
    const found = [];
    const up = (element) => element.parentElement ?? element.getRootNode().host;
    const look = (root) => {
        for (const element of root.querySelectorAll("*")) {
            if (element.shadowRoot) look(element.shadowRoot);
            if (!element.matches(".js-plotly-plot, canvas, svg[role='img'], img.drawing")) continue;
            if (element.closest("[aria-hidden='true'], [data-testid='stDataFrame']") || !element.checkVisibility()) continue;
            let named = element;
            while (named && !named.matches("[aria-label], [alt]")) named = up(named);
            const says = ["aria-label", "alt", "aria-description"].map((name) => named?.getAttribute(name) ?? "").join(" ");
            if (!/[0-9]/.test(says.replace(/[0-9]+ (queries|keys|heads|layers)|(layer|head) [0-9]+/g, ""))) found.push(says);
        }
    };
    look(document);
    return found;
}"""


def luminance(colour: Sequence[float]) -> float:
    parts = [part / 255 for part in colour]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: Sequence[float]) -> float:
    """The contrast ratio of WCAG 2.2, from 1 to 21, between a CSS colour and a colour as red, green and blue."""
    dark, light = sorted((luminance([float(part) for part in re.findall(r"[\d.]+", one)[:3]]), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("link", LINKS)
def test_a_page_is_accessible(visitor: Visitor, link: str) -> None:
    page = visitor.page
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    visitor.open(link, whole=link in WHOLE)
    add_axe(page)
    check_contrast(page)
    assert findings(page) == []
    assert page.evaluate(UNTOLD) == []
    page.emulate_media(color_scheme="dark")
    check_contrast(page)
    # With letters of twice the size, formulas and code are wider than their boxes, as on a phone.
    page.evaluate("document.documentElement.style.fontSize = '200%'; dispatchEvent(new Event('resize'))")
    page.wait_for_function(f"{SIDEWAYS} <= 0")
    visitor.settle()
    assert findings(page, "scrollable-region-focusable") == []


@pytest.mark.slow
def test_the_focus_is_visible_on_switches_charts_and_the_page_and_not_under_the_bar(visitor: Visitor) -> None:
    visitor.page.emulate_media(color_scheme="dark")
    page = visitor.open("attention?source=the+cat&part=map", whole=True)
    page.wait_for_function(f"({GROUND})[0] < 128")
    page.keyboard.press("Tab")  # after a key, the browser shows the focus
    # The focused element, the element with the frame, and the frame's offset. The page fills the screen, so its frame is
    # inside.
    for target, framed, offset in (
        (".stMain", ".stMain", "-2px"),
        (".stCheckbox input", ".stCheckbox label", "2px"),
        (".modebar-btn", ".modebar-btn", "2px"),
    ):
        page.locator(target).first.focus()
        frame = page.locator(framed).first
        for name, value in (("outline-width", "2px"), ("outline-style", "solid"), ("outline-offset", offset)):
            expect(frame).to_have_css(name, value)
        assert contrast(frame.evaluate("element => getComputedStyle(element).outlineColor"), page.evaluate(GROUND)) > 3
    # A focused element above the screen is scrolled to below the bar at the top.
    page.evaluate("document.querySelector('.stMain').scrollTo(0, 9999)")
    box = page.get_by_role("radio").first
    box.focus()
    assert box.evaluate("element => element.getBoundingClientRect().top") > 60


@pytest.mark.slow
def test_the_buttons_over_a_table_are_seen_with_the_keyboard(visitor: Visitor) -> None:
    page = visitor.open("tokens?source=the+cat&part=alike", whole=True)
    bar = page.get_by_test_id("stElementToolbar")
    expect(bar).to_have_css("opacity", "0")
    bar.get_by_role("button").first.focus()
    expect(bar).to_have_css("opacity", "1")


# Texts outside of the lesson's bar that can be read, or reached with the keyboard.
UNCOVERED = """() => [...document.querySelectorAll('.stMain .stVerticalBlock *:not(style)')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
    && element.checkVisibility({visibilityProperty: true}) && !element.closest('.st-key-lesson_bar')
).map((element) => element.textContent)"""


@pytest.mark.slow
def test_nothing_of_a_page_that_a_lesson_covers_can_be_reached(visitor: Visitor) -> None:
    page = visitor.open("decoding?lesson=writing-and-learning&lesson_stop=5")
    assert page.evaluate(UNCOVERED) == []


@pytest.mark.slow
def test_what_scrolls_can_be_reached_while_the_page_changes_and_with_another_size_of_letters(visitor: Visitor) -> None:
    page = visitor.open("attention?source=the+cat&part=steps&step=weights", whole=True)
    formula = page.locator(".katex-display").first
    expect(formula).not_to_have_attribute("tabindex", "0")
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    expect(formula).to_have_attribute("tabindex", "0")
    # What it holds becomes narrower and wider, and the box stays as it is.
    narrow = (
        "width => { document.querySelector('.katex-display .base').style.cssText = `width: ${width}; display: inline-block` }"
    )
    page.evaluate(narrow, "10px")
    expect(formula).not_to_have_attribute("tabindex", "0")
    page.evaluate(narrow, "900px")
    expect(formula).to_have_attribute("tabindex", "0")
    # A formula that comes while something plays, and hides what is too high: nothing of it can be scrolled to.
    page.evaluate("""() => {
        setInterval(() => document.querySelector('h1').append(document.createElement('i')), 50);
        const [wide, high] = [0, 1].map(() => document.querySelector('.katex-display').cloneNode());
        wide.append("x".repeat(500));
        high.append(Object.assign(document.createElement('div'), {style: 'height: 50px'}));
        high.style.height = '9px';
        for (const box of [wide, high]) box.removeAttribute('tabindex');
        document.querySelector('.stMain .stMarkdown').append(wide, high);
    }""")
    expect(page.locator(".katex-display", has_text="xxxxx")).to_have_attribute("tabindex", "0")
    assert page.locator(".katex-display:has(> div)").get_attribute("tabindex") is None


def test_every_page_is_opened() -> None:
    assert {link.partition("?")[0] or "home" for link in LINKS} == {name_of(file) for file in page_files()}


def add_axe(page: Page) -> None:
    """Load axe-core into a page. `npm ci --prefix .ci` installs it."""
    if not AXE.exists() and os.environ.get("HEADLIGHT_BROWSER") != "required":
        pytest.skip("axe-core is not installed: npm ci --prefix .ci")
    page.evaluate(AXE.read_text(encoding="utf-8"))


def findings(page: Page, *rules: str) -> list[Any]:
    """The serious findings of axe-core for the given rules; without rules, for all rules except contrast."""
    return page.evaluate(FINDINGS, list(rules) or None)


def check_contrast(page: Page) -> None:
    """Check that text has contrast of level AA, and text on figures of level AAA, after the whole page has the theme."""
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.wait_for_function(f"({GROUND})[0] {'<' if dark else '>'} 128")
    # A colour that changes with the theme does so within a transition. An animation by scrolling has no end. One that has ended
    # is still listed if it keeps its last frame.
    page.wait_for_function(
        "document.getAnimations().every(({timeline, effect, playState}) =>"
        " timeline !== document.timeline || effect?.getTiming().iterations === Infinity || playState === 'finished')"
    )
    wait_for(lambda: too_pale(page) == [], lambda: too_pale(page))


def too_pale(page: Page) -> list[Any]:
    """Texts with too little contrast."""
    ratios, ground, written = page.evaluate(PALEST), page.evaluate(GROUND), page.evaluate(WRITTEN)
    assert len(ratios) > 30
    return [words for ratio, words in ratios if ratio < 4.5] + [
        [colour, *words] for colour, words in written.items() if contrast(colour, ground) < 7
    ]
