"""Draws the tokens of an answer as marks on the page's own picture."""

from collections.abc import Sequence
from typing import NamedTuple

from pages.lessons.content.lesson_answers import places
from pages.lessons.content.question_data import question_data
from pages.lessons.content.truths import head_of, place_of
from pages.lessons.playing.open_lesson import lesson_in_class, open_lesson
from transformer import HeadlightError


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


def marks_on(queries: Sequence[str], keys: Sequence[str], kind: str, layer: int, head: int) -> Marks | None:
    """The marks for the map of a head; None if the open stop does not ask about this head, or its answer may still change.

    Args:
        queries, keys: the tokens of the map.
        kind, layer, head: the head of the map. Layer and head are counted from 0.
    """
    opened = open_lesson()
    if opened is None:
        return None
    try:
        lesson = lesson_in_class(opened)
        stop = lesson.stops[opened.stop] if opened.stop < len(lesson.stops) else None
        question, answer = stop and stop.question, opened.answers.get(opened.stop)
        if not (stop and question and question.truth and question.truth.name == "attention-row" and answer):
            return None
        shown = question_data(lesson, opened.stop, answer)
        if not shown or not shown["settled"] or shown["tokens"] != list(keys) or head_of(stop) != (kind, layer, head):
            return None
        query = place_of(question.truth.query, tuple(queries))
    except HeadlightError:
        return None
    first, last = (tuple(places(given) or ()) for given in (answer.first, answer.before_end))
    return Marks(query, last, first if answer.second else ())
