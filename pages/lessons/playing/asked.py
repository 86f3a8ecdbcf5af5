"""The question of the open lesson about its page: what the page must hide before the answer, and what it marks afterwards."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pages.lessons.class_mode.seat import class_phase
from pages.lessons.content.lesson import LessonError, Stop
from pages.lessons.content.lesson_answers import places
from pages.lessons.content.question_data import question_data
from pages.lessons.content.truths import head_of, place_of
from pages.lessons.playing.open_lesson import lesson_in_class, open_lesson
from transformer import HeadlightError

# Name of the truth whose question is answered on a picture.
ROW = "attention-row"


class Marks(NamedTuple):
    """The row of an attention map that the open stop of a lesson is about, and what the learner marked in it.

    Attributes:
        query: the position of the row's token.
        keys: the positions that the learner marked; empty if the stop did not ask for them.
        earlier: the positions of the first answer, if the learner changed it.
    """

    query: int
    keys: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()


def open_stop() -> Stop | None:
    """The open lesson's current stop (step); None at the end of a lesson, or if no lesson is open."""
    opened = open_lesson()
    try:
        lesson = lesson_in_class(opened) if opened else None
    except LessonError:
        return None  # the bar draws the error
    return lesson.stops[opened.stop] if opened and lesson and opened.stop < len(lesson.stops) else None


def open_question() -> dict[str, Any] | None:
    """The data for drawing the question of the lesson's open stop (step); None if the stop asks nothing, or no stop is open."""
    opened = open_lesson()
    if opened is None or open_stop() is None:
        return None
    answer = opened.answers.get(opened.stop)
    return question_data(lesson_in_class(opened), opened.stop, answer, phase=class_phase(opened.stop))


def is_settled() -> bool:
    """Whether the answer at the lesson's open stop (step) can no longer change. Also True if the stop asks nothing."""
    question = open_question()
    return question is None or question["settled"]


def withheld(*truths: str) -> bool:
    """Whether a page must hide the values with these names, such as `mask-row`: the lesson's open stop (step) asks for one of
    them, and the answer may still change."""
    stop = open_stop()
    return stop is not None and stop.asks in truths and not is_settled()


def asked_here(queries: Sequence[str], keys: Sequence[str], kind: str, layer: int, head: int) -> Marks | None:
    """The row and keys that a lesson marks on the attention map of a head, whose rows and columns have the tokens `queries` and
    `keys`; None if the open stop is not about a row of this head, or its answer may still change. Layer and head are from 0."""
    opened, stop = open_lesson(), open_stop()
    if opened is None or stop is None:
        return None
    row, marked, earlier = stop.row, "", ""
    if stop.truth and stop.asks == ROW:
        answer, question = opened.answers.get(opened.stop), open_question()
        if answer is None or question is None or not question["settled"] or question["tokens"] != list(keys):
            return None
        row, marked, earlier = stop.truth.query, answer.before_end, answer.first if answer.second else ""
    try:
        if not row or head_of(stop) != (kind, layer, head):
            return None
        return Marks(place_of(row, tuple(queries)), tuple(places(marked) or ()), tuple(places(earlier) or ()))
    except HeadlightError:
        return None
