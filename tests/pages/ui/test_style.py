"""HTML and styles of the pages: all values are escaped, and all colours come from one table."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from pages.layers.calls import fields_table
from pages.masks.batch import batch_table
from pages.masks.mask_pictures import tensor_row
from pages.tokens.sentence import chips
from pages.ui.style import app_style
from pages.ui.text import text
from transformer import Pipeline
from transformer.figures.theme import STYLE_COLORS

PAGES = Path(__file__).parents[3] / "pages"
ATTACK = """<img src=x onerror=alert(1)>'" onclick="alert(2)" '&amp;"""
TAG = re.compile(r"</?[a-z!]")
VOCABULARY = Pipeline.load("english-french").source_vocabulary
TYPED = tuple(VOCABULARY.split(ATTACK))


class Reader(HTMLParser):
    """The parsed HTML: names of elements and attributes, and all texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}
        self.texts += [value or "" for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize(
    ("html", "part"),
    [
        (batch_table([[ATTACK]], np.array([[True]]), [ATTACK], ATTACK, "red", picked=0), ATTACK),
        (tensor_row(ATTACK, (1, 1, 1, 2), (1, 2, 2, 2), (ATTACK,) * 4, text("masks")), ATTACK),
        (fields_table([ATTACK] * 5, [(ATTACK,) * 5]), ATTACK),
        (chips(VOCABULARY, (VOCABULARY.sos, *[VOCABULARY.unk] * len(TYPED), VOCABULARY.eos), TYPED), "<"),
    ],
    ids=["batch_table", "broadcast", "fields", "chips"],
)
def test_html_of_pages_escapes_typed_text(html: str, part: str) -> None:
    read = Reader(html)
    assert not {"img", "src", "onerror", "onclick"} & read.names
    assert part in read.texts


def test_pages_make_html_only_with_markup_templates() -> None:
    """Values are put between tags by `Markup(…).format` only, never by an f-string or `html.escape`."""
    wrong = []
    for file in PAGES.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.JoinedStr):
                parts = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
                wrong += [f"{file.name}:{node.lineno}"] * any(TAG.search(part) for part in parts)
        wrong += [file.name] * ("html.escape" in source)
    assert wrong == []


def test_styles_and_scripts_contain_no_literal_colours() -> None:
    """Colours come from theme.py, as CSS variables or with the data. `black` in a mask is an opacity and is allowed."""
    literal = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})\b|\b(?:rgb|hsl|oklch)a?\([\d. ]", re.IGNORECASE)
    comment = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
    files = [*PAGES.rglob("*.js"), *PAGES.rglob("*.css"), *(PAGES.parent / "assets").rglob("*.css")]
    assert len(files) > 20
    found = {file.name: literal.findall(comment.sub("", file.read_text(encoding="utf-8"))) for file in files}
    assert {name: colors for name, colors in found.items() if colors} == {}


def test_css_colour_variables_match_the_table() -> None:
    files = [*PAGES.rglob("*.css"), *PAGES.rglob("*.js"), *(PAGES.parent / "assets").rglob("*.css")]
    used = {name for file in files for name in re.findall(r"--headlight-([\w-]+)", file.read_text(encoding="utf-8"))}
    assert used == set(STYLE_COLORS)
    style = app_style(PAGES.parent / "assets" / "app.css")
    assert all(f"--headlight-{name}: {color};" in style for name, color in STYLE_COLORS.items())
