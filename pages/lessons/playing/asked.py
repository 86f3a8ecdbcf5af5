"""What the open lesson asks on the page that it has opened: what the page must not tell yet, and what it marks afterwards."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pages.lessons.class_mode.seat import class_phase
from pages.lessons.content.lesson import ABOUT_HEADS, LessonError, Question, Stop, Truth
from pages.lessons.content.lesson_answers import Answer, places
from pages.lessons.content.question_data import question_data
from pages.lessons.content.truths import head_of, place_of
from pages.lessons.playing.open_lesson import OpenLesson, lesson_in_class, open_lesson
from transformer import HeadlightError

# Name of the truth whose question is answered on a picture.
ROW = "attention-row"


class Asked(NamedTuple):
    """The question of the open stop, whose right answer is a truth.

    Attributes:
        stop, question, truth: the stop with its question.
        answer: the answers so far; None before the first one.
        data: the data of the question for the bar.
    """

    stop: Stop
    question: Question
    truth: Truth
    answer: Answer | None
    data: dict[str, Any]


class Marks(NamedTuple):
    """The row of a map that the open stop is about, and the tokens that the learner marked in it, if the stop asked for them.

    Attributes:
        query: position of the token whose row was asked for.
        keys: positions of the marked tokens.
        earlier: positions in the first answer, if it was changed; otherwise empty.
    """

    query: int
    keys: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()


def open_stop() -> Stop | None:
    """The open stop; None at the end of a lesson, or if no lesson is open."""
    opened = open_lesson()
    try:
        lesson = lesson_in_class(opened) if opened else None
    except LessonError:
        return None  # the bar draws the error
    return lesson.stops[opened.stop] if opened and lesson and opened.stop < len(lesson.stops) else None


def asks_for(truth: str) -> Asked | None:
    """The question of the open stop; None if it does not ask for this truth, named as in `TRUTHS`."""
    opened, stop = open_lesson(), open_stop()
    question = stop and stop.question
    if opened is None or stop is None or question is None or question.truth is None or question.truth.name != truth:
        return None
    data = _data(opened)
    assert data is not None  # the stop has a question
    return Asked(stop, question, question.truth, opened.answers.get(opened.stop), data)


def _data(opened: OpenLesson) -> dict[str, Any] | None:
    """The data of the open stop's question for the bar; None if the stop has no question."""
    lesson, answer = lesson_in_class(opened), opened.answers.get(opened.stop)
    return question_data(lesson, opened.stop, answer, phase=class_phase(opened.stop))


def is_settled() -> bool:
    """Whether a stop is open, and the answer to its question can no longer change. Also True if the
    stop asks nothing."""
    opened = open_lesson()
    if opened is None or open_stop() is None:
        return False
    data = _data(opened)
    return data is None or data["settled"]


def withheld(*truths: str) -> bool:
    """Whether the page must not tell one of these truths, because the open lesson asks for it and the answer may still
    change."""
    return any(asked is not None and not asked.data["settled"] for asked in map(asks_for, truths))


def hides_heads(stop: Stop) -> bool:
    """Whether the page Patching tells nothing about heads until the question of a stop is answered."""
    return bool(stop.question and stop.question.truth and stop.question.truth.name in ABOUT_HEADS)


def asked_here(queries: Sequence[str], keys: Sequence[str], kind: str, layer: int, head: int) -> Marks | None:
    """The marks for the map of a head; None if the open stop is not about a row of this head, or its answer may still change.

    Args:
        queries, keys: the tokens of the map.
        kind, layer, head: the head of the map. Layer and head are counted from 0.
    """
    asked = asks_for(ROW)
    if asked is None:
        return _named_row(queries, kind, layer, head)
    if asked.answer is None or not asked.data["settled"] or asked.data["tokens"] != list(keys):
        return None
    try:
        if head_of(asked.stop) != (kind, layer, head):
            return None
        query = place_of(asked.truth.query, tuple(queries))
    except HeadlightError:
        return None
    first, last = (tuple(places(given) or ()) for given in (asked.answer.first, asked.answer.before_end))
    return Marks(query, last, first if asked.answer.second else ())


def _named_row(queries: Sequence[str], kind: str, layer: int, head: int) -> Marks | None:
    """The mark of the row that the open stop names; None if the stop names no row, or is about another head."""
    stop = open_stop()
    if stop is None or not stop.row:
        return None
    try:
        return Marks(place_of(stop.row, tuple(queries))) if head_of(stop) == (kind, layer, head) else None
    except HeadlightError:
        return None
