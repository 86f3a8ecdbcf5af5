"""The glossary: the meaning of each term of the app, behind a button below each page, and at the term in a sentence."""

import re
from pathlib import Path

import streamlit as st

from pages.ui.compat import mount
from pages.ui.component import joined
from pages.ui.text import text

_mount = mount("headlight_terms", js=joined(Path(__file__).with_name("terms.js")))


def explain_terms() -> None:
    """Show the meaning of a term in a sentence if a person points at it, taps it or focuses it. Call it once a run."""
    _mount(key="terms", data={term.lower(): says for term, says in text("glossary")["terms"].items()})


def show_glossary() -> None:
    """Draw the button, and the terms while it is open."""
    words = text("glossary")
    # Filled only while open: the content of a closed menu would be sent with every run.
    menu = st.popover(words["title"], icon=":material/menu_book:", type="tertiary", key="glossary", on_change="rerun")
    if menu.open:
        with menu:
            st.markdown(listed())


def listed() -> str:
    """All terms as Markdown, in alphabetical order."""
    terms = text("glossary")["terms"]
    return "\n".join(f"- **{term}**: {terms[term]}" for term in sorted(terms, key=str.casefold))


def meaning(words: str) -> str | None:
    """The meaning of a term or of its plural, in one or two sentences. None for words that are not in the glossary."""
    terms: dict[str, str] = text("glossary")["terms"]
    name = words.lower()
    singulars = (name, name.removesuffix("s"), name.removesuffix("es"), re.sub("ies$", "y", name))
    return next((terms[term] for term in singulars if term in terms), None)
