"""Pages as one file: their texts are never markup, and they load nothing from a network."""

import json
import re
from pathlib import Path

from markupsafe import Markup

from pages.ui.offline import function_of, offline_page, place

PAGES = Path(__file__).parents[3] / "pages"
LINES = PAGES / "attention" / "lines"
HOSTILE = "</script><script>alert(1)</script>"


def test_text_is_never_markup_and_nothing_is_loaded() -> None:
    body = Markup("<p>{}</p>{}").format(HOSTILE, place("lines", LINES))
    page = offline_page(HOSTILE, body, {"tokens": [HOSTILE]}, PAGES / "attention" / "offline_view.js", {"lines": LINES})
    # The page has only its own two scripts.
    assert page.count("</script>") == page.count("<script ") == 2
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data) == {"tokens": [HOSTILE]}
    assert "<title>&lt;/script&gt;" in page
    assert not re.search(r"<(link|img|iframe)|(src|href)=|@import|https?://(?!www\.w3\.org/)", page)


def test_the_colours_of_both_themes_are_in_the_page() -> None:
    page = offline_page("x", Markup(""), {}, PAGES / "attention" / "offline_view.js", {})
    assert page.count("--st-text-color: #") == page.count("--st-background-color: #") == 2
    assert "prefers-color-scheme: dark" in page


def test_a_script_becomes_an_expression_that_includes_its_imports() -> None:
    source = function_of(LINES.with_suffix(".js"))
    assert source.startswith("(() => {")
    assert source.endswith("return lines;\n})()")
    assert not re.search(r"^(import|export) ", source, re.MULTILINE)
