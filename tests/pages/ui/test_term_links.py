"""Terms are marked in the app's own texts when the files are read: bold terms, and first mentions in what leads a page."""

from pages.ui.term_links import linked, names_of
from pages.ui.text import text

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


def test_texts_are_read_with_marks_but_the_glossary_without() -> None:
    assert "[**query**](#word-query)" in text("attention")["sentence"]
    assert "#word-" not in str(text("glossary"))
