"""The picture on which a learner marks the keys that a query attends to: its row in the map of the head, without the weights.

It is drawn between the bar of the lesson and the page, on every page. If the learner asks to see the page instead, the bar
lists the tokens. After the answer is checked, the marks are drawn on the page's own map (`asked.py`).
"""

from typing import Any

import numpy as np
import streamlit as st

from pages.lessons.content.lesson import Stop, Truth
from pages.lessons.content.lesson_answers import places
from pages.lessons.content.stop_views import run_of
from pages.lessons.content.truths import head_of, place_of
from pages.lessons.playing.answering import PICTURE, check_marks, mark
from pages.lessons.playing.asked import ROW, open_question, open_stop
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


@st.fragment(key=PICTURE)
def show_picture() -> None:
    """If the lesson's open stop asks about a row of attention and waits for an answer, draw its picture. Otherwise draw the
    revealed answers of the class and the pictures after an answer (`experiment.py`). Call this between the bar and the page."""
    opened, stop, question = open_lesson(), open_stop(), open_question()
    if opened and stop and stop.truth and question and stop.asks == ROW and not question["settled"]:
        try:
            _show_row(opened, stop, stop.truth, question)
        except HeadlightError:
            pass  # before anything is drawn; the bar draws the error
        else:
            return
    with st.container(key=CONTAINER, gap="xsmall"):
        if opened and stop:
            show_answers(lesson_in_class(opened), opened.stop)
        show_experiment()


def _show_row(opened: OpenLesson, stop: Stop, truth: Truth, question: dict[str, Any]) -> None:
    """Draw the row of attention that a question asks about, with the marked keys.

    Raises:
        HeadlightError: the row cannot be computed.
    """
    (kind, layer, head), run = head_of(stop), run_of(stop)
    trace = runs().trace(run.key, run.sources, run.targets, ())
    # Not `map_names`: what a row writes would give its answer away.
    queries, keys = (tuple(tokens) for tokens in trace.tokens(kind))
    row, most = place_of(truth.query, queries), question["most"]
    allowed = trace.allowed(kind)[layer, 0, head, row].numpy()
    marked = tuple(token for token in opened.marked if token < len(keys) and allowed[token])[:most]
    answer = opened.answers.get(opened.stop)
    first = tuple(sorted(places(answer.first) or ())) if answer and question["answered"] else ()
    answers = (first, marked) if first and marked else (first or marked,)
    words = text("lesson")["picture"]
    title = words["head"].format(kind=text("lesson")["kinds"][kind], layer=layer + 1, head=head + 1)
    with st.container(key=CONTAINER):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(words["ask"].format(query=literal(queries[row]), head=title, most=most), width="content")
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
            words["alt"].format(query=queries[row], head=title),
            [""],
            keys,
            Prediction(answers),
            closed=np.flatnonzero(~allowed).tolist(),
            most=most,
            subject=f"{opened.name}|{opened.stop}",
            take=mark,
        )
