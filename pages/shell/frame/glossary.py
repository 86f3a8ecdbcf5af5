"""The glossary: the meaning of each term of the app, behind a button below each page, and at a marked term in a sentence."""

import streamlit as st
from streamlit.components.v2 import component

from pages.shell.browser import BROWSER
from pages.ui.component import Element
from pages.ui.scripts import importing
from pages.ui.term_links import address_of, names_of
from pages.ui.text import text

_mount = component("headlight_terms", js=importing(BROWSER / "terms.js"))


def explain_terms() -> None:
    """Mount the script that shows the meaning of a glossary term beside its mark in a text of the page. Call it once a run."""
    words = text("glossary")
    _mount(key="terms", data={"terms": terms(), "text": {name: words[name] for name in ("walk", "walk_help")}})


def terms() -> dict[str, str]:
    """The terms of the glossary in lower case: term → its meaning, in one or two sentences."""
    return {term.lower(): says for term, says in text("glossary")["terms"].items()}


def show_glossary() -> None:
    """Draw the button that opens the glossary, and the glossary while it is open."""
    words = text("glossary")
    # Filled only while open: the content of a closed menu would be sent with every run.
    menu = st.popover(words["title"], icon=":material/menu_book:", type="tertiary", key="glossary", on_change="rerun")
    if menu.open:
        with menu:
            st.markdown(listed())


def listed() -> str:
    """All terms of the glossary with their meanings, as Markdown, in alphabetical order."""
    listed = text("glossary")["terms"]
    return "\n".join(f"- **{term}**: {listed[term]}" for term in sorted(listed, key=str.casefold))


def meaning(words: str) -> str | None:
    """The meaning of a term or of its plural, in one or two sentences. None for words that are not in the glossary."""
    term = names_of(*terms()).get(words.lower())
    return None if term is None else terms()[term]


def with_marks(part: Element | str) -> Element | str:
    """A copy of an element (tag, attributes, children), with a link around each bold term of the glossary, or its plural."""
    if isinstance(part, str):
        return part
    tag, attributes, *children = part
    element = [tag, attributes, *map(with_marks, children)]
    term = names_of(*terms()).get(children[0].lower()) if tag == "strong" else None
    return ["a", {"href": address_of(term)}, element] if term else element
