"""The marks of an answer on the page's own picture."""

from collections.abc import Sequence
from typing import NamedTuple

from pages.shell.lessons.answers import places
from pages.shell.lessons.open_lesson import lesson_in_class, open_lesson
from pages.shell.lessons.question_data import question_data
from pages.shell.lessons.truths import head_of, place_of
from transformer import HeadlightError


class Marks(NamedTuple):
    """The tokens that were marked in the question of the stop that is open, once their row may be seen.

    Attributes:
        query: the row, by the position of its token.
        keys: positions of the marked tokens.
        earlier: those of the first answer, if it was changed; otherwise empty.
    """

    query: int
    keys: tuple[int, ...] = ()
    earlier: tuple[int, ...] = ()


def marks_on(queries: Sequence[str], keys: Sequence[str], kind: str, layer: int, head: int) -> Marks | None:
    """The marks that belong on the map of a head; None if the open stop does not ask about this head, or is not settled.

    Args:
        queries, keys: the tokens of the map.
        kind, layer, head: of the map; layer and head counted from 0.
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
