"""Contrast of text on figures and pages, by WCAG 2.2."""

import re
from typing import Literal

import pytest

from tests.pages.conftest import Visitor

# Together these pages have every kind of text: blocks, cards, tables, captions, code, keys and the list of tensors.
LINKS = ("", "masks?batch=the+cat+sleeps", "attention?part=steps&computed=true", "layers")


# Text of figures by colour, without text inside cells and bars, whose background is data.
WRITTEN = """() => {
    const found = {};
    for (const text of document.querySelectorAll(".js-plotly-plot text")) {
        if (text.closest(".heatmap-label, .bars") || !text.textContent.trim()) continue;
        (found[getComputedStyle(text).fill] ??= []).push(text.textContent);
    }
    return found;
}"""


# Text of the page as [contrast with its background, text], lowest contrast first, without figures, formulas and disabled
# widgets. Translucent colours are blended as in a browser; a pixel drawn in a colour gives its RGB for any CSS notation.
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
            const above = [];
            for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) above.unshift(getComputedStyle(at));
            let [ground, opacity] = [[1, 1, 1], 1];
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


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours by WCAG 2.2, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_on_figures_has_contrast_7_in_both_themes(visitor: Visitor, scheme: Literal["light", "dark"]) -> None:
    visitor.page.emulate_media(color_scheme=scheme)
    for link in ("attention?part=map&source=the+cat", "tokens?source=the+cat", "layers?part=residual-stream&source=the+cat"):
        page = visitor.open(link, whole=True)
        ground = page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
        written = page.evaluate(WRITTEN)
        assert sum(map(len, written.values())) > 10
        for colour, words in written.items():
            assert contrast(colour, ground) >= 7, f"{colour} on {ground}: {words}"  # level AAA


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_of_pages_has_contrast_4_5_in_both_themes(visitor: Visitor, scheme: Literal["light", "dark"]) -> None:
    visitor.page.emulate_media(color_scheme=scheme)
    for link in LINKS:
        ratios = visitor.open(link, whole=True).evaluate(PALEST)
        assert len(ratios) > 30
        assert [words for ratio, words in ratios if ratio < 4.5] == [], link  # level AA
