"""What accompanies an open lesson. Class mode replaces it, if this server has classes (`pages.lessons`)."""

from pages.lessons.content.lesson import Lesson
from pages.lessons.content.lesson_answers import Answer


class Companion:
    """The companion of a lesson that is taken alone: it does nothing.

    Attributes:
        parameters: names of its parameters in the address.
    """

    parameters: tuple[str, ...] = ()

    def follow(self, keep_problem: bool) -> str:
        """Read the address. Returns the name of the lesson that it opens; empty for that of the address.

        Args:
            keep_problem: whether an earlier warning stays, if the address gives no reason for one.
        """
        return ""

    def linked(self) -> dict[str, str]:
        """Its parameters for links."""
        return {}

    def teaches(self) -> bool | None:
        """Whether this session teaches the others who take the lesson; None if it takes the lesson alone."""
        return None

    def hand_in(self, stop: int, answer: Answer) -> None:
        """Take the answers to the question of a stop, counted from 0."""

    def leave(self) -> None:
        """Take the lesson alone from now on."""

    def warn(self) -> None:
        """Draw a warning, if there is one. Called above the bar of the lesson, and without a lesson, too."""

    def show(self, lesson: Lesson, index: int) -> None:
        """Draw its panel below the bar.

        Args:
            lesson: the open lesson.
            index: the stop, counted from 0; the number of stops at the end of the lesson.
        """

    def show_join(self) -> None:
        """Draw its first part of the page Lessons."""

    def show_open(self) -> None:
        """Draw its section of the page Lessons."""


_companion = Companion()


def companion() -> Companion:
    """The companion of all lessons of this process."""
    return _companion


def accompany(by: Companion) -> None:
    """Replace the companion of all lessons."""
    global _companion
    _companion = by
