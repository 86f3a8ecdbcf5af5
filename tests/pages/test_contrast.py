"""What is written on a figure stands out from the page."""

import re

import pytest
from playwright.sync_api import Browser

from tests.pages.conftest import Visitor

# Words of figures but those within cells and bars, which stand on data. Their colours, each with some of the words.
WRITTEN = """() => {
    const found = {};
    for (const text of document.querySelectorAll(".js-plotly-plot text")) {
        if (text.closest(".heatmap-label, .bars") || !text.textContent.trim()) continue;
        (found[getComputedStyle(text).fill] ??= []).push(text.textContent);
    }
    return found;
}"""


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """After WCAG 2.2, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_on_figures_can_be_read_in_both_themes(browser: Browser, url: str, scheme: str) -> None:
    visitor = Visitor(browser, url, color_scheme=scheme)
    for link in ("attention?look=map&source=the+cat", "tokens?source=the+cat", "layers?part=residual+stream&source=the+cat"):
        page = visitor.open(link)
        ground = page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
        written = page.evaluate(WRITTEN)
        assert sum(map(len, written.values())) > 10
        for colour, words in written.items():
            assert contrast(colour, ground) >= 7, f"{colour} on {ground}: {words}"  # level AAA
    visitor.close()
    assert visitor.complaints == []
