"""Wherever pieces of words are shown, the page says so and explains the sign `▁`."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.frame.glossary import meaning
from pages.ui.text import text
from tests.pages.apps import on_page, shown, shown_errors
from transformer.text.pieces import CONTINUES, SPACE

VIEW = {"model": "everyday", "source": "Where is Zorglub?"}


def explaining(app: AppTest) -> list[str]:
    """The captions that explain `▁`."""
    assert shown_errors(app) == ""
    return [says for caption in app.caption if f"“{SPACE}”" in (says := shown(caption.value)) and "the space" in says]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("attention", {"part": "what-if"}),
        ("attention", {"part": "gradient"}),
        ("attention", {"part": "steps"}),
        ("attention", {"join": "false"}),
        ("decoding", {}),
        ("decoding", {"join": "false"}),
        ("training", {}),
        ("masks", {}),
        ("tokens", {}),
        ("tokens", {"part": "vocabulary"}),
    ],
)
def test_a_page_with_pieces_explains_their_sign(page: str, query: dict[str, str]) -> None:
    says = explaining(on_page(f"pages/{page}/page.py", **VIEW, **query))
    assert says
    assert all(f"“{CONTINUES}”" in each for each in says)  # the sign of other models
    if query.get("part") in ("what-if", "gradient", "steps"):
        assert text("common")["computed_in_pieces"] in says


def test_a_page_without_pieces_does_not_speak_of_them() -> None:
    assert not explaining(on_page("pages/attention/page.py", model="english-french", source="the cat sleeps ."))


def test_the_glossary_explains_the_sign() -> None:
    assert "space" in (meaning(SPACE) or "")


def test_the_list_of_written_tokens_has_no_space_alone() -> None:
    app = on_page("pages/attention/page.py", **VIEW, kind="cross")
    said = text("attention")["rows_wrote"].partition("{links}")[0]
    (links,) = (caption.value for caption in app.caption if caption.value.startswith(said))
    assert f"[{SPACE}]" not in links
    assert "[?](" in links
