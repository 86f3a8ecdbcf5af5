"""The lesson that Home offers to a first visitor."""

from typing import NamedTuple

from pages.lessons.content.library import shipped
from pages.lessons.playing.open_lesson import open_lesson, start_of

FIRST_LESSON = "first-look"


class Offer(NamedTuple):
    """A lesson that a page offers.

    Attributes:
        title, about: its words.
        stops: the number of its stops.
        minutes: how long it takes.
        page, query: the page of its first stop, and the parameters of that page's address.
    """

    title: str
    about: str
    stops: int
    minutes: int
    page: str
    query: dict[str, str]


def first_lesson() -> Offer | None:
    """The lesson for a first visit; None while a lesson is open, or if it is not shipped."""
    lesson = shipped().get(FIRST_LESSON)
    if lesson is None or open_lesson() is not None:
        return None
    return Offer(lesson.title, lesson.about, len(lesson.stops), round(lesson.minutes), *start_of(FIRST_LESSON, lesson))
