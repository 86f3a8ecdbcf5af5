"""The forced tokens of the session and of the URL: phrases such as `3 elle`, for the token “elle” at step 3 (from 1)."""

import re
from typing import NamedTuple

import streamlit as st

from pages.decoding.answer_steps import Run, run_of
from pages.shell.view.view import View
from pages.ui.escaping import literal
from pages.ui.limits import SEARCH_CHARACTERS
from pages.ui.link_values import publish, seed
from pages.ui.text import text

FORCE = "force"
MOST_FORCED = 20
# Separates two phrases in a link. A token can itself be a comma, so a comma separates phrases only before a number.
BETWEEN = re.compile(r", (?=\d+ )")


class Forced(NamedTuple):
    """The tokens that the visitor forces: the answer must have each of them at a given step.

    Attributes:
        tokens: the tokens that can be forced, as (step, id) pairs in the order of their steps. Steps are counted from 0.
        problems: for each other token, a sentence in Markdown that says why it cannot be forced.
    """

    tokens: tuple[tuple[int, int], ...]
    problems: tuple[str, ...]


def forced_tokens(view: View, run: Run) -> Forced:
    """The forced tokens of the session or of the URL. A token cannot be forced at a step that the answer with the other forced
    tokens does not have. `run` is the answer without forced tokens."""

    def read(asked: str | None) -> list[str]:
        return [phrase[:SEARCH_CHARACTERS] for phrase in BETWEEN.split(asked or "") if phrase.strip()][:MOST_FORCED]

    seed(FORCE, read, lambda value: value)
    typed = st.session_state[FORCE]
    publish(FORCE, ", ".join(typed) or None)
    words, vocabulary = text("decoding"), run.pipeline.vocabulary("target")
    tokens, phrases, problems, without_step = {}, {}, [], []
    for phrase in sorted((each[:SEARCH_CHARACTERS] for each in typed), key=_step):
        step, token = _step(phrase) - 1, phrase.strip().partition(" ")[2].strip()
        if step < 0 or not token:
            without_step.append(phrase)
        elif token not in vocabulary.tokens:
            closest = vocabulary.closest_to(token) if vocabulary.framed else ()
            hint = words["closest"].format(tokens=literal(", ".join(closest))) if closest else ""
            problems.append(words["no_token"].format(token=literal(token)) + hint)
        elif step in tokens:
            used = literal(phrases[step])
            problems.append(words["step_again"].format(phrase=literal(phrase), step=step + 1, used=used))
        else:
            tokens[step], phrases[step] = vocabulary.tokens.index(token), phrase
    # The earlier forced tokens decide how long the answer is. So whether the last forced step exists is known only after
    # writing.
    while tokens and (last := max(tokens)) >= len(with_forced(view, run, tuple(tokens.items())).chain):
        del tokens[last]
        without_step.append(phrases.pop(last))
    if without_step:
        count = len(with_forced(view, run, tuple(tokens.items())).chain)
        problems += [words["no_step"].format(phrase=literal(phrase), count=count) for phrase in without_step]
    return Forced(tuple(tokens.items()), tuple(problems))


def with_forced(view: View, run: Run, tokens: tuple[tuple[int, int], ...]) -> Run:
    """The answer with these forced tokens, and otherwise the settings of `run`. `tokens` are (step, id) pairs; steps are
    counted from 0."""
    return run_of(view, run.settings.with_forced(tokens))


def force(step: int, token: str) -> None:
    """Force the answer to have a token at a step, counted from 1. This replaces a token that was forced at this step before.
    Call it in a callback."""
    take_back(step)
    st.session_state[FORCE] = [*st.session_state[FORCE], f"{step} {token}"[:SEARCH_CHARACTERS]][-MOST_FORCED:]


def take_back(step: int) -> None:
    """Remove the forced token of a step, counted from 1. Call this in a callback."""
    st.session_state[FORCE] = [phrase for phrase in st.session_state.get(FORCE, []) if _step(phrase) != step]


def _step(phrase: str) -> int:
    """The step, counted from 1, that a phrase such as `3 elle` starts with; 0 if it does not start with a step."""
    number = phrase.strip().partition(" ")[0]
    return int(number) if re.fullmatch(r"[0-9]{1,4}", number) else 0
