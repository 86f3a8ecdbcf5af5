"""The terms of the glossary, and the words that name them. `terms.js` gets both from here."""

import re
from functools import cache

from pages.ui.text import text

CONSONANT_AND_Y = re.compile(r"(?<=[^aeiou])y$")
HISSES = ("s", "x", "z", "ch", "sh")


def terms() -> dict[str, str]:
    """What each term means, in one or two sentences, by its name in small letters."""
    return {term.lower(): says for term, says in text("glossary")["terms"].items()}


def names() -> dict[str, str]:
    """All words that name a term, in small letters, each with the term: `queries` and `query` name `query`."""
    return _names(*terms())


def named_in(words: str) -> bool:
    """Whether a text names a term. A special token such as `<sos>` is one wherever it stands, so it does not count."""
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
