"""Predict to which keys a head attends: the weights are hidden, the learner marks cells, then marks and weights are shown
together."""

from typing import NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Bool, Float

from pages.shell.view.head_links import ROW
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.escaping import literal
from pages.ui.format import numbered_tokens, share
from pages.ui.marking import marking, weights_truth
from pages.ui.prediction import ask_about, asked, offer, on_each_answer, show_buttons
from pages.ui.prediction_codec import Cells, Prediction
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.prediction_scores import CaughtAttention, caught_attention
from transformer.analysis.query_to_show import query_to_show
from transformer.tracing.paths import Kind, Side

# The first question is where a head looks. After it is answered, the page offers the second: whether the answer depends on the
# head (silence.py).
MAP, SILENCE, PICKED_ROW = "map", "silence", "predict-row"
MOST_MAP_CELLS = 400  # a larger map is too much to mark
# FOUND: a prediction that catches at least this part of the largest possible share has found where the head looks. FLAT: if the
# largest weights exceed equal weights by less than this, the row has nothing to find. CHANCE: a prediction must be this far
# above chance.
FOUND, FLAT, CHANCE = 0.75, 0.1, 0.01
# If even the best choice of equally many marks catches less than this share, the head looks at more cells than were marked.
SPREAD = 0.5


class Question(NamedTuple):
    """A question: to which keys does a head attend most?

    Attributes:
        what: `ROW` if it asks about one query, `MAP` if about all.
        prediction: the marks of the learner, and whether the true weights are shown.
        rows: the positions of the queries that the question is about.
        weights: the attention weights of these queries.
        allowed: True where the query may attend to the key.
        queries, keys: the names of all queries and of all keys.
    """

    what: str
    prediction: Prediction
    rows: tuple[int, ...]
    weights: Float[np.ndarray, "query key"]
    allowed: Bool[np.ndarray, "query key"]
    queries: tuple[str, ...]
    keys: tuple[str, ...]


def head_question(view: View, trace: Trace, kind: str, layer: int, head: int) -> Question | None:
    """The question about this head, if the learner has opened one. If not, draw the button that opens it, and return None.
    `kind` is `encoder`, `decoder` or `cross`; `layer` and `head` are from 0."""
    weights, allowed = trace.head(kind, layer, head).numpy(), trace.head_allowed(kind, layer, head).numpy()
    queries, keys = map_names(view, trace, kind)
    subject = (view.key, view.source, view.target, kind, layer, head)
    prediction = asked(ROW, subject, len(keys), len(queries))
    if prediction is not None:
        special = [_special(view, trace, side) for side in (Kind.of(kind).queries, Kind.of(kind).keys)]
        row = query_to_show(weights, allowed, *special) if prediction.place is None else prediction.place
        return Question(ROW, prediction, (row,), weights[[row]], allowed[[row]], queries, keys)
    prediction = asked(MAP, subject, weights.size) if weights.size <= MOST_MAP_CELLS else None
    if prediction is not None:
        return Question(MAP, prediction, tuple(range(len(queries))), weights, allowed, queries, keys)
    words = text("prediction")["attention"]
    offer(ROW, words["offer"], words["offer_help"])
    return None


def _special(view: View, trace: Trace, side: Side) -> Bool[np.ndarray, " position"]:
    """True for the special tokens of the first text."""
    return np.isin(trace.ids_of(side)[0], list(view.pipeline.vocabulary(side).specials))


def show_question(question: Question | None, title: str) -> bool:
    """Draw the question, or after the answer the true weights with the learner's marks on them; draw nothing for None. Returns
    whether the page must still hide the weights. `title` names the head."""
    if question is None:
        return False
    words = text("prediction")["attention"]
    st.header(text("prediction")["title"].format(subject=title))
    (_show_truth if question.prediction.shown else _ask)(question)
    show_buttons(question.what, question.prediction)
    if not question.prediction.shown:
        st.caption(words["hidden"])
    return not question.prediction.shown


def _ask(question: Question) -> None:
    """Draw the text of the question and the cells to mark."""
    words, query = text("prediction")["attention"], question.queries[question.rows[0]]
    st.markdown(words["row" if question.what == ROW else "map"].format(token=literal(query)))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if question.what == ROW:
            st.session_state[PICKED_ROW] = question.rows[0]
            names = numbered_tokens(question.queries)
            st.selectbox(
                words["pick_row"],
                range(len(names)),
                key=PICKED_ROW,
                format_func=names.__getitem__,
                on_change=_ask_about_picked_row,
                width=220,
            )
        other = MAP if question.what == ROW else ROW
        if other == ROW or len(question.queries) * len(question.keys) <= MOST_MAP_CELLS:
            label = words["as_map" if other == MAP else "as_row"]
            st.button(label, key=f"predict-{other}", on_click=ask_about, args=(other, None, question.what), type="tertiary")
    _draw(question)


def _show_truth(question: Question) -> None:
    """Draw the true weights with the marks on them, and write which share of the attention each answer marked."""
    words = text("prediction")["attention"]
    query = question.queries[question.rows[0]]
    st.markdown(words["truth_row" if question.what == ROW else "truth_map"].format(token=literal(query)))
    _draw(question)
    st.markdown(on_each_answer(question.prediction, lambda answer: _sentence(question, answer)))


def _ask_about_picked_row() -> None:
    ask_about(ROW, st.session_state[PICKED_ROW])


def _draw(question: Question) -> None:
    words, whole = text("prediction")["attention"], question.what == MAP
    label = words["map_alt" if whole else "row_alt"].format(token=question.queries[question.rows[0]])
    truth = weights_truth(question.weights, question.allowed, words["masked"]) if question.prediction.shown else None
    marking(
        question.what,
        label,
        question.queries if whole else [""],
        question.keys,
        question.prediction,
        truth,
        np.flatnonzero(~question.allowed).tolist(),
        subject=f"{question.rows[0]}|{len(question.rows)}|{len(question.keys)}",
    )


def _sentence(question: Question, answer: Cells) -> str:
    """A sentence with the share of the attention on the marked cells, and the largest share on as many cells."""
    words = text("prediction")["attention"]
    marked = np.zeros(question.weights.shape, dtype=bool)
    marked.flat[list(answer)] = True
    caught = caught_attention(question.weights, question.allowed, marked)
    values = {name: share(value) for name, value in (("share", caught.share), ("even", caught.even), ("most", caught.most))}
    values |= {"weight": share(caught.missed_weight), "where": _where(question, caught)}
    if not caught.count:
        return words["nothing"].format(**values)
    difference = words["difference"][_difference(caught)].format(**values)
    name = "caught" if caught.count > 1 else "caught_one"
    return words[name].format(count=caught.count, difference=difference, **values)


def _difference(caught: CaughtAttention) -> str:
    """The name of the text about the difference between a prediction and the true weights."""
    if caught.missed is None:
        return "all" if caught.count > 1 else "only"
    if caught.lead < FLAT:
        return "even_row"
    if caught.share <= caught.even:
        return "as_even"
    if caught.share < FOUND * caught.most:
        return "as_even" if caught.share < caught.even + CHANCE else "more"
    return "found" if caught.most >= SPREAD else "found_part"


def _where(question: Question, caught: CaughtAttention) -> str:
    if caught.missed is None:
        return ""
    query, key = caught.missed
    name = "map" if question.what == MAP else "row"
    tokens = {"query": literal(question.queries[question.rows[query]]), "key": literal(question.keys[key])}
    return text("prediction")["attention"]["where"][name].format(**tokens)
