"""Guess the next token before the model's distribution is shown. Afterwards, the page shows the guess in that distribution."""

import streamlit as st

from pages.decoding.answer_player import STEP
from pages.decoding.answer_steps import Run
from pages.shell.view.view import View
from pages.ui.escaping import literal, quoted, quoted_tokens
from pages.ui.prediction import asked, offer, on_each_answer, open_question, pick_answer, show_buttons
from pages.ui.prediction_codec import Cells
from pages.ui.text import text
from transformer.analysis.prediction_scores import guessed_token
from transformer.figures.decoding_figures import percent

NEXT = "next"


def show_guess(view: View, run: Run, step: int) -> bool | None:
    """Draw one of three things about the token of a step (from 0): the button that opens the question which token comes next,
    this question, or after its answer, the rank of the guess in the model's distribution.

    Returns:
        Whether the page must still hide the token; None if no question is open.
    """
    words, vocabulary = text("prediction")["next"], run.pipeline.vocabulary("target")
    subject = (view.key, view.source, run.settings, step)
    prediction = asked(NEXT, subject, len(vocabulary))
    if prediction is None:
        offer(NEXT, words["offer"], words["offer_help"], main=False)  # the main action is to play
        return None
    made = run.chain[step]
    read = run.tokens_of(run.step(made).input_ids[made.row].tolist())
    st.header(text("prediction")["title"].format(subject=words["title"].format(step=step + 1)))
    st.markdown(words["read"].format(source=quoted(view.source), tokens=quoted_tokens(read)))
    if prediction.shown:
        st.markdown(on_each_answer(prediction, lambda answer: _sentence(run, step, answer)))
    else:
        excluded = (vocabulary.pad, vocabulary.sos)
        labels = {index: token for index, token in enumerate(vocabulary.tokens) if index not in excluded}
        pick_answer(NEXT, words["ask"], prediction, labels, as_list=True, placeholder=words["placeholder"])
    with st.container(horizontal=True):
        show_buttons(NEXT, prediction)
        if prediction.shown and step + 1 < len(run.chain):
            st.button(words["further"], on_click=_guess_next, args=(step + 2,), icon=":material/skip_next:")
    return not prediction.shown


def _guess_next(step: int) -> None:
    st.session_state[STEP] = step
    open_question(NEXT)


def _sentence(run: Run, step: int, answer: Cells) -> str:
    """A sentence with the rank and the probability of a guess, the most probable token and the written token."""
    words, made = text("prediction")["next"], run.chain[step]
    own = run.own(made)
    (token,) = run.tokens_of([made.token])
    if not answer:
        return words["nothing"].format(token=literal(token), share=percent(own[made.token]))
    score = guessed_token(own, answer[0])
    guess, best = run.tokens_of([answer[0], score.best])
    values = {
        "guess": literal(guess),
        "probability": percent(score.probability),
        "rank": score.rank,
        "count": len(own),
        "best": literal(best),
        "best_probability": percent(score.best_probability),
        "token": literal(token),
    }
    verdict = words["right" if score.rank == 1 else "wrong"].format(**values)
    return verdict if made.token in (answer[0], score.best) else f"{verdict} {words['written'].format(**values)}"
