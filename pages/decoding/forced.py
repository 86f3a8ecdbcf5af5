"""The forced tokens of the session and of the link: phrases such as `3 elle`, for the token “elle” at step 3."""

import re
from typing import NamedTuple

import streamlit as st

from pages.decoding.steps import Run
from pages.decoding.written import run_of
from pages.shell.view import View
from pages.ui.escaping import literal
from pages.ui.limits import SEARCH_CHARACTERS
from pages.ui.link_values import publish, seed
from pages.ui.text import text

FORCE = "force"
MOST_FORCED = 20
# Between two phrases of a link. A token can be a comma itself, so a comma separates only before a number.
BETWEEN = re.compile(r", (?=\d+ )")


class Forced(NamedTuple):
    """The forced tokens, as they were typed or clicked.

    Attributes:
        tokens: (step, id) pairs in the order of their steps, which are counted from 0; those that can be forced.
        phrases: step → its phrase.
        problems: what is wrong with the others, in Markdown.
    """

    tokens: tuple[tuple[int, int], ...]
    phrases: dict[int, str]
    problems: tuple[str, ...]


def forced_tokens(view: View, run: Run) -> Forced:
    """The forced tokens. A step must be one of the answer that is written with the tokens before it.

    Args:
        view: of the sidebar.
        run: without forced tokens.
    """

    def read(asked: str | None) -> list[str]:
        return [phrase[:SEARCH_CHARACTERS] for phrase in BETWEEN.split(asked or "") if phrase.strip()][:MOST_FORCED]

    seed(FORCE, read, lambda value: value)
    typed = st.session_state[FORCE]
    publish(FORCE, ", ".join(typed) or None)
    tokens, phrases, problems, current = {}, {}, [], run
    for phrase in sorted(typed, key=_step):
        read_phrase = _read(current, phrase)
        if isinstance(read_phrase, str):
            problems.append(read_phrase)
            continue
        step, token = read_phrase
        if step in tokens:
            problems.append(
                text("decoding")["step_again"].format(phrase=literal(phrase), step=step + 1, used=literal(phrases[step]))
            )
            continue
        tokens[step], phrases[step] = token, phrase
        current = with_forced(view, run, tuple(tokens.items()))
    return Forced(tuple(tokens.items()), phrases, tuple(problems))


def with_forced(view: View, run: Run, tokens: tuple[tuple[int, int], ...]) -> Run:
    """The run with forced tokens: (step, id) pairs, steps counted from 0."""
    return run_of(view, run.settings.with_forced(tokens))


def force(step: int, token: str) -> None:
    """Force a token at a step, counted from 1, in place of one that was forced there. Called before the app runs again."""
    others = [phrase for phrase in st.session_state.get(FORCE, []) if _step(phrase) != step]
    st.session_state[FORCE] = [*others, f"{step} {token}"[:SEARCH_CHARACTERS]][-MOST_FORCED:]


def take_back(phrase: str) -> None:
    """Remove a forced token. Called before the app runs again."""
    st.session_state[FORCE] = [other for other in st.session_state[FORCE] if other != phrase]


def _step(phrase: str) -> int:
    """The step that a phrase starts with; 0 if it starts with none."""
    number = phrase.strip().partition(" ")[0]
    return int(number) if re.fullmatch(r"[0-9]{1,4}", number) else 0


def _read(run: Run, phrase: str) -> tuple[int, int] | str:
    """The step of a phrase, counted from 0, and the id of its token; or in Markdown what is wrong with it: the answer has no
    such step, or the model no such token."""
    words, vocabulary = text("decoding"), run.pipeline.vocabulary("target")
    step, token = _step(phrase), phrase.strip().partition(" ")[2].strip()
    if not token or not 1 <= step <= len(run.chain):
        return words["no_step"].format(phrase=literal(phrase), count=len(run.chain))
    if token in vocabulary.tokens:
        return step - 1, vocabulary.tokens.index(token)
    closest = vocabulary.closest_to(token) if vocabulary.framed else ()
    hint = words["closest"].format(tokens=literal(", ".join(closest))) if closest else ""
    return words["no_token"].format(token=literal(token)) + hint
