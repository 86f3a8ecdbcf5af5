"""Which words name a term of the glossary: the rule of the plural is here alone, also for the browser."""

from pages.shell.frame.glossary import meaning
from pages.ui.terms import named_in, names, terms


def test_a_term_is_named_in_the_singular_and_the_plural() -> None:
    assert {"query": "query", "queries": "query", "losses": "loss", "keys": "key", "<sos>": "<sos>"}.items() <= names().items()
    assert {*names().values()} == {*terms()}
    assert meaning("Queries") == meaning("query") == terms()["query"]
    assert meaning("querys") is None
    assert [*names()] == [name.lower() for name in names()]


def test_a_text_names_a_term_as_a_word_of_its_own() -> None:
    assert all(named_in(text) for text in ("a Query", "two queries.", "the √d_head", "positional encoding"))
    assert not any(named_in(text) for text in ("inattention", "my_query", "the cat", "<sos>"))
