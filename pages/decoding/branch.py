"""What if the model had written other tokens: some tokens are forced, the model writes the rest again, and both answers are
shown side by side."""

import streamlit as st

from pages.decoding.answer_steps import Run
from pages.decoding.forced import FORCE, MOST_FORCED, Forced, force, take_back
from pages.shell.view.two_answers import show_two_answers
from pages.ui.escaping import literal
from pages.ui.format import fixed
from pages.ui.text import text
from transformer.figures.decoding_figures import percent

SHOWN_TOKENS = 5


def show_undo(other: Run, forced: Forced) -> None:
    """Draw for each forced token a button that takes it back. `other` is the answer with the forced tokens."""
    words = text("decoding")
    with st.container(horizontal=True, gap="small"):
        for step, token in forced.tokens:
            (name,) = other.tokens_of([token])
            st.button(
                words["undo"].format(step=step + 1, token=literal(name)),
                key=f"undo {step}",
                icon=":material/undo:",
                help=words["undo_help"],
                on_click=take_back,
                args=(step + 1,),
            )


def show_branch(run: Run, other: Run | None, forced: Forced, shown: Run, step: int) -> None:
    """Draw the list of forced tokens, buttons that force another token at `step` (from 0) of the run in the player, `shown`,
    and the answers of both runs: `run` without forced tokens and `other` with them, which is None if no token is forced."""
    words = text("decoding")
    st.markdown(words["branch_text"])
    made = shown.chain[min(step, len(shown.chain) - 1)]
    others = [token for token in shown.top(made) if token != made.token][:SHOWN_TOKENS]
    names = dict(zip(others, shown.tokens_of(others), strict=True))
    example = words["force_placeholder"].format(step=made.step + 1, token=names[others[0]])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.multiselect(
            words["force"],
            st.session_state[FORCE],
            key=FORCE,
            accept_new_options=True,
            max_selections=MOST_FORCED,
            placeholder=example,
            help=words["force_help"],
            width=340,
        )
        own = shown.own(made)
        for index, token in names.items():
            label = words["force_button"].format(step=made.step + 1, token=literal(token), share=percent(own[index]))
            st.button(label, key=f"force {index}", on_click=force, args=(made.step + 1, token))
    for problem in forced.problems:
        st.warning(problem, icon=":material/help:")
    if other is not None:
        _show_both(run, other, forced)


def _note(run: Run) -> str:
    """The log-probability of an answer, and the number of its tokens."""
    answer = run.generation
    sentence = text("decoding")["log_probability" if answer.ended else "log_probability_open"]
    return sentence.format(value=fixed(answer.total, 3), count=len(answer.ids()) + answer.ended)


def _show_both(run: Run, other: Run, forced: Forced) -> None:
    """Draw the answers without and with the forced tokens, the step from which they differ, and the probability of each forced
    token."""
    words, both = text("decoding"), (run, other)
    notes = [_note(one) for one in both]
    titles, answers = (words["free"], words["forced"]), [one.tokens_of(one.generation.ids()) for one in both]
    at = show_two_answers("branch", titles, answers, notes)
    given = [
        words["had"].format(
            token=literal(run.tokens_of([token])[0]), step=step + 1, share=percent(other.own(other.chain[step])[token])
        )
        for step, token in forced.tokens
        if step < len(other.chain)
    ]
    st.caption(words["no_parting"] if at is None else words["parting"].format(step=at + 1, given="; ".join(given)))
