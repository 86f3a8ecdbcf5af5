"""The glossary: every term of the app in plain words, behind a button below each page."""

import streamlit as st

from pages.ui.text import text


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
    """What a term means, in one or two sentences, also of its plural; None for words that are not in the glossary."""
    terms: dict[str, str] = text("glossary")["terms"]
    return terms.get(words.lower()) or terms.get(words.lower().removesuffix("s"))
