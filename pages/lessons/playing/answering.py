"""Callbacks for what the browser sends from an open lesson: answers, marks, the next phase of a class. All are untrusted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.lessons.class_mode.classes import classes
from pages.lessons.class_mode.seat import class_phase, seat
from pages.lessons.content.grading import judge
from pages.lessons.content.lesson import ABOUT_HEADS, Lesson, Phase
from pages.lessons.content.lesson_answers import Answer, fits
from pages.lessons.content.library import lesson_of
from pages.lessons.content.truths import truth_of
from pages.lessons.playing.asked import ROW
from pages.lessons.playing.open_lesson import OPEN, OpenLesson, lesson_in_class, open_lesson, publish
from pages.shell.frame.body import BODY, draw_alone
from pages.ui.component import is_index, sent
from pages.ui.prediction_codec import Cells
from transformer import HeadlightError

# Keys of two fragments: the bar, and below it the picture on which tokens are marked.
KEY, PICTURE = "lesson_bar", "lesson_picture"


def _asked(value: Any) -> tuple[OpenLesson, Lesson, int] | None:
    """The state of the open lesson, the lesson, and the index of the lesson's stop (step) that the browser names in `value`.
    None if no lesson is open, or if the stop has no question."""
    opened = open_lesson()
    if opened is None or not isinstance(value, Mapping):
        return None
    stop = value.get("stop")
    lesson = lesson_in_class(opened)
    return (opened, lesson, stop - 1) if is_index(stop) and stop - 1 in lesson.questions else None


def take_answer() -> None:
    """Check and store the answer that the browser sent to a question: as the first, as the second (after discussion), or as the
    one at the end of the lesson."""
    value = sent(KEY, "answer")
    asked = _asked(value)
    if asked is not None:
        _answer(*asked, value.get("value"))


def check_marks() -> None:
    """Store the marked tokens as the answer to the question of the open lesson's current stop (step)."""
    opened = open_lesson()
    asked = _asked({"stop": opened.stop + 1} if opened else None)
    if asked is not None:
        _answer(*asked, "-".join(map(str, asked[0].marked)))


def mark(tokens: Cells) -> None:
    """Store `tokens`, the positions that the learner marked on the picture of a lesson's question. Call it in a callback."""
    opened = open_lesson()
    if opened is None:
        return
    st.session_state[OPEN] = replace(opened, marked=tokens)
    publish()
    draw_alone(KEY, PICTURE, BODY)  # the body counts the mark as a choice, so that Back removes it
    st.rerun()  # the whole app, if the fragments cannot be drawn alone


def _answer(opened: OpenLesson, lesson: Lesson, index: int, given: object) -> None:
    question = lesson.stops[index].question
    assert question is not None  # `_asked` has checked it
    try:
        truth = truth_of(lesson.stops[index])
    except HeadlightError:
        return
    if not isinstance(given, str) or len(given) > 40:
        return
    given, tokens = given.strip().replace("−", "-"), len(truth.tokens) if truth else 0
    if not fits(question, given, tokens):
        return
    before, phase = opened.answers.get(index), class_phase(index)
    at_end = opened.stop >= len(lesson.stops)
    if phase is not None and not at_end and (phase is Phase.REVEAL or (before and phase is not Phase.AGAIN)):
        return  # in a class, an answer can change only in the second vote
    if at_end:
        after = before._replace(again=given, second=before.second or "") if before else Answer(given, "", given)
    elif before is None or not fits(question, before.first, tokens):
        right = judge(question, given, truth).right
        after = Answer(given, "" if right and not lesson.discuss else None)
    elif before.second is None:
        after = before._replace(second=given)
    else:
        return
    _set(opened, index, after)


def advance_class() -> None:
    """Begin the next phase of a question, such as the second vote, in the class that this session teaches, if any."""
    value, place = sent(KEY, "advance"), seat()
    asked = _asked(value)
    to = value.get("to") if isinstance(value, Mapping) else None
    if asked is not None and place is not None and to in [int(phase) for phase in Phase]:
        classes().advance(place.code, place.secret, asked[2], Phase(to))
        st.rerun()  # the whole app: the page shows more once the answer is revealed


def keep_answer() -> None:
    """Note that the learner keeps the first answer, so that the lesson shows whether it is right."""
    asked = _asked(sent(KEY, "keep"))
    if asked is None:
        return
    opened, _, index = asked
    answer = opened.answers.get(index)
    if answer and answer.second is None:
        _set(opened, index, answer._replace(second=""))


def _set(opened: OpenLesson, index: int, answer: Answer) -> None:
    st.session_state[OPEN] = replace(opened, answers={**opened.answers, index: answer}, marked=())
    publish()
    stop = lesson_of(opened.name).stops[index]
    if stop.drawn or stop.asks in (ROW, *ABOUT_HEADS):
        st.rerun()  # the whole app, because the page changes, too: it draws marks, or what it hid before
