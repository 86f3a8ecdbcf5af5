"""The open lesson: its name, the stop and the answers.

All of this is in the URL of every page, except the answers and marks in a class: students share their addresses there, so these
are in the browser's tab (`class_panel`). The server stores none of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import streamlit as st

from pages.lessons.class_mode.seat import CLASS, class_code, class_stop, follow_class, linked_class, take_seat, teaches_class
from pages.lessons.content.lesson import Lesson, LessonError
from pages.lessons.content.lesson_answers import Answer, parse, write
from pages.lessons.content.library import lesson_of, shipped
from pages.lessons.content.reading import RESERVED
from pages.lessons.content.stop_views import view_of
from pages.shell.frame.body import DRAWN
from pages.shell.frame.navigation import address, exists
from pages.ui.compat import opens_from_history
from pages.ui.link_values import keep_in_links
from pages.ui.pickers import linked_whole
from pages.ui.prediction_codec import Cells, read_cells, written_cells
from pages.ui.presenting import PRESENT
from pages.ui.text import linked_language
from transformer import HeadlightError

# Names of the parameters in the address.
NAME, STOP, ANSWERS, MARKED = "lesson", "lesson_stop", "answers", "marked"
PARAMETERS = (NAME, STOP, ANSWERS, MARKED, CLASS)
# Names of parameters that are no part of a page's view.
OUTSIDE_VIEW = frozenset({*RESERVED, PRESENT})
# The lesson that Home offers to a first visitor.
FIRST_LESSON = "first-look"
# Session key of an `OpenLesson`.
OPEN = "open_lesson"
# Session keys: the address of the page from which the lesson was opened; the lesson that was left last, an `OpenLesson`.
FROM, LEFT = "lesson_from", "lesson_left"
# Value of the answers in a link that starts a lesson again.
NONE = "0"
LONGEST_MARKED = 40  # characters


@dataclass(frozen=True)
class OpenLesson:
    """The state of the open lesson.

    Attributes:
        name: the lesson's name in a URL.
        stop: the current stop (step), counted from 0. At the end of the lesson, the number of stops.
        answers: stop → the answers to its question.
        marked: positions of the tokens that are marked and not yet checked.
        started: whether a button has just started the lesson, so that the browser must open its first stop.
        viewless: whether the URL that opened the lesson has no page settings, so that the browser must open the stop's.
    """

    name: str
    stop: int = 0
    answers: Mapping[int, Answer] = field(default_factory=dict)
    marked: Cells = ()
    started: bool = False
    viewless: bool = False

    @property
    def parameters(self) -> dict[str, str]:
        """The URL parameters of the lesson and of its class, by name."""
        given = {ANSWERS: write(self.answers)} | ({MARKED: written_cells(self.marked)} if self.marked else {})
        return {NAME: self.name, STOP: str(self.stop + 1), **({} if class_code() else given), **linked_class()}


def open_lesson() -> OpenLesson | None:
    """The state of this session's open lesson; None if no lesson is open."""
    return st.session_state.get(OPEN)


def lesson_in_class(opened: OpenLesson) -> Lesson:
    """The lesson whose state is `opened`. In a class, its `discuss` is True: answers are discussed before they are judged."""
    lesson = lesson_of(opened.name)
    return lesson if teaches_class() is None else replace(lesson, discuss=True)


def follow_lesson() -> bool:
    """Read the open lesson from the URL in the first run of a session and after Back or Forward, and write its parameters to
    the URL in every run. Returns whether a lesson is open. Call it once in a run of the app, before the sidebar."""
    state, query = st.session_state, st.query_params
    if OPEN not in state or opens_from_history():
        before = open_lesson()
        # The bar opens the view of a lesson's first stop by itself. The warning about the class must stay when
        # that view is opened.
        of_class = follow_class(before is not None and query.get(STOP) == before.parameters[STOP])
        if of_class and query.get(NAME, of_class) != of_class:  # the class has another lesson than the address
            for parameter in (STOP, ANSWERS, MARKED):
                query.pop(parameter, None)
        name = of_class or query.get(NAME, "")
        # The teacher's link names no stop. It must not lead the class back to the first one.
        stop = linked_whole(query.get(STOP), class_stop() + 1, 1) - 1
        answers, marked = parse(query.get(ANSWERS, "")), read_cells(query.get(MARKED, "")[:LONGEST_MARKED]) or ()
        if class_code():  # those in a link are another student's
            answers, marked = {}, before.marked if before and (before.name, before.stop) == (name, stop) else ()
        if before and before.name == name and query.get(ANSWERS) != NONE:  # the link can be older than the last answer
            answers |= before.answers
        # Computed here, before a page writes its own view to the address.
        viewless = OUTSIDE_VIEW.issuperset(query)
        _open(OpenLesson(name, stop, answers, marked, viewless=viewless) if name else None)
    publish()
    return open_lesson() is not None


def _open(opened: OpenLesson | None) -> None:
    """Open a lesson, or close it. Notes where the visitor came from, or which lesson was left."""
    state, before = st.session_state, open_lesson()
    if opened and not before:
        state[FROM] = state.get(DRAWN, ".")
    if before and not opened:
        state[LEFT] = before
    state[OPEN] = opened


def left_lesson() -> tuple[OpenLesson, Lesson] | None:
    """The state in which the visitor left a lesson, and this lesson. None while a lesson is open, if no lesson was left or the
    lesson no longer exists, or if it was left at its first stop or at its end."""
    left: OpenLesson | None = st.session_state.get(LEFT)
    if left is None or open_lesson():
        return None
    try:
        lesson = lesson_of(left.name)
    except LessonError:
        return None
    return (left, lesson) if 0 < left.stop < len(lesson.stops) else None


def publish() -> None:
    """Write the parameters of the open lesson to the URL, and keep them in the links of the app."""
    opened = open_lesson()
    # The parameter `answers` is kept even if it is empty, because answers may be given before a link is followed.
    values = opened.parameters if opened else {}
    keep_in_links(values)
    for name in PARAMETERS:
        if values.get(name):
            if st.query_params.get(name) != values[name]:
                st.query_params[name] = values[name]
        elif name in st.query_params:
            del st.query_params[name]


def first_lesson() -> tuple[Lesson, int, Callable[[], None]] | None:
    """The lesson that was left, or else the lesson for a first visit. The second value is the index of the stop (step) to open,
    the third the callback of a button that opens it. None while a lesson is open, or if the lesson is not shipped."""
    if left := left_lesson():
        opened, lesson = left
        return lesson, opened.stop, partial(continue_lesson, opened)
    first = shipped().get(FIRST_LESSON)
    return None if first is None or open_lesson() else (first, 0, partial(start_lesson, FIRST_LESSON))


def start_address(name: str, lesson: Lesson) -> str:
    """The relative URL of a lesson's first stop. Opening it deletes earlier answers."""
    return address_of_stop(OpenLesson(name), lesson, 0, {ANSWERS: NONE})


def start_lesson(name: str, alone: bool = True) -> None:
    """Open a lesson, by its name in a URL, at its first stop and without answers. If `alone`, the session leaves its class.
    Call it from a callback only."""
    if alone:
        take_seat()
    _open(OpenLesson(name, started=True))
    st.rerun()  # all of the app: the bar is not in the page


def follow(stop: int) -> None:
    """Move the open lesson to a stop (step), counted from 0, and let the browser open the page of the stop."""
    opened = open_lesson()
    if opened:
        st.session_state[OPEN] = replace(opened, stop=stop, marked=(), started=True)


def continue_lesson(left: OpenLesson) -> None:
    """Open a lesson that was left, at the stop where it was left. Call it from a callback only."""
    _open(replace(left, started=True))
    st.rerun()  # all of the app: the bar is not in the page


def address_of_stop(opened: OpenLesson, lesson: Lesson, index: int, others: Mapping[str, str] | None = None) -> str:
    """The relative URL of the lesson's stop (step) `index`, from 0. For the number of stops, the URL of the lesson's end, which
    has the last stop's page. `others` replace URL parameters."""
    stop = lesson.stops[min(index, len(lesson.stops) - 1)]
    try:
        view = view_of(stop)
    except HeadlightError:
        view = dict(stop.view)
    marked = opened.marked if index == opened.stop else ()
    query = linked_language() | view | replace(opened, stop=index, marked=marked).parameters
    return address(stop.page if exists(stop.page) else "home", {**query, **(others or {})})
