"""The place of this session in a class: as a student, or as the teacher.

The URL has only the code, `class=CODE`, because people share URLs, and the class sees the teacher's on the projector. The
browser's tab stores the rest (`pages.ui.tab_memory`): the teacher's secret, or a student's answers and random number, which
identifies no person. With it, the session is the teacher or the same student again after a reload of the page. The teacher's
link has the secret after its `#`, so no server receives it in a URL. A session with only a code asks its tab for a number or a
secret before it joins the class as a new student (`class_panel`).
"""

import ipaddress
import re
import secrets
from typing import NamedTuple

import streamlit as st

from pages.lessons.class_mode.classes import ALPHABET, CODE_LENGTH, classes
from pages.lessons.content.lesson import LessonError, Phase
from pages.ui.limits import CLASSES
from pages.ui.tab_memory import recalled

# Name of the parameter in the address.
CLASS = "class"
# Session keys: a `Seat`; the error if the class in the address cannot be joined; the code of a class for which the tab is asked
# for a secret; code → `Seat`, for the classes in which this session has, or had, a place; the code of a class that cannot be
# joined.
SEAT, PROBLEM, WAITING, SEATS, MISSED = "class_seat", "class_problem", "class_waiting", "class_seats", "class_missed"
# The number of a student. Older links have it behind the code, where it is ignored.
NUMBER = r"[A-Za-z0-9_-]{8}"
WRITTEN = re.compile(rf"([{ALPHABET}]{{{CODE_LENGTH}}})(?:-{NUMBER})?")


class Seat(NamedTuple):
    """A session's place in a class, as a student or as the teacher.

    Attributes:
        code: the code of the class.
        student: the random number of the student; empty for the teacher.
        secret: the secret of the teacher; empty for a student.
    """

    code: str
    student: str = ""
    secret: str = ""

    @property
    def kept(self) -> str:
        """The student's number or the teacher's secret, which the browser's tab stores."""
        return self.student or self.secret


def seat() -> Seat | None:
    """The place of this session in a class, as a student or as the teacher; None outside a class."""
    return st.session_state.get(SEAT)


def class_code() -> str:
    """The code of the session's class, also while the session still waits for its browser tab to report the student's number or
    the teacher's secret; empty outside a class."""
    place = seat()
    return place.code if place else st.session_state.get(WAITING) or ""


def linked_class() -> dict[str, str]:
    """The URL parameter that keeps the session in its class when a link is followed, as a dict; empty outside a class."""
    code = class_code()
    return {CLASS: code} if code else {}


def follow_class(keep_problem: bool) -> str:
    """Give the session the place in a class that its URL names, or leave the class if the URL names no class. Returns the name
    of the class's lesson, even if the class is full; empty if there is no such class. If the URL names no class, `keep_problem`
    keeps the error of an earlier attempt to join."""
    state, asked = st.session_state, st.query_params.get(CLASS, "") if CLASSES else ""
    problem = state.get(PROBLEM)
    state[MISSED] = ""
    if not asked:
        take_seat()
        state[PROBLEM] = problem if keep_problem else None
        return ""
    written = WRITTEN.fullmatch(asked.upper() if len(asked) == CODE_LENGTH else asked)
    code, lesson = written[1] if written else asked, ""
    before = state.get(SEATS, {}).get(code, Seat(code))
    try:
        lesson = classes().lesson_of(code, before.student, client())
        if before.kept or recalled(memory_name(code)):
            enter(code, before.kept)
        else:
            take_seat()
            state[WAITING] = code
    except LessonError as error:
        refuse(error)
        state[MISSED] = code if written else ""
    return lesson


def join(typed: str) -> str:
    """Join the class with the code `typed`. Returns the name of its lesson.

    Raises:
        LessonError: no open class has this code, the class is full, or there were too many attempts from this IP address.
    """
    code = re.sub(r"[\s-]", "", typed).upper()
    before = st.session_state.get(SEATS, {}).get(code, Seat(code))
    lesson = classes().lesson_of(code, before.student, client())
    enter(code, before.kept)
    return lesson


def client() -> str:
    """The part of the visitor's IP address by which limits count (`network_of`). Empty on the machine that runs the app."""
    return network_of(st.context.ip_address or "")


def network_of(address: str) -> str:
    """The part of an IP address that identifies a visitor for limits: of a long address (IPv6) the first half, because one
    visitor can use all addresses that begin with it; otherwise the whole address."""
    try:
        number = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    return str(number.ipv4_mapped or ipaddress.IPv6Network((number, 64), strict=False))


def enter(code: str, kept: str) -> None:
    """Make this session the teacher of a class if `kept` is the teacher's secret, otherwise a student with the number `kept`.
    If `kept` is not the number of a student either, the student is new.

    The session has its place before the class counts it: Streamlit can end a run wherever it writes to the session, and the
    next run would join as another student. A student who is counted already is not counted again.

    Raises:
        LessonError: no open class has this code, the class is full, or there were too many attempts from this IP address.
    """
    if classes().teaches(code, kept):
        take_seat(Seat(code, secret=kept))
        return
    place = Seat(code, kept if re.fullmatch(NUMBER, kept) else secrets.token_urlsafe(6))
    take_seat(place)
    classes().join(code, place.student, client())


def take_seat(place: Seat | None = None) -> None:
    """Give this session a place in a class. With None, the session leaves its class."""
    state = st.session_state
    if place:
        state.setdefault(SEATS, {})[place.code] = place
    state[SEAT], state[PROBLEM], state[WAITING] = place, None, None


def refuse(error: LessonError) -> None:
    """Leave the session's class, if any, and store the `error` that says why the URL's class could not be joined."""
    take_seat()
    st.session_state[PROBLEM] = error


def memory_name(code: str) -> str:
    """The name of a student's number or the teacher's secret in the storage of the browser's tab and in the teacher's link."""
    return f"class-{code}"


def teaches_class() -> bool | None:
    """Whether this session teaches its class; None outside a class, and after its end."""
    place, code = seat(), class_code()
    return bool(place and place.secret) if code and classes().place(code) else None


def class_stop() -> int:
    """The index, from 0, of the lesson's stop (step) that the teacher of the session's class shows; 0 outside a class."""
    now = classes().place(class_code())
    return now[0] if now else 0


def class_phase(stop: int) -> Phase | None:
    """The phase of the question at the lesson's stop (step) with this index, in the session's class; None outside a class."""
    code = class_code()
    return classes().phase(code, stop) if code else None
