"""The functions of class mode that accompany an open lesson. Class mode registers them if this server has classes
(`pages.lessons`). The other modules of lessons use nothing else of class mode."""

from collections.abc import Callable
from dataclasses import dataclass

from pages.lessons.content.lesson import Lesson, Phase
from pages.lessons.content.lesson_answers import Answer


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True)
class Companion:
    """The functions of class mode. The defaults are those of a server without classes.

    Attributes:
        parameters: names of the parameters of class mode in the address.
        follow: reads the address, and returns the name of the class's lesson; empty outside a class. The argument says
            whether an earlier warning stays if the address names no class.
        linked: returns the parameters of class mode for links, with their values.
        stop: returns the stop, counted from 0, at which the lesson opens if the link names no stop.
        teaches: whether this session teaches its class; None outside a class, and after its end.
        phase: the phase of the question of a stop, counted from 0; None outside a class.
        advance: begins a phase of a question for the class. Called with the stop and the phase.
        hand_in: takes the answers to the question of a stop, counted from 0.
        leave: leaves the class.
        warn: draws a warning above the bar of the lesson, if there is one. Also called without a lesson.
        show: draws the panel below the bar. Called with the lesson, and the stop counted from 0.
        show_answers: draws the answers of the class above the teacher's page, if they are revealed. Called like `show`.
        show_join, show_open: draw the parts of the page Lessons.
    """

    parameters: tuple[str, ...] = ()
    follow: Callable[[bool], str] = lambda _: ""
    linked: Callable[[], dict[str, str]] = dict
    stop: Callable[[], int] = int
    teaches: Callable[[], bool | None] = _nothing
    phase: Callable[[int], Phase | None] = _nothing
    advance: Callable[[int, Phase], None] = _nothing
    hand_in: Callable[[int, Answer], None] = _nothing
    leave: Callable[[], None] = _nothing
    warn: Callable[[], None] = _nothing
    show: Callable[[Lesson, int], None] = _nothing
    show_answers: Callable[[Lesson, int], None] = _nothing
    show_join: Callable[[], None] = _nothing
    show_open: Callable[[], None] = _nothing

    @property
    def offered(self) -> bool:
        """Whether this server has classes."""
        return bool(self.parameters)


_companions = [Companion()]


def companion() -> Companion:
    """The companion of all lessons of this process."""
    return _companions[-1]


def accompany(by: Companion) -> None:
    """Set the companion of all lessons."""
    _companions.append(by)
