"""Every page has its texts, and every text file has its page or widget."""

from pathlib import Path

import pytest

from pages.shell.frame.navigation import page_files
from pages.ui.escaping import literal
from pages.ui.text import text

WIDGETS = {
    *("common", "choices", "models", "sidebar", "live", "head_patterns", "lines", "head_grid", "steps", "whatif"),
    *("tensors", "walk", "filmstrip", "residual", "arithmetic", "ledger", "calls", "parameters", "silence"),
    *("lesson", "lesson_tests", "prediction", "present", "glossary", "hub", "gradients", "own_run", "module", "second_run"),
    "examples",
}
PAGES = Path(__file__).parents[3] / "pages"
TEXTS = Path(__file__).parents[3] / "assets" / "text" / "en"


def test_typed_markdown_is_escaped() -> None:
    assert literal("**a** $b$ [c](d) <e>") == r"\*\*a\*\* \$b\$ \[c\]\(d\) \<e\>"


def test_every_page_script_has_texts() -> None:
    scripts = set(PAGES.glob("*/page.py"))
    assert set(page_files()) == scripts


@pytest.mark.parametrize("page", [file.parent.name for file in page_files()])
def test_page_texts_have_title_sentence_and_place(page: str) -> None:
    words = text(page)
    assert words["title"]
    assert words["sentence"].endswith(".")
    assert isinstance(words["order_in_group"], int)


def test_every_text_file_belongs_to_a_page_or_widget() -> None:
    assert {file.stem for file in TEXTS.glob("*.toml")} == {file.parent.name for file in page_files()} | WIDGETS
