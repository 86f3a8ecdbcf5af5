"""The terms of the glossary and their names. `terms.js` gets both from here."""

from pages.ui.term_links import names_of, pattern_of
from pages.ui.text import text


def terms() -> dict[str, str]:
    """Term in small letters → its meaning, in one or two sentences."""
    return {term.lower(): says for term, says in text("glossary")["terms"].items()}


def names() -> dict[str, str]:
    """Name in small letters → the term that it names (`names_of`)."""
    return names_of(*terms())


def named_in(words: str) -> bool:
    """Whether a text contains the name of a term. Special tokens such as `<sos>` do not count, because they are terms even in a
    text that a person typed."""
    return pattern_of(*names()).search(words) is not None
