"""The place of this session in a class: as a student, or as the teacher.

The address of a student has `class=CODE-number`. The number is random and identifies no person. After a reload of the page, it
makes the session the same student again. The address of the teacher has only `class=CODE`, because the class sees it on the
projector. The teacher's secret is stored in the teacher's tab (`pages.ui.tab_memory`). A session gets the secret from its tab,
or from the part of the teacher's link after the `#`, so no server receives the secret in an address. Therefore a session with
only a code asks its tab for a secret before it joins the class as a student (`class_panel`).
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
# for a secret; and code → secret, for the classes that this session teaches.
SEAT, PROBLEM, WAITING, SECRETS = "class_seat", "class_problem", "class_waiting", "class_secrets"
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


def seat() -> Seat | None:
    """The place of this session; None outside a class."""
    return st.session_state.get(SEAT)


def class_code() -> str:
    """The code of the class in which the session has a place, or will have one as soon as its browser tab has said whether it
    knows the teacher's secret; empty outside a class."""
    place = seat()
    return place.code if place else st.session_state.get(WAITING) or ""


def linked_class() -> dict[str, str]:
    """The parameter that keeps the session in its class when a link is followed; empty outside a class."""
    place, code = seat(), class_code()
    written = f"{code}-{place.student}" if place and place.student else code
    return {CLASS: written} if written else {}


def follow_class(keep_problem: bool) -> str:
    """Give the session the place in a class that its address names. Returns the name of the class's lesson, even if the class
    is full; empty if there is no such class. `keep_problem` keeps an earlier error of joining a class, if the address names no
    class."""
    state, asked = st.session_state, st.query_params.get(CLASS, "") if CLASSES else ""
    before, problem = seat(), state.get(PROBLEM)
    if not asked:
        take_seat()
        state[PROBLEM] = problem if keep_problem else None
        return ""
    written = WRITTEN.fullmatch(asked.upper() if len(asked) == CODE_LENGTH else asked)
    code, student = written.groups() if written else (asked, None)
    lesson, known = "", state.get(SECRETS, {}).get(code, "")
    before = before if before and before.code == code else None
    try:
        lesson = classes().lesson_of(code, before.student if before else student or "", client())
        if before:
            enter(code, before.student, before.secret)
        elif student or known or recalled(memory_name(code)):
            enter(code, student, known)
        else:
            take_seat()
            state[WAITING] = code
    except LessonError as error:
        refuse(error)
    return lesson


def join(typed: str) -> str:
    """Join the class whose code was typed. Returns the name of its lesson.

    Raises:
        LessonError: no open class has this code, the class is full, or there were too many attempts from this address.
    """
    code = re.sub(r"[\s-]", "", typed).upper()
    lesson = classes().lesson_of(code, "", client())
    enter(code, None, "")
    return lesson


def client() -> str:
    """The internet address of the visitor, for limits. Of a long address (IPv6) this is only the first half, because one
    visitor can use all addresses that begin with it. Empty on the machine that runs the app."""
    address = st.context.ip_address or ""
    try:
        number = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    return str(number.ipv4_mapped or ipaddress.IPv6Network((number, 64), strict=False))


def enter(code: str, student: str | None, secret: str) -> None:
    """Take the teacher's place if the secret is right, or else a student's.

    The session has its place before the class counts it: Streamlit can end a run wherever it writes to the session, and the
    next run would join as another student. A student who is counted already is not counted again.

    Raises:
        LessonError: no open class has this code, the class is full, or there were too many attempts from this address.
    """
    if classes().teaches(code, secret):
        take_seat(Seat(code, secret=secret))
        return
    place = Seat(code, student or secrets.token_urlsafe(6))
    take_seat(place)
    classes().join(code, place.student, client())


def take_seat(place: Seat | None = None) -> None:
    """Give this session a place in a class. With None, the session leaves its class."""
    state = st.session_state
    state[SEAT], state[PROBLEM], state[WAITING] = place, None, None
    if place and place.secret:
        state.setdefault(SECRETS, {})[place.code] = place.secret


def refuse(error: LessonError) -> None:
    """Note why the class in the address could not be joined."""
    take_seat()
    st.session_state[PROBLEM] = error


def memory_name(code: str) -> str:
    """The name of the teacher's secret in the tab, and in the teacher's link."""
    return f"teacher-{code}"


def teaches_class() -> bool | None:
    """Whether this session teaches its class; None outside a class, and after its end."""
    place, code = seat(), class_code()
    return bool(place and place.secret) if code and classes().place(code) else None


def class_stop() -> int:
    """The index of the stop that the teacher of the session's class shows; 0 outside a class."""
    now = classes().place(class_code())
    return now[0] if now else 0


def class_phase(stop: int) -> Phase | None:
    """The phase, in the session's class, of the question at the lesson's stop with the index `stop`; None outside a class."""
    code = class_code()
    return classes().phase(code, stop) if code else None
