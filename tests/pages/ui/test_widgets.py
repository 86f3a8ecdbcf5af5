"""The shared pieces of the pages."""

from pathlib import Path

import pytest

from pages.shell.navigation import page_files
from pages.ui.escaping import literal
from pages.ui.text import text

WIDGETS = {
    *("common", "choices", "models", "sidebar", "head_patterns", "lines", "head_grid", "steps", "whatif"),
    *("tensors", "walk", "filmstrip", "residual", "arithmetic", "ledger", "calls", "parameters"),
}
PAGES = Path(__file__).parents[3] / "pages"
TEXTS = Path(__file__).parents[3] / "assets" / "text" / "en"


def test_markdown_of_a_person_is_shown_and_not_obeyed() -> None:
    assert literal("**a** $b$ [c](d) <e>") == r"\*\*a\*\* \$b\$ \[c\]\(d\) \<e\>"


def test_no_page_is_left_out_for_want_of_texts() -> None:
    scripts = set(PAGES.glob("*/page.py"))
    assert set(page_files()) == scripts


@pytest.mark.parametrize("page", [file.parent.name for file in page_files()])
def test_every_page_has_its_texts(page: str) -> None:
    words = text(page)
    assert words["title"]
    assert words["sentence"].endswith(".")
    assert isinstance(words["order_in_group"], int)


def test_no_text_belongs_to_no_page() -> None:
    assert {file.stem for file in TEXTS.glob("*.toml")} == {file.parent.name for file in page_files()} | WIDGETS
