"""Pages as one file: their texts are never markup, and they load nothing from a network."""

import base64
import json
import re
from pathlib import Path

import pytest
from markupsafe import Markup
from playwright.sync_api import BrowserContext, expect

from pages.attention.lines import LinesState
from pages.attention.offline_view import offline_view
from pages.shell.view.view import View
from pages.ui.offline import modules, offline_page, place

PAGES = Path(__file__).parents[3] / "pages"
LINES = PAGES / "attention" / "lines"
HOSTILE = "</script><script>alert(1)</script>"


def test_text_is_never_markup_and_nothing_is_loaded() -> None:
    body = Markup("<p>{}</p>{}").format(HOSTILE, place("lines", LINES))
    page = offline_page(HOSTILE, body, {"tokens": [HOSTILE]}, PAGES / "attention" / "offline_view.js")
    # The page has only its own scripts: the data, the imported scripts, and the call.
    assert page.count("</script>") == page.count("<script ") == 3
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data) == {"tokens": [HOSTILE]}
    assert "<title>&lt;/script&gt;" in page
    assert not re.search(r"<(link|img|iframe)|(src|href)=|@import|https?://(?!www\.w3\.org/)", page)


def test_the_colours_of_both_themes_are_in_the_page() -> None:
    page = offline_page("x", Markup(""), {}, PAGES / "attention" / "offline_view.js")
    assert page.count("--st-text-color: #") == page.count("--st-background-color: #") == 2
    assert "prefers-color-scheme: dark" in page


def test_an_import_map_has_a_script_and_all_that_it_imports() -> None:
    found = modules(LINES.with_suffix(".js"))
    assert {"attention/lines.js", "attention/lines_weights.js", "ui/component.js", "ui/compat.js"} <= found.keys()
    for address in found.values():
        kind, _, content = address.partition(",")
        assert kind == "data:text/javascript;base64"
        source = base64.b64decode(content).decode()
        assert not re.search(r"""\bfrom ["']\.""", source)
        assert set(re.findall(r'^(?:import .*|\}) from "(.*)";$', source, re.MULTILINE)) <= found.keys()
        assert not re.search(r"https?://(?!www\.w3\.org/)", source)


@pytest.mark.browser
def test_a_saved_page_runs_from_a_file(known: BrowserContext, tmp_path: Path) -> None:
    view = View("english-french", ("the school is old .",), (None,), "english-french")
    file = tmp_path / "saved.html"
    file.write_text(offline_view(view, view.trace(), "cross", 0, 0, LinesState((), (0,), 0.1)), encoding="utf-8")
    page = known.pages[0]
    page.goto(file.as_uri())
    expect(page.locator(".lines").get_by_text("l' → école")).to_be_visible()
