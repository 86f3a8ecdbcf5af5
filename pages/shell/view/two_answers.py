"""Two answers side by side. From the first different token on, they are bold."""

from collections.abc import Sequence

import streamlit as st

from pages.ui.cards import card
from pages.ui.escaping import quoted_tokens
from pages.ui.text import text
from transformer.analysis.forcing import parting


def show_two_answers(
    key: str, titles: Sequence[str], answers: Sequence[Sequence[str]], notes: Sequence[str] = ("", "")
) -> int | None:
    """Draw the tokens of both answers, each under its title.

    Args:
        key: a name that no other two answers of the page have.
        notes: a line below each answer; an empty line is not drawn.

    Returns:
        The position of the first different token, counted from 0; None if the answers are equal.
    """
    at = parting(*answers)
    for number, (place, title, tokens, note) in enumerate(zip(st.columns(2), titles, answers, notes, strict=True)):
        with card(f"{key}-{number}", place):
            st.caption(title)
            st.markdown(quoted_tokens(tokens, at) or "–")
            if note:
                st.caption(note)
    return at


def say_parting(at: int | None) -> None:
    """Write at which step two answers begin to differ. `at` is counted from 0; None if the answers are equal."""
    words = text("common")
    st.caption(words["same_answer"] if at is None else words["answers_part"].format(step=at + 1))
