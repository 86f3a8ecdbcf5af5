"""Marks the terms of the glossary in the texts of the pages, when the text files are read.

A mark is a Markdown link such as `[**query**](#word-query)`. It can be focused and pressed without any script; `terms.js` shows
the meaning instead of following the link. A typed text is put into a text later, so it is never marked.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import Any
from urllib.parse import quote

# The start of a mark's address; the term follows.
ADDRESS = "#word-"
CONSONANT_AND_Y = re.compile(r"(?<=[^aeiou])y$")
HISSES = ("s", "x", "z", "ch", "sh")
BOLD = re.compile(r"\*\*(?:(?P<article>the|a|an) )?(?P<name>[^*\n]+)\*\*", re.IGNORECASE)
# Parts of Markdown in which no plain word is marked: code, formulas, links, bold and italic words, and places for values.
MARKUP = re.compile(r"`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\)|\*+[^*]*\*+|\{[^}]*\}")
# Names of texts that say what a page or a part of it is, or why a step is done. In each of these, the first mention of each
# term is marked even if it is not bold.
LEADING = re.compile("sentence|intro|why(_.*)?")
# Names of tables of such texts.
SECTIONS = ("sentence", "intro")
# Names of texts that explain what is shown. In these, a term is marked if no earlier text of the page has marked it. All other
# texts can be shown as plain text, such as the help of a widget.
EXPLAINING = re.compile(".*_(text|caption|intro)")


@cache
def names_of(*terms: str) -> dict[str, str]:
    """Name in small letters → the term that it names. A name is the term or its plural: `query` and `queries` name `query`."""
    return {_plural(term): term for term in terms} | {term: term for term in terms}


def linked(texts: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """The texts of a page with the glossary's terms as Markdown links: each bold term, and first mentions in texts whose names
    match `LEADING` or `EXPLAINING`. `names` is a result of `names_of`."""
    met: set[str] = set()
    return {name: _linked(value, name, names, met) for name, value in texts.items()}


def _linked(value: Any, named: str, names: dict[str, str], met: set[str]) -> Any:
    """The same as `linked`, for the texts under a name. The terms that are marked are added to `met`."""
    if isinstance(value, dict):
        return {name: _linked(part, named if named in SECTIONS else name, names, met) for name, part in value.items()}
    if isinstance(value, list):
        return [_linked(part, named, names, met) for part in value]
    if not isinstance(value, str):
        return value
    bold = {term for match in BOLD.finditer(value) if (term := names.get(match["name"].lower()))}
    marked, new = BOLD.sub(lambda match: _mark(match[0], names.get(match["name"].lower())), value), set[str]()
    leads, explains = LEADING.fullmatch(named), EXPLAINING.fullmatch(named)
    # Only a whole sentence, because a label can have the same name as a leading text.
    if value.endswith(".") and (leads or explains):
        marked, new = _first_mentions(marked, names, bold if leads else bold | met)
    met |= bold | new
    return marked


def _first_mentions(text: str, names: dict[str, str], met: Collection[str]) -> tuple[str, set[str]]:
    """The text with the first mention of each term marked, except for the terms in `met`. The second value is the set of terms
    that were marked."""
    new: set[str] = set()
    markup = [match.span() for match in MARKUP.finditer(text)]

    def mark(mention: re.Match[str]) -> str:
        term = names[mention[0].lower()]
        if term in met or term in new or any(start <= mention.start() < end for start, end in markup):
            return mention[0]
        new.add(term)
        return _mark(mention[0], term)

    return pattern_of(*names).sub(mark, text), new


def _mark(words: str, term: str | None) -> str:
    return f"[{words}]({address_of(term)})" if term else words


def address_of(term: str) -> str:
    """The address of the Markdown link that marks a term: `#word-query`."""
    return ADDRESS + quote(term, safe="")


def _plural(term: str) -> str:
    if term.endswith(HISSES):
        return f"{term}es"
    return CONSONANT_AND_Y.sub("ie", term) + "s"


@cache
def pattern_of(*names: str) -> re.Pattern[str]:
    """A pattern that matches these names as whole words, but not a place for a value (`$heads`); of two names that begin at the
    same word, it matches the longer one. Special tokens such as `<sos>` are left out."""
    longest_first = sorted((name for name in names if not name.startswith("<")), key=len, reverse=True)
    return re.compile(r"(?<![\w√$])(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)", re.IGNORECASE)
