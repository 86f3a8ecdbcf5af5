"""What accompanies an open lesson: the class of this session. Class mode registers it, if this server has classes
(`pages.lessons`). The rest of lessons knows nothing else of class mode."""

from collections.abc import Callable
from dataclasses import dataclass

from pages.lessons.content.lesson import Lesson
from pages.lessons.content.lesson_answers import Answer


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True)
class Companion:
    """The functions of class mode. The defaults are those of a server without classes.

    Attributes:
        parameters: names of its parameters in the address.
        follow: reads the address, and returns the name of the class's lesson; empty outside a class. Called with whether an
            earlier warning stays, if the address names no class.
        linked: returns its parameters for links.
        teaches: whether this session teaches its class; None outside a class.
        hand_in: takes the answers to the question of a stop, counted from 0.
        leave: leaves the class.
        warn: draws a warning above the bar of the lesson, if there is one. Also called without a lesson.
        show: draws the panel below the bar. Called with the lesson, and the stop counted from 0.
        show_join, show_open: draw the parts of the page Lessons.
    """

    parameters: tuple[str, ...] = ()
    follow: Callable[[bool], str] = lambda _: ""
    linked: Callable[[], dict[str, str]] = dict
    teaches: Callable[[], bool | None] = _nothing
    hand_in: Callable[[int, Answer], None] = _nothing
    leave: Callable[[], None] = _nothing
    warn: Callable[[], None] = _nothing
    show: Callable[[Lesson, int], None] = _nothing
    show_join: Callable[[], None] = _nothing
    show_open: Callable[[], None] = _nothing


_companions = [Companion()]


def companion() -> Companion:
    """The companion of all lessons of this process."""
    return _companions[-1]


def accompany(by: Companion) -> None:
    """Set the companion of all lessons."""
    _companions.append(by)
