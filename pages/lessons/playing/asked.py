"""What the open lesson asks on the page that it has opened: what the page must not tell yet, and what it marks afterwards."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pages.lessons.content.lesson import LessonError, Question, Stop, Truth
from pages.lessons.content.lesson_answers import Answer, places
from pages.lessons.content.question_data import question_data
from pages.lessons.content.truths import head_of, place_of
from pages.lessons.playing.open_lesson import lesson_in_class, open_lesson
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
    """The tokens that the learner marked at the open stop, from when the row may be seen.

    Attributes:
        query: position of the token whose row was asked for.
        keys: positions of the marked tokens.
        earlier: positions in the first answer, if it was changed; otherwise empty.
    """

    query: int
    keys: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()


def asks_for(truth: str) -> Asked | None:
    """The question of the open stop; None if it does not ask for this truth, named as in `TRUTHS`."""
    opened = open_lesson()
    try:
        lesson = lesson_in_class(opened) if opened else None
    except LessonError:
        return None  # the bar draws the error
    if opened is None or lesson is None or opened.stop >= len(lesson.stops):
        return None
    stop, answer = lesson.stops[opened.stop], opened.answers.get(opened.stop)
    question = stop.question
    if question is None or question.truth is None or question.truth.name != truth:
        return None
    data = question_data(lesson, opened.stop, answer)
    assert data is not None  # the stop has a question
    return Asked(stop, question, question.truth, answer, data)


def withheld(truth: str) -> bool:
    """Whether the page must not tell a truth, because the open lesson asks for it and the answer may still change."""
    asked = asks_for(truth)
    return asked is not None and not asked.data["settled"]


def asked_here(queries: Sequence[str], keys: Sequence[str], kind: str, layer: int, head: int) -> Marks | None:
    """The marks for the map of a head; None if the open stop does not ask about this head, or its answer may still change.

    Args:
        queries, keys: the tokens of the map.
        kind, layer, head: the head of the map. Layer and head are counted from 0.
    """
    asked = asks_for(ROW)
    if asked is None or asked.answer is None or not asked.data["settled"] or asked.data["tokens"] != list(keys):
        return None
    try:
        if head_of(asked.stop) != (kind, layer, head):
            return None
        query = place_of(asked.truth.query, tuple(queries))
    except HeadlightError:
        return None
    first, last = (tuple(places(given) or ()) for given in (asked.answer.first, asked.answer.before_end))
    return Marks(query, last, first if asked.answer.second else ())
