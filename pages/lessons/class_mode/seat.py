"""The place of this session in a class: that of a student, or that of the teacher.

The address of a student has `class=CODE-number`. The number is random and identifies no person. After a reload of the page, it
makes the session the same student again. The address of the teacher has only `class=CODE`, because the class sees it on the
projector. The teacher's secret comes from the teacher's link. It is then stored in the session, and in the teacher's tab
(bar.js) so that the page can be loaded again.
"""

import re
import secrets
from typing import NamedTuple

import streamlit as st

from pages.lessons.class_mode.classes import ALPHABET, CODE_LENGTH, classes
from pages.lessons.content.lesson import LessonError
from pages.lessons.content.lesson_answers import Answer

# Names of the parameters in the address.
CLASS, TEACHER = "class", "teacher"
# Session keys: a `Seat`, and the error if the class in the address cannot be joined.
SEAT, PROBLEM = "class_seat", "class_problem"
WRITTEN = re.compile(rf"([{ALPHABET}]{{{CODE_LENGTH}}})(?:-([A-Za-z0-9_-]{{8}}))?")


class Seat(NamedTuple):
    """A place in a class.

    Attributes:
        code: the code of the class.
        student: the random number of the student; empty for the teacher.
        secret: the secret of the teacher; empty for a student.
    """

    code: str
    student: str = ""
    secret: str = ""

    @property
    def written(self) -> str:
        """The value of the parameter `class`."""
        return f"{self.code}-{self.student}" if self.student else self.code


def seat() -> Seat | None:
    """The place of this session; None outside a class."""
    return st.session_state.get(SEAT)


def class_problem() -> LessonError | None:
    """The error if the class in the address could not be joined; otherwise None."""
    return st.session_state.get(PROBLEM)


def linked_class() -> dict[str, str]:
    """The parameter that keeps the session in its class when a link is followed; empty outside a class."""
    place = seat()
    return {CLASS: place.written} if place else {}


def follow_class(keep_problem: bool) -> str:
    """Give the session the place in a class that its address names. Returns the name of the class's lesson, even if the class
    is full; empty if there is no such class.

    Args:
        keep_problem: whether to keep an earlier error of joining a class, if the address names no class.
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
    """Join the class whose code was typed. Returns the place in the class, and the name of its lesson.

    Raises:
        LessonError: no open class has this code, or the class is full.
    """
    code = re.sub(r"[\s-]", "", typed).upper()
    lesson = classes().lesson_of(code)
    return _joined(code, None), lesson


def _joined(code: str, student: str | None) -> Seat:
    place = Seat(code, student or secrets.token_urlsafe(6))
    classes().join(code, place.student)
    return place


def teach(secret: object) -> None:
    """Make this session the teacher if the secret is right. The value is untrusted.

    A teacher's page that is loaded again joins as a student first. Then its browser sends the secret that the tab has stored.
    """
    place = seat()
    if place and isinstance(secret, str) and classes().teaches(place.code, secret):
        classes().leave(place.code, place.student)
        take_seat(Seat(place.code, secret=secret))


def take_seat(place: Seat | None) -> None:
    """Give this session a place in a class. With None, the session leaves its class."""
    st.session_state[SEAT], st.session_state[PROBLEM] = place, None


def hand_in(stop: int, answer: Answer) -> None:
    """Send the answers of a student to the class. Nothing happens outside a class.

    Args:
        stop: the stop of the question, counted from 0.
        answer: the answers. The answer at the end of the lesson is not sent.
    """
    place = seat()
    if place and place.student:
        for given in (answer.first, answer.before_end):
            classes().answer(place.code, place.student, stop, given)
