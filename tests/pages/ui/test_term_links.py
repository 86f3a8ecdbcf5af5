"""Terms are marked in the app's own texts when the files are read: bold terms, and first mentions in what leads or explains."""

import tomllib
from collections.abc import Iterator
from string import Template
from typing import Any

import pytest

from pages.shell.frame.glossary import meaning, terms
from pages.ui.term_links import ADDRESS, linked, names_of, pattern_of
from pages.ui.text import ENGLISH, FOLDER, text

NAMES = names_of("query", "token", "attention", "self-attention", "attention weight", "loss", "<sos>")


def marked(name: str, value: object) -> object:
    return linked({name: value}, NAMES)[name]


def test_a_bold_term_is_marked_in_any_text() -> None:
    assert marked("caption", "A **query** asks.") == "A [**query**](#word-query) asks."
    assert marked("caption", "**Attention weights**") == "[**Attention weights**](#word-attention%20weight)"
    assert marked("caption", "how wrong (**the loss**)") == "how wrong ([**the loss**](#word-loss))"
    assert (
        marked("caption", "The **<sos>** token, **id** and {token}.")
        == "The [**<sos>**](#word-%3Csos%3E) token, **id** and {token}."
    )
    assert marked("steps", {"one": ["**query**"]}) == {"one": ["[**query**](#word-query)"]}


def test_the_first_mention_of_a_term_is_marked_in_a_leading_sentence() -> None:
    assert marked("sentence", "Each token has a **query**; a token, a query.") == (
        "Each [token](#word-token) has a [**query**](#word-query); a token, a query."
    )
    assert marked("sentence", "Self-attention reads `token`, {token} and [a token](#x).") == (
        "[Self-attention](#word-self-attention) reads `token`, {token} and [a token](#x)."
    )
    assert marked("sentence", "your token") == "your token"  # a label
    assert marked("caption", "Each token.") == "Each token."
    assert marked("why_other", "$heads of a query.") == "$heads of a [query](#word-query)."  # a place for a value
    assert marked("sentence", {"one": "A query.", "two": "A query."}) == dict.fromkeys(
        ("one", "two"), "A [query](#word-query)."
    )


def test_an_explaining_text_marks_what_no_text_before_it_has_marked() -> None:
    texts = {"title": "A query", "first_text": "A query, a query.", "later": {"row_caption": "A query has a token."}}
    assert linked(texts, NAMES) == {
        "title": "A query",
        "first_text": "A [query](#word-query), a query.",
        "later": {"row_caption": "A query has a [token](#word-token)."},
    }
    assert linked({"help": "A query.", "alt": "A query."}, NAMES) == {"help": "A query.", "alt": "A query."}


def test_a_text_for_screen_readers_or_a_widgets_help_has_no_marks() -> None:
    for page in sorted(file.stem for file in (FOLDER / ENGLISH).glob("*.toml") if file.stem != "glossary"):
        for name, value in _texts(text(page)):
            if name.endswith(("alt", "help", "label")):
                assert ADDRESS not in value, (page, name)


@pytest.mark.parametrize("page", ["walk", "steps"])
def test_a_mark_keeps_the_places_for_values(page: str) -> None:
    with (FOLDER / ENGLISH / f"{page}.toml").open("rb") as file:
        written = [Template(words).get_identifiers() for _, words in _texts(tomllib.load(file))]
    assert [Template(words).get_identifiers() for _, words in _texts(text(page))] == written
    assert sum(map(bool, written)) > 5


def test_a_term_is_named_in_the_singular_and_the_plural() -> None:
    names = names_of(*terms())
    assert {"query": "query", "queries": "query", "losses": "loss", "keys": "key", "<sos>": "<sos>"}.items() <= names.items()
    assert {*names.values()} == {*terms()}
    assert meaning("Queries") == meaning("query") == terms()["query"]
    assert meaning("querys") is None


def test_a_mention_is_a_word_of_its_own() -> None:
    pattern = pattern_of(*names_of(*terms()))
    assert all(pattern.search(words) for words in ("a Query", "two queries.", "the √d_head", "positional encoding"))
    assert not any(pattern.search(words) for words in ("inattention", "my_query", "the cat", "<sos>", "$heads"))
    assert pattern.findall("Attention weights and attention") == ["Attention weights", "attention"]


def _texts(texts: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Each text with its name."""
    if isinstance(texts, dict):
        for inner, part in texts.items():
            yield from _texts(part, inner)
    elif isinstance(texts, list):
        for part in texts:
            yield from _texts(part, name)
    elif isinstance(texts, str):
        yield name, texts


def test_texts_are_read_with_marks_but_the_glossary_without() -> None:
    assert "[**query**](#word-query)" in text("attention")["sentence"]
    assert "#word-" not in str(text("glossary"))
