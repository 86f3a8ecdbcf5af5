"""Two answers side by side. The tokens that differ are bold."""

from collections.abc import Sequence
from itertools import zip_longest

import streamlit as st

from pages.ui.cards import card
from pages.ui.escaping import quoted_tokens
from pages.ui.text import text
from transformer.analysis.forcing import parting


def show_two_answers(
    key: str, titles: Sequence[str], answers: Sequence[Sequence[str]], notes: Sequence[str] = ("", "")
) -> int | None:
    """Draw the tokens of both answers, each under its title and above its note. Returns the position of the first different
    token, counted from 0; None if the answers are equal."""
    differ = differing(*answers)
    for number, (place, title, tokens, note) in enumerate(zip(st.columns(2), titles, answers, notes, strict=True)):
        with card(f"{key}-{number}", place):
            st.caption(title)
            st.markdown(quoted_tokens(tokens, differ) or "–")
            if note:
                st.caption(note)
    return parting(*answers)


def differing(first: Sequence[str], second: Sequence[str]) -> tuple[int, ...]:
    """The positions, counted from 0, at which two answers differ, or only one of them has a token."""
    return tuple(at for at, (one, other) in enumerate(zip_longest(first, second)) if one != other)


def say_parting(at: int | None) -> None:
    """Write at which step two answers begin to differ. `at` is counted from 0; None if the answers are equal."""
    words = text("common")
    st.caption(words["same_answer"] if at is None else words["answers_part"].format(step=at + 1))
