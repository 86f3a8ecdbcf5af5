"""The place of this session in a class: a student's, or the teacher's.

The address of a student has `class=CODE-number`. The number is random and stands for nobody; with it, a page that is loaded
again stays the same student. The address of the teacher has `class=CODE` alone, because a class sees it on the projector; the
secret comes from the teacher's link, and is then in the session and in the storage of the teacher's tab (bar.js), so that the
page can be loaded again.
"""

import re
import secrets
from typing import NamedTuple

import streamlit as st

from pages.shell.lessons.answers import Answer
from pages.shell.lessons.classes import ALPHABET, CODE_LENGTH, classes
from pages.shell.lessons.lesson import LessonError

# Names of the parameters in the address.
CLASS, TEACHER = "class", "teacher"
# Session keys: a `Seat`, and the error of an address whose class cannot be joined.
SEAT, PROBLEM = "class_seat", "class_problem"
WRITTEN = re.compile(rf"([{ALPHABET}]{{{CODE_LENGTH}}})(?:-([A-Za-z0-9_-]{{8}}))?")


class Seat(NamedTuple):
    """A place in a class.

    Attributes:
        code: of the class.
        student: the number of the student; empty for the teacher.
        secret: of the teacher; empty for a student.
    """

    code: str
    student: str = ""
    secret: str = ""

    @property
    def written(self) -> str:
        """The value of the parameter `class`."""
        return f"{self.code}-{self.student}" if self.student else self.code


def seat() -> Seat | None:
    """The place of this session; None if it is in no class."""
    return st.session_state.get(SEAT)


def class_problem() -> LessonError | None:
    """Why the class in the address could not be joined; None without a problem."""
    return st.session_state.get(PROBLEM)


def linked_class() -> dict[str, str]:
    """The parameter of a link that stays in the class; empty without one."""
    place = seat()
    return {CLASS: place.written} if place else {}


def follow_class(keep_problem: bool) -> str:
    """Take the place that the address has. Returns the lesson of the class by its name, also if it is full; empty if there
    is no class.

    Args:
        keep_problem: whether a class that could not be joined before is still said, if the address has none.
    """
    state, query = st.session_state, st.query_params
    asked, secret = query.get(CLASS, ""), query.get(TEACHER, "")
    if TEACHER in query:
        del query[TEACHER]
    before, problem, state[SEAT], state[PROBLEM] = seat(), class_problem(), None, None
    if not asked:
        state[PROBLEM] = problem if keep_problem else None
        return ""
    written = WRITTEN.fullmatch(asked.upper() if len(asked) == CODE_LENGTH else asked)
    code, student = written.groups() if written else (asked, None)
    lesson = ""
    try:
        lesson = classes().lesson_of(code)
        if before and before.code == code:
            state[SEAT] = before
        else:
            state[SEAT] = Seat(code, secret=secret) if classes().teaches(code, secret) else _joined(code, student)
    except LessonError as error:
        state[PROBLEM] = error
    return lesson


def join(typed: str) -> tuple[Seat, str]:
    """A place in the class whose code was typed, and the name of its lesson.

    Raises:
        LessonError: no open class has this code, or it is full.
    """
    code = re.sub(r"[\s-]", "", typed).upper()
    lesson = classes().lesson_of(code)
    return _joined(code, None), lesson


def _joined(code: str, student: str | None) -> Seat:
    place = Seat(code, student or secrets.token_urlsafe(6))
    classes().join(code, place.student)
    return place


def teach(secret: object) -> None:
    """Make the student of this session the teacher, if it has the secret. The value is untrusted.

    A teacher's page that is loaded again joins as a student first; then its browser sends what the tab has kept.
    """
    place = seat()
    if place and isinstance(secret, str) and classes().teaches(place.code, secret):
        classes().leave(place.code, place.student)
        take_seat(Seat(place.code, secret=secret))


def take_seat(place: Seat | None) -> None:
    """Take a place in a class, or leave the one that this session has."""
    st.session_state[SEAT], st.session_state[PROBLEM] = place, None


def hand_in(stop: int, answer: Answer) -> None:
    """Give the class the answers of a student to a question; nothing without a class.

    Args:
        stop: of the question, counted from 0.
        answer: the answers. Those at the end of the lesson are not the class's.
    """
    place = seat()
    if place and place.student:
        for given in (answer.first, answer.before_end):
            classes().answer(place.code, place.student, stop, given)
