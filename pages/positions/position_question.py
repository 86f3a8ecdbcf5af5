"""Guess which position's vector is most similar to the vector of a given position, before the similarities are shown."""

import numpy as np
import streamlit as st

from pages.positions.table import Table
from pages.shell.view.view import View
from pages.ui.format import fixed
from pages.ui.marking import marking, weights_truth
from pages.ui.prediction import ask_about, asked, offer, on_each_answer, show_buttons
from pages.ui.prediction_codec import Cells
from pages.ui.text import text
from transformer.analysis.prediction_scores import likeness

ALIKE, PICKED = "alike", "predict-position"
MOST_POSITIONS = 16  # of a longer table only the first 16 positions are offered
FIRST = 5  # the first question is about this position, because it has neighbours on both sides


def show_likeness(view: View, table: Table) -> bool:
    """Draw one of three things: the button that opens the question which position is most similar to a given one, this
    question, or after its answer the similarities with the guess on them. Returns whether the page must still hide the
    similarities. Draws nothing for fewer than 3 positions."""
    words = text("prediction")["alike"]
    count = min(MOST_POSITIONS, table.positions)
    if count < 3:
        return False
    vectors = table.values[:count]
    model = view.key if table.kind == "learned" else None
    prediction = asked(ALIKE, (model, table.kind, table.trained, table.positions, table.d_model), count, count)
    if prediction is None:
        offer(ALIKE, words["offer"], words["offer_help"])
        return False
    position = min(FIRST, count - 1) if prediction.place is None else prediction.place
    names = [str(place) for place in range(count)]
    st.markdown(words["truth" if prediction.shown else "ask"].format(position=position))
    if not prediction.shown:
        st.session_state[PICKED] = position
        st.selectbox(words["pick"], range(count), key=PICKED, on_change=_ask_about_picked, width=120)
    others = np.arange(count) != position
    similar = likeness(vectors, position)
    # Similarities can be negative. The shade has only the range from 0 to 1, so the number is written beside it.
    truth = weights_truth(similar.values[None], np.ones((1, count), bool), "") if prediction.shown else None
    label = words["alt"].format(position=position)
    marking(ALIKE, label, [""], names, prediction, truth, np.flatnonzero(~others).tolist(), 1, f"{position}|{count}")
    if prediction.shown:
        st.markdown(on_each_answer(prediction, lambda answer: _sentence(vectors, position, answer)))
        st.caption(words[_why(table, position, similar.best)])
    show_buttons(ALIKE, prediction)
    return not prediction.shown


def _why(table: Table, position: int, best: tuple[int, ...]) -> str:
    """The name of the text that says why positions are alike. `best`: the positions most like the one asked about."""
    if table.kind == "learned":
        return "why_learned"
    if table.d_model % 2:
        return "why_single" if table.d_model == 1 else "why_odd"
    return "why_sinusoidal" if {*best} <= {position - 1, position + 1} else "why_few"


def _ask_about_picked() -> None:
    ask_about(ALIKE, st.session_state[PICKED])


def _sentence(vectors: np.ndarray, position: int, answer: Cells) -> str:
    """A sentence that compares the similarity of the guessed position with the highest similarity."""
    words = text("prediction")["alike"]
    guess = next((cell for cell in answer if cell != position), None)
    similar = likeness(vectors, position, guess)
    best = words["and"].join(map(str, similar.best))
    values = {"position": position, "best": best, "value": fixed(similar.values[similar.best[0]], 2)}
    if guess is None:
        return words["nothing"].format(**values)
    own = {"guess": guess, "own": fixed(similar.values[guess], 2), "rank": similar.rank, "count": len(vectors) - 1}
    return words["right" if similar.rank == 1 else "wrong"].format(**values, **own)
