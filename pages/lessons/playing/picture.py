"""The picture on which a learner marks the keys that a query attends to: its row in the map of the head, without the weights.

It is drawn between the bar of the lesson and the page, on every page. If the learner asks to see the page instead, the bar
lists the tokens. After the answer is checked, the marks are drawn on the page's own map (`asked.py`).
"""

from typing import NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Bool

from pages.lessons.content.lesson import Question, Stop
from pages.lessons.content.lesson_answers import places
from pages.lessons.content.stop_views import run_of
from pages.lessons.content.truths import head_of, place_of
from pages.lessons.playing.answering import PICTURE, check_marks, mark
from pages.lessons.playing.asked import ROW, asks_for, open_stop
from pages.lessons.playing.class_panel import show_answers
from pages.lessons.playing.experiment import show_experiment
from pages.lessons.playing.open_lesson import OpenLesson, lesson_in_class, open_lesson
from pages.shell.view.runs import runs
from pages.ui.escaping import literal
from pages.ui.marking import marking
from pages.ui.prediction_codec import Prediction
from pages.ui.text import text
from transformer import HeadlightError

# Key of the container, which bar.js scrolls to.
CONTAINER = "lesson-marks"


class _Row(NamedTuple):
    """The row of attention of a question that waits for its answer.

    Attributes:
        question: the question.
        title: the name of the head.
        query: the token that attends.
        keys: the tokens of the keys, with the masked ones.
        allowed: True at the keys that are not masked.
        prediction: the marked keys. It has two answers while the first answer is being changed.
    """

    question: Question
    title: str
    query: str
    keys: tuple[str, ...]
    allowed: Bool[np.ndarray, " key"]
    prediction: Prediction


@st.fragment(key=PICTURE)
def show_picture() -> None:
    """If the open stop asks about a row of attention and waits for an answer, draw the picture. Otherwise draw the revealed
    answers of the class and the pictures that follow an answer (`experiment.py`). Call this between the bar and the page."""
    opened = open_lesson()
    asked = _asked_row(opened) if opened else None
    if opened is None or asked is None:
        with st.container(key=CONTAINER, gap="xsmall"):
            if opened and open_stop():
                show_answers(lesson_in_class(opened), opened.stop)
            show_experiment()
        return
    words, most = text("lesson")["picture"], asked.question.most
    with st.container(key=CONTAINER):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(words["ask"].format(query=literal(asked.query), head=asked.title, most=most), width="content")
            st.button(
                text("lesson")["bar"]["check"],
                key="lesson-check",
                on_click=check_marks,
                type="primary",
                disabled=not opened.marked,
                icon=":material/check:",
            )
        marking(
            "lesson",
            words["alt"].format(query=asked.query, head=asked.title),
            [""],
            asked.keys,
            asked.prediction,
            closed=np.flatnonzero(~asked.allowed).tolist(),
            most=most,
            subject=f"{opened.name}|{opened.stop}",
            take=mark,
        )


def is_pictured(stop: Stop) -> bool:
    """Whether a stop has a question that is answered on the picture."""
    truth = stop.question and stop.question.truth
    return truth is not None and truth.name == ROW


def _asked_row(opened: OpenLesson) -> _Row | None:
    asked = asks_for(ROW)
    if asked is None or asked.data["settled"]:
        return None
    (stop, question, truth, answer, data) = asked
    try:
        (kind, layer, head), run = head_of(stop), run_of(stop)
        trace = runs().trace(run.key, (run.source,), (run.target,), ())
        # Not `map_names`: what a row writes would give its answer away.
        queries, keys = (tuple(tokens) for tokens in trace.tokens(kind))
        row = place_of(truth.query, queries)
        allowed = trace.allowed(kind)[layer, 0, head, row].numpy()
    except HeadlightError:
        return None  # the bar draws the error
    marked = tuple(token for token in opened.marked if token < len(keys) and allowed[token])[: question.most]
    first = tuple(sorted(places(answer.first) or ())) if answer and data["answered"] else None
    answers = (marked,) if first is None else (first, marked) if marked else (first,)
    title = text("lesson")["picture"]["head"].format(kind=text("lesson")["kinds"][kind], layer=layer + 1, head=head + 1)
    return _Row(question, title, queries[row], keys, allowed, Prediction(answers))
