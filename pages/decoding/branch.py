"""What if it had said …: one token is forced, the rest is written anew, and both answers stand side by side."""

from typing import NamedTuple

import streamlit as st

from pages.decoding.player import FORCE
from pages.decoding.settings import Settings, write
from pages.decoding.steps import Run, quoted_tokens
from pages.shell.view import View
from pages.ui.escaping import literal
from pages.ui.format import fixed
from pages.ui.limits import SEARCH_CHARACTERS
from pages.ui.link_values import publish, seed
from pages.ui.text import text
from transformer import Pipeline
from transformer.analysis.forcing import parting
from transformer.figures.decoding import percent

SHOWN_TOKENS = 5


class Forced(NamedTuple):
    """A forced token, as it was typed or clicked.

    Attributes:
        step: counted from 0.
        token: its id.
        problem: what is wrong with it, in Markdown; empty if nothing is.
    """

    step: int
    token: int
    problem: str = ""


def forced_token(pipeline: Pipeline, run: Run) -> Forced | None:
    """The forced token of the session or of the link, `3 elle` for the token “elle” at step 3; None if there is none."""
    seed(FORCE, lambda asked: (asked or "")[:SEARCH_CHARACTERS], lambda value: value)
    typed = st.session_state[FORCE].strip()
    publish(FORCE, typed or None)
    if not typed:
        return None
    words, vocabulary = text("decoding"), pipeline.target_vocabulary
    number, _, token = typed.partition(" ")
    token = token.strip()
    if not (number.isascii() and number.isdecimal() and len(number) < 5 and 1 <= int(number) <= len(run.chain)):
        return Forced(0, 0, words["no_step"].format(count=len(run.chain)))
    if token not in vocabulary.tokens:
        closest = vocabulary.unknown([token])[0].closest if vocabulary.framed and token else ()
        hint = words["closest"].format(tokens=literal(", ".join(closest))) if closest else ""
        return Forced(0, 0, words["no_token"].format(token=literal(token)) + hint)
    return Forced(int(number) - 1, vocabulary.tokens.index(token))


def branch(view: View, run: Run, forced: Forced) -> Run:
    """The run with the forced token."""
    settings: Settings = run.settings.with_forced(forced.step, forced.token)
    return Run(run.pipeline, write(view, settings), settings)


def show_branch(run: Run, other: Run | None, forced: Forced | None, step: int) -> None:
    """Draw the box for a token, tokens to click, and both answers.

    Args:
        run: without a forced token.
        other: with it; None without one.
        forced: the token; None if there is none.
        step: the step of the player, counted from 0.
    """
    words = text("decoding")
    st.markdown(words["branch_text"])
    made = run.chain[min(step, len(run.chain) - 1)]
    tokens = [token for token in run.top(made) if token != made.token][:SHOWN_TOKENS]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            words["force"],
            key=FORCE,
            placeholder=words["force_placeholder"],
            max_chars=SEARCH_CHARACTERS,
            help=words["force_help"],
            width=220,
        )
        own = run.own(made)
        for index, token in zip(tokens, run.tokens_of(tokens), strict=True):
            label = words["force_button"].format(step=made.step + 1, token=literal(token), share=percent(own[index]))
            st.button(label, key=f"force {index}", on_click=_force, args=(f"{made.step + 1} {token}",))
    if forced is None or other is None:
        if forced is not None:
            st.warning(forced.problem, icon=":material/help:")
        return
    at = parting(run.written.ids(), other.written.ids())
    for place, name, one in zip(st.columns(2), ("free", "forced"), (run, other), strict=True):
        with place.container(border=True):
            st.caption(words[name])
            st.markdown(quoted_tokens(run.tokens_of(one.written.ids()), at) or "–")
            st.caption(words["log_probability"].format(value=fixed(one.written.best.total, 3), count=len(one.chain)))
    if at is None:
        st.caption(words["no_parting"])
    else:
        last = other.own(other.chain[forced.step])[forced.token] if forced.step < len(other.chain) else 0.0
        st.caption(words["parting"].format(step=at + 1, share=percent(last)))


def _force(place: str) -> None:
    st.session_state[FORCE] = place
