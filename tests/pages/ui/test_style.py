"""HTML of the pages: every value is escaped."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from pages.layers.calls import _fields
from pages.masks.batch_table import batch_table
from pages.masks.broadcast import _row
from pages.tokens.sentence import chips
from pages.ui.text import text
from transformer import Pipeline

PAGES = Path(__file__).parents[3] / "pages"
ATTACK = """<img src=x onerror=alert(1)>'" onclick="alert(2)" '&amp;"""
TAG = re.compile(r"</?[a-z!]")
VOCABULARY = Pipeline.load("english-french").source_vocabulary
TYPED = VOCABULARY.split(ATTACK)


class Reader(HTMLParser):
    """What a browser reads: names of elements and attributes, and the text."""

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
        (_row(ATTACK, (1, 1, 1, 2), (1, 2, 2, 2), (ATTACK,) * 4, text("masks")), ATTACK),
        (_fields([ATTACK] * 5, [(ATTACK,) * 5]), ATTACK),
        (chips(VOCABULARY, ("<sos>", *["<unk>"] * len(TYPED), "<eos>"), ATTACK), "<"),
    ],
    ids=["batch_table", "broadcast", "fields", "chips"],
)
def test_nothing_reaches_html_unescaped(html: str, part: str) -> None:
    read = Reader(html)
    assert not {"img", "src", "onerror", "onclick"} & read.names
    assert part in read.texts


def test_pages_make_html_by_escaping_templates_only() -> None:
    """No f-string, `%`, `+` or `str.format` puts values between tags: `Markup(…).format` does."""
    wrong = []
    for file in PAGES.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.JoinedStr):
                parts = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
                wrong += [f"{file.name}:{node.lineno}"] * any(TAG.search(part) for part in parts)
        wrong += [file.name] * ("html.escape" in source)
    assert wrong == []
