"""The terms of the glossary and their names. `terms.js` gets both from here."""

import re
from functools import cache

from pages.ui.text import text

CONSONANT_AND_Y = re.compile(r"(?<=[^aeiou])y$")
HISSES = ("s", "x", "z", "ch", "sh")


def terms() -> dict[str, str]:
    """Term in small letters → its meaning, in one or two sentences."""
    return {term.lower(): says for term, says in text("glossary")["terms"].items()}


def names() -> dict[str, str]:
    """Name in small letters → the term that it names. A name is the term or its plural: `query` and `queries` name `query`."""
    return _names(*terms())


def named_in(words: str) -> bool:
    """Whether a text contains the name of a term. Special tokens such as `<sos>` do not count, because they are terms even in a
    text that a person typed."""
    return _pattern(*names()).search(words) is not None


@cache
def _names(*listed: str) -> dict[str, str]:
    return {_plural(term): term for term in listed} | {term: term for term in listed}


def _plural(term: str) -> str:
    if term.endswith(HISSES):
        return f"{term}es"
    return CONSONANT_AND_Y.sub("ie", term) + "s"


@cache
def _pattern(*listed: str) -> re.Pattern[str]:
    longest_first = sorted((name for name in listed if not name.startswith("<")), key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)", re.IGNORECASE)
