"""Classes: the store with its limits, the pages of teacher and student, and thirty sessions that answer at once."""

import asyncio
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest
import segno
import streamlit as st
from markupsafe import escape
from playwright.sync_api import BrowserContext, Page, expect
from streamlit.testing.v1 import AppTest

from benchmarks.app_server import ROOT
from benchmarks.session import At, Session
from pages.lessons.class_mode import class_tables, classes, invitation, seat
from pages.lessons.class_mode.classes import ALPHABET, CODE_LENGTH, Classes, Given, Tally
from pages.lessons.content import app_address
from pages.lessons.content.grading import right_option
from pages.lessons.content.lesson import Lesson, LessonError, Phase, Question, Stop, Truth
from pages.lessons.content.lesson_answers import Answer
from pages.lessons.content.library import shipped
from pages.lessons.content.truths import truth_of
from pages.lessons.playing import lesson_bar
from pages.lessons.playing.answering import KEY
from pages.lessons.playing.class_panel import INVITE
from pages.lessons.playing.open_lesson import OPEN
from pages.ui import tab_memory
from pages.ui.limits import CLASS_ANSWERS, CLASS_JOINS, CLASS_MINUTES, CLASS_STUDENTS, LESSON_STOPS
from pages.ui.limits import CLASSES as MOST_CLASSES
from pages.ui.text import text
from tests.pages.apps import HOME, Tab, on_page, shown
from tests.pages.lessons.bar import bar
from tests.pages.visitor import Visitor

PAGE = "pages/lessons/page.py"
LESSON = "first-look"
# A stop of this lesson with a question that has options, counted from 0.
STOP = next(index for index, stop in enumerate(shipped()[LESSON].stops) if stop.question and stop.question.kind == "choose")
WORDS = text("lesson")["class"]
ONE = Given("1", "1")


class Clock:
    """A clock in seconds that only a test changes."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Classes:
    """A store of classes for one test."""
    store = Classes(clock)
    monkeypatch.setattr(classes, "_SHARED", store)
    return store


class RunEndedError(Exception):
    """Streamlit ends a run to begin the next."""


class SessionOfEndedRun(dict[str, Any]):
    """The state of a session whose run ends at one of its writes."""

    def __init__(self, writes: int) -> None:
        self.left = writes

    def __setitem__(self, name: str, value: object) -> None:
        self.left -= 1
        if self.left == -1:
            raise RunEndedError
        super().__setitem__(name, value)


@pytest.fixture
def tab(monkeypatch: pytest.MonkeyPatch) -> Tab:
    """The tab of the browser for all sessions of a test. Without a secret in it, they are students."""
    tab = Tab()
    monkeypatch.setattr(tab_memory, "_mount", tab.mount)
    return tab


def as_teacher(tab: Tab, code: str, secret: str, **query: str) -> AppTest:
    """The page of a stop, opened with the teacher's link."""
    tab.storage[seat.memory_name(code)] = ("", secret)
    app = on_page(HOME, **{"class": code, "lesson_stop": str(STOP + 1), **query})
    tab.storage.clear()
    return app


def tally_of(store: Classes, code: str, stop: int, secret: str = "") -> Tally:
    tally = store.tally(code, stop, secret)
    assert tally is not None
    return tally


# --- the store ---------------------------------------------------------------------------------------------------------------


def test_first_and_last_answers_are_counted_and_only_the_teacher_sees_them(store: Classes) -> None:
    code, secret = store.open(LESSON)
    assert re.fullmatch(f"[{ALPHABET}]{{{CODE_LENGTH}}}", code)
    for student, answers in {"a": ["1", "2"], "b": ["2"], "c": ["2", "3", "2"], "d": []}.items():
        store.join(code, student, "")
        store.join(code, student, "")  # as after a reload of the page
        assert all(store.answer(code, student, 4, Given(given, given)) for given in answers)
    hidden = Tally(joined=4, answered=3, changed=0, phase=Phase.VOTE, first={}, last={})
    seen = Tally(joined=4, answered=3, changed=1, phase=Phase.VOTE, first={"1": 1, "2": 2}, last={"2": 3})
    for wrong in ("", "x", code, secret[:-1], "é"):
        assert store.tally(code, 4, wrong) == hidden
        store.advance(code, wrong, 4, Phase.REVEAL)
        store.go(code, wrong, 4)
        store.close(code, wrong)
        assert store.seats(code, wrong) == []
    assert store.tally(code, 4, secret) == seen
    assert store.place(code) == (0, Phase.VOTE)
    store.go(code, secret, 4)
    for phase in (Phase.TALK, Phase.AGAIN):
        store.advance(code, secret, 4, phase)
        assert store.place(code) == (4, phase)
        assert store.tally(code, 4) == hidden._replace(phase=phase)
    store.advance(code, secret, 4, Phase.REVEAL)
    store.advance(code, secret, 4, Phase.TALK)  # a late click of another screen
    assert store.tally(code, 4) == seen._replace(phase=Phase.REVEAL)
    assert not store.answer(code, "d", 4, ONE)
    assert store.seats(code, secret) == [{4: Given("1", "2")}, {4: Given("2", "2")}, {4: Given("2", "2")}, {}]
    assert tally_of(store, code, 3, secret).answered == 0
    store.close(code, secret)
    assert store.tally(code, 4, secret) is None


def test_a_class_ends_when_nobody_has_used_it_for_its_time(store: Classes, clock: Clock) -> None:
    code, secret = store.open(LESSON)
    store.join(code, "a", "")
    for _ in range(3):
        clock.now += 60.0 * CLASS_MINUTES
        assert store.answer(code, "a", 0, ONE)
    clock.now += 60.0 * CLASS_MINUTES + 1
    assert store.tally(code, 0, secret) is None
    assert not store.answer(code, "a", 0, ONE)
    assert not store.teaches(code, secret)
    with pytest.raises(LessonError, match=f"no class {code} here"):
        store.join(code, "b", "")
    assert not store._classes


def test_classes_students_and_answers_beyond_the_limits_are_refused(store: Classes, clock: Clock) -> None:
    code, secret = store.open(LESSON)
    for number in range(CLASS_STUDENTS):
        store.join(code, str(number), str(number))
    with pytest.raises(LessonError, match=f"is full: it has {CLASS_STUDENTS} students"):
        store.join(code, "one more", "")
    store.join(code, "0", "")
    taken = [store.answer(code, str(number), stop, ONE) for stop in range(LESSON_STOPS) for number in range(CLASS_STUDENTS)]
    assert sum(taken) == CLASS_ANSWERS < len(taken)
    assert tally_of(store, code, 0).full
    assert store.answer(code, "0", 0, Given("2", "2"))  # an answer can still be changed
    assert tally_of(store, code, 0, secret).last == {"1": CLASS_STUDENTS - 1, "2": 1}
    for student, stop, given in [("x", 0, "1"), ("0", -1, "1"), ("0", LESSON_STOPS, "1"), ("0", 0, ""), ("0", 0, "1" * 41)]:
        assert not store.answer(code, student, stop, Given("1", given))
    others = [store.open(LESSON) for _ in range(MOST_CLASSES - 1)]
    clock.now = 500.0
    tally_of(store, code, 0)
    with pytest.raises(LessonError, match=f"has {MOST_CLASSES} classes, as many as it can. Try again in"):
        store.open(LESSON)
    clock.now = 601.0  # the other classes had no request for so long that one is dropped
    newest, _ = store.open(LESSON)
    assert store.tally(code, 0) is not None
    assert [store.tally(other, 0) for other, _ in others].count(None) == 1
    assert store.tally(newest, 0) is not None


def test_one_address_can_seat_a_classroom_in_a_minute_but_not_thousands(store: Classes, clock: Clock) -> None:
    code, _ = store.open(LESSON)
    for number in range(60):
        assert store.lesson_of(code, "", "router") == LESSON
        store.join(code, str(number), "router")
    for _ in range(CLASS_JOINS - 60):  # wrong codes count, too
        with pytest.raises(LessonError, match="There is no class"):
            store.lesson_of("ABCDEF", "", "router")
    for guess in ("ABCDEF", code):
        with pytest.raises(LessonError, match=f"{CLASS_JOINS} people tried to join a class in a minute"):
            store.lesson_of(guess, "", "router")
    with pytest.raises(LessonError, match="Try again in the next minute"):
        store.join(code, "one more", "router")
    # Students who have a seat can load the page again, and other addresses are not affected.
    assert store.lesson_of(code, "5", "router") == LESSON
    store.join(code, "5", "router")
    store.join(code, "elsewhere", "other")
    clock.now = 60.0
    store.join(code, "one more", "router")
    assert tally_of(store, code, 0).joined == 62


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("", ""),
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("unix:", "unix:"),
    ],
)
def test_the_address_of_a_visitor_is_limited_by_its_network(address: str, counted: str) -> None:
    assert seat.network_of(address) == counted


def visit() -> None:
    """A run of a page that follows the class of its address, after its visitor has typed a code."""
    import streamlit as st

    from pages.lessons.class_mode import seat

    if typed := st.session_state.pop("typed", ""):
        seat.join(typed)
    st.session_state["lesson"] = seat.follow_class(False)


def visited(app: AppTest, typed: str = "", **query: str) -> tuple[str, seat.Seat | None]:
    """The lesson and the seat of a session after a run at an address."""
    app.query_params = {**query}
    app.session_state["typed"] = typed
    app.run()
    assert not app.exception
    return app.session_state["lesson"], app.session_state[seat.SEAT]


@pytest.mark.parametrize("writes", range(3))
def test_a_student_whose_run_ends_while_they_join_is_counted_once(
    store: Classes, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = store.open(LESSON)
    monkeypatch.setattr(seat.st, "session_state", SessionOfEndedRun(writes))
    with pytest.raises(RunEndedError):
        seat.join(code)
    seat.join(code)
    tally = store.tally(code, STOP)
    assert tally
    assert tally.joined == 1


@pytest.mark.parametrize("writes", [1, 2])
def test_a_student_who_has_a_place_but_was_not_counted_yet_is_counted_in_the_next_run(
    store: Classes, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _ = store.open(LESSON)
    monkeypatch.setattr(seat.st, "session_state", SessionOfEndedRun(writes))
    monkeypatch.setattr(seat.st, "query_params", {seat.CLASS: code})
    with pytest.raises(RunEndedError):
        seat.join(code)
    place = seat.seat()
    for _ in range(2):
        assert seat.follow_class(False) == LESSON
        assert seat.seat() == place
    tally = store.tally(code, STOP)
    assert tally
    assert tally.joined == 1


def test_the_last_student_whom_the_limit_permits_keeps_the_seat(store: Classes, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _ = store.open(LESSON)
    for number in range(CLASS_JOINS - 2):
        store.join(code, str(number), "")
    for _ in range(2):
        monkeypatch.setattr(seat.st, "session_state", {})
        monkeypatch.setattr(seat.st, "query_params", {seat.CLASS: code})
        seat.join(code)
        place = seat.seat()
        assert seat.follow_class(False) == LESSON  # in the next run
        assert seat.seat() == place
    with pytest.raises(LessonError, match=f"{CLASS_JOINS} people tried"):
        store.join(code, "one more", "")


def test_threads_lose_no_answer(store: Classes) -> None:
    code, secret = store.open(LESSON)

    def visit(number: int) -> None:
        store.join(code, str(number), str(number))
        for stop in range(20):
            for given in (str(1 + number % 3), str(1 + number % 4)):
                assert store.answer(code, str(number), stop, Given(given, given))

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(visit, range(120)))
    for stop in range(20):
        tally = tally_of(store, code, stop, secret)
        assert tally.first == Counter(str(1 + number % 3) for number in range(120))
        assert tally.last == Counter(str(1 + number % 4) for number in range(120))
    # As many answers as the limit leaves are taken, so all were counted.
    more = [store.answer(code, str(number), stop, ONE) for stop in range(20, LESSON_STOPS) for number in range(120)]
    assert sum(more) == CLASS_ANSWERS - 20 * 120 < len(more)


# --- the pages of teacher and student ----------------------------------------------------------------------------------------


def panel(app: AppTest) -> str:
    """The HTML and the captions of the page, which include the panel of the class."""
    html = [each.proto.body for each in app.get("html") if "<div" in each.proto.body]
    return " ".join([*html, *(caption.value for caption in app.main.caption)])


def code_of(app: AppTest) -> str:
    """The code in the address of a class."""
    codes = app.query_params["class"]
    return codes if isinstance(codes, str) else codes[0]


def is_open(store: Classes, code: str) -> bool:
    try:
        return bool(store.lesson_of(code, "", ""))
    except LessonError:
        return False


def rows(table: str) -> dict[str, tuple[int, int]]:
    """The rows of a tally: label → (first, last)."""
    found = re.findall(r'<th scope="row">(.*?)</th><td>.*?<b>(\d+)</b>.*?<b>(\d+)</b>', table)
    return {label: (int(first), int(last)) for label, first, last in found}


@pytest.mark.slow
def test_a_teacher_opens_a_class_and_students_join_by_code_and_by_link(
    store: Classes, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    teacher = on_page(PAGE, class_lesson=LESSON)
    teacher.button(key="open_class").click().run()
    assert not teacher.exception
    code = code_of(teacher)
    secret = teacher.session_state[seat.SEAT].secret
    assert secret not in str(teacher.query_params)  # the secret is not on the projector
    assert f"<strong>{code}</strong> 0 joined" in panel(teacher)
    assert any(code in markdown.value for markdown in teacher.main.markdown)
    teacher.button(key=INVITE).click().run()
    (link,) = (link for menu in teacher.get("popover") for link in menu.code)  # not on the screen that invites students
    assert link.value.partition("?")[2] == f"class={code}#class-{code}={secret}"
    assert len(teacher.code) == 1
    teacher.button(key="class_hide_code").click().run()
    assert tab.storage.pop(seat.memory_name(code))[1] == secret

    student = on_page(PAGE)
    student.text_input(key="class_code").set_value(f" {code[:3].lower()} {code[3:].lower()}")
    student.button(key="join_class").click().run()
    assert not student.exception
    tab.storage.clear()  # another student has another tab
    by_link = on_page(HOME, **{"class": code, "lesson_stop": str(STOP + 1)})
    number = by_link.session_state[seat.SEAT].student
    assert number not in str(by_link.query_params)  # a student's link is shared, too
    assert code_of(by_link) == code
    assert by_link.query_params["lesson"] in (LESSON, [LESSON])
    # A reload makes the session the same student again. Presenting does not give a student the notes for the teacher.
    again = on_page(HOME, **{"class": code, "lesson_stop": str(STOP + 1), "present": "1"})
    assert again.session_state[seat.SEAT].student == number
    assert bar(again)["notes"] is None
    assert not bar(again)["teaches"]
    teacher.run()
    assert "2 joined" in panel(teacher)

    # The answers have the form in which the bar sends them.
    store.answer(code, number, STOP, Given("1", "2"))
    on_stop = as_teacher(tab, code, secret)
    assert bar(on_stop)["teaches"]
    assert secret not in str(on_stop.query_params)
    assert "2 joined · 1 answered" in panel(on_stop)
    assert panel(on_stop).count('class="tally"') == panel(on_stop).count('<div class="for-notes"><div class="tally"') == 1
    lesson = shipped()[LESSON]
    notes = bar(on_stop)["notes"]
    assert notes["says"][0][2] in lesson.stops[STOP].notes
    assert notes["next"] == text("lesson")["bar"]["notes_next"].format(title=lesson.stops[STOP + 1].title)
    assert notes["planned"] == round(sum(stop.minutes for stop in lesson.stops[: STOP + 1]))
    assert "tally" not in panel(again.run())
    question = shipped()[LESSON].stops[STOP].question
    assert question
    assert bar(on_stop)["advance"] == {"stop": STOP + 1, "to": int(Phase.TALK)}
    assert not bar(on_stop)["next"]  # the answer is revealed before the next stop
    assert not bar(on_stop)["questions"][0]["open"]  # the teacher shows the options, and does not answer
    on_stop.button(key="class_reveal").click().run()
    assert not on_stop.exception
    assert store.phase(code, STOP) is Phase.REVEAL
    assert list(rows(panel(on_stop)).values())[:2] == [(1, 0), (0, 1)]
    assert len(rows(panel(on_stop))) == len(question.options)
    assert bar(on_stop)["next"]
    assert rows(panel(again.run())) == rows(panel(on_stop))

    large = as_teacher(tab, code, secret, present="1")
    assert rows(panel(large)) == rows(panel(on_stop))
    # The students see how to join, but not the link and the secret of the teacher.
    large.context["url"] = "https://school.example/headlight/"
    large.button(key="class_show_code").click().run()
    assert not large.code
    assert secret not in panel(large)
    joined = f"https://school.example/headlight/?class={code}"
    assert f'alt="QR code of {joined}" src="{escape(invitation.qr_picture(joined))}"' in panel(large)
    assert joined.removeprefix("https://") in panel(large)
    large.button(key="class_hide_code").click().run()
    assert "data:image" not in panel(large)

    for joined in range(2, CLASS_STUDENTS):
        store.join(code, str(joined), str(joined))
    tab.storage.clear()  # the next visitor has another tab
    full = on_page(HOME, **{"class": code})
    assert f"class {code} is full" in shown(full.warning[0].value)
    assert bar(full)["lesson"] == lesson.title  # the lesson is open without the class
    assert bar(as_teacher(tab, code, secret))["teaches"]  # a full class still has room for its teacher

    full_says = WORDS["full"].format(most=CLASS_ANSWERS)
    assert full_says not in panel(on_stop.run()) + panel(again.run())
    taken = [
        store.answer(code, str(student), stop, ONE)
        for stop in range(LESSON_STOPS)
        for student in range(2, CLASS_STUDENTS)
        if stop != STOP
    ]
    assert sum(taken) == CLASS_ANSWERS - 1  # and the one above
    assert full_says in panel(on_stop.run())
    assert full_says in panel(again.run())

    teacher.switch_page(PAGE).run()
    teacher.button(key="open_class").click().run()
    assert not is_open(store, code)  # a session teaches only one class
    code = code_of(teacher)
    assert is_open(store, code)
    teacher.button(key="class_close").click().run()
    assert not teacher.exception
    assert "class" not in teacher.query_params
    assert not is_open(store, code)
    assert not bar(again)["next"]  # in class, the student follows the teacher
    again.run()
    assert "is over" in panel(again)
    assert bar(again)["next"]


def test_an_answer_that_is_given_before_the_phone_has_its_seat_counts_in_the_class(
    store: Classes, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = shipped()[LESSON].stops[STOP].question
    assert question
    right = right_option(question, truth_of(shipped()[LESSON].stops[STOP]))
    clicks, mount = iter([{"answer": {"stop": STOP + 1, "value": str(right)}}]), lesson_bar._mount

    def mount_and_click(on_answer_change: Callable[[], None], **given: Any) -> None:
        for click in clicks:
            st.session_state[KEY] = click  # what the bar sends
            on_answer_change()
            del st.session_state[KEY]
        mount(on_answer_change=on_answer_change, **given)

    code, secret = store.open(LESSON)
    store.go(code, secret, STOP)
    with monkeypatch.context() as silent:
        silent.setattr(tab_memory, "_mount", lambda **_: None)  # the tab has not answered yet
        silent.setattr(lesson_bar, "_mount", mount_and_click)
        phone = on_page(HOME, **{"class": code})
    assert not phone.exception
    assert not list(clicks)
    assert tally_of(store, code, STOP).joined == 0
    assert not bar(phone.run())["questions"][0]["open"]
    assert (tally_of(store, code, STOP).joined, tally_of(store, code, STOP).answered) == (1, 1)
    # The answer is judged with the others, and can be changed in the second vote.
    assert not bar(phone)["questions"][0]["right"]
    store.advance(code, secret, STOP, Phase.AGAIN)
    assert bar(phone.run())["questions"][0]["may_change"]


def test_the_answers_of_a_student_are_in_the_tab_and_in_no_link(store: Classes, tab: Tab) -> None:
    code, secret = store.open(LESSON)
    store.go(code, secret, STOP)
    student = on_page(HOME, **{"class": code})
    student.session_state[OPEN] = replace(student.session_state[OPEN], answers={STOP: Answer("2", "1")})
    student.run()
    assert "answers" not in student.query_params
    assert "answers=" not in bar(student)["here"]
    _, kept = tab.storage[seat.memory_name(code)]
    assert kept == f"{student.session_state[seat.SEAT].student} {STOP + 1}~2~1"
    assert store.seats(code, secret) == [{STOP: Given("2", "1")}]

    again = on_page(HOME, **{"class": code})  # a reload
    assert again.session_state[seat.SEAT] == student.session_state[seat.SEAT]
    assert again.session_state[OPEN].answers == {STOP: Answer("2", "1")}
    assert "answers" not in again.query_params

    store.close(code, secret)  # as a restart of the server does
    after = on_page(HOME, **{"class": code, "lesson": LESSON})
    assert after.session_state[OPEN].answers == {STOP: Answer("2", "1")}
    assert after.query_params["answers"] == f"{STOP + 1}~2~1"  # the lesson goes on without a class
    assert tab.storage[seat.memory_name(code)][1] == kept


def test_the_marks_of_a_student_are_in_the_tab_and_in_no_link(store: Classes, tab: Tab) -> None:
    code, secret = store.open(LESSON)
    store.go(code, secret, STOP)
    student = on_page(HOME, **{"class": code})
    student.session_state[OPEN] = replace(student.session_state[OPEN], marked=(1, 9))
    student.run()
    assert "marked" not in student.query_params
    assert "marked=" not in bar(student)["here"]
    again = on_page(HOME, **{"class": code})  # a reload
    assert again.session_state[OPEN].marked == (1, 9)
    assert "marked" not in again.query_params
    store.go(code, secret, STOP + 1)
    assert on_page(HOME, **{"class": code}).session_state[OPEN].marked == ()


def test_answers_and_marks_in_the_link_of_a_class_are_another_students(store: Classes, tab: Tab) -> None:
    code, secret = store.open(LESSON)
    student = on_page(HOME, **{"class": code, "answers": f"{STOP + 1}~2", "lesson_stop": f"{STOP + 1}", "marked": "9"})
    assert not student.exception
    assert not student.session_state[OPEN].answers
    assert not student.session_state[OPEN].marked
    assert not {"answers", "marked"} & {*student.query_params}
    assert store.seats(code, secret) == [{}]


def test_a_seat_in_an_older_link_is_ignored(store: Classes, tab: Tab) -> None:
    code, _ = store.open(LESSON)
    store.join(code, "abcdefgh", "")
    seats = set[str]()
    for _ in range(2):
        tab.storage.clear()  # another person opens the same link
        student = on_page(HOME, **{"class": f"{code}-abcdefgh"})
        assert code_of(student) == code
        seats.add(student.session_state[seat.SEAT].student)
    assert len(seats - {"abcdefgh"}) == 2
    assert tally_of(store, code, 0).joined == 3


def test_a_student_who_comes_back_to_the_class_has_the_same_seat(store: Classes) -> None:
    code, _ = store.open(LESSON)
    student = AppTest.from_function(visit)
    lesson, place = visited(student, code, **{seat.CLASS: code})
    assert (lesson, place is None) == (LESSON, False)
    assert visited(student) == ("", None)  # the browser's Back
    assert visited(student, **{seat.CLASS: code}) == (LESSON, place)
    assert visited(student, code, **{seat.CLASS: code}) == (LESSON, place)  # types the code again
    assert tally_of(store, code, 0).joined == 1


def test_a_teacher_who_types_the_own_code_stays_the_teacher(store: Classes) -> None:
    code, secret = store.open(LESSON)
    teacher = AppTest.from_function(visit)
    place = seat.Seat(code, secret=secret)
    teacher.session_state[seat.SEATS] = {code: place}
    assert visited(teacher, code, **{seat.CLASS: code}) == (LESSON, place)
    assert tally_of(store, code, 0).joined == 0


@pytest.mark.slow
def test_an_unknown_code_and_several_replicas_are_explained(store: Classes, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in ("ABCDEF", "<b>", "x" * 5_000, "ABCDEF-<script>", "../.."):
        app = on_page(HOME, **{"class": code})
        assert not app.exception
        assert "There is no class" in shown(app.warning[0].value)
        assert "class" not in app.query_params
        assert not is_open(store, code)
    monkeypatch.setattr(classes, "REPLICAS", 3)
    with pytest.raises(LessonError, match="this server runs as 3"):
        store.open(LESSON)
    app = on_page(PAGE)
    app.text_input(key="class_code").set_value("ABCDEF")
    app.button(key="join_class").click().run()
    assert "this server runs as 3" in shown(app.warning[0].value)
    app.button_group(key="part").set_value("class").run()
    assert not app.warning
    app.button(key="open_class").click().run()
    assert "this server runs as 3" in shown(app.warning[0].value)


def test_only_the_right_secret_in_the_tab_makes_a_session_the_teacher(store: Classes, tab: Tab) -> None:
    code, secret = store.open(LESSON)
    for count, wrong in enumerate(("x", secret[:-1], "é"), 1):
        student = as_teacher(tab, code, wrong)
        assert not bar(student)["teaches"]
        assert tally_of(store, code, 0).joined == count
    assert bar(as_teacher(tab, code, secret))["teaches"]
    assert tally_of(store, code, 0).joined == 3


@pytest.mark.slow
def test_without_classes_nothing_about_them_is_drawn() -> None:
    script = f"""
from tests.pages.apps import HOME, on_page
lessons, joined = on_page({PAGE!r}), on_page(HOME, **{{"class": "ABCDEF", "lesson": {LESSON!r}}})
assert not lessons.exception and not joined.exception and not joined.warning
keys = {{each.key for each in (*lessons.button, *lessons.text_input)}}
assert keys and not keys & {{"class_code", "join_class", "open_class"}}, keys
assert {text("choices")["part"]["class"]!r} not in lessons.button_group(key="part").options
assert on_page({PAGE!r}, part="class", class_lesson={LESSON!r}).button_group(key="part").value == "take"
assert any('"questions"' in each.proto.json for each in joined.get("bidi_component"))
"""
    environment = {**os.environ, "HEADLIGHT_CLASSES": "0", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:8501", True),
        ("http://127.0.0.1:8501", True),
        ("http://127.1.2.3", True),
        ("http://[::1]:8501", True),
        ("http://0.0.0.0:8501", True),
        ("http://app.localhost", True),
        ("http://192.168.1.20:8501", False),
        ("https://school.example", False),
        ("http://localhost.school.example", False),
        ("http://[broken", False),
        ("", False),
    ],
)
def test_an_address_that_phones_cannot_reach_is_recognised(address: str, local: bool) -> None:
    assert app_address.is_local(address) == local


@pytest.mark.slow
@pytest.mark.parametrize(("own", "told"), [("192.168.1.20", "http://192.168.1.20:8777"), ("", "http://…:8777")])
def test_a_class_on_a_local_address_shows_what_to_do(
    own: str, told: str, store: Classes, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invitation, "own_address", lambda: own)
    code, secret = store.open(LESSON)
    app = as_teacher(tab, code, secret)
    assert not app.warning
    app.context["url"] = "http://localhost:8777/"
    (warning,) = app.run().warning
    assert f"Open Headlight here as **{told}**" in warning.value  # with Streamlit's defaults, it answers other computers
    with monkeypatch.context() as here_alone:
        here_alone.setattr(invitation, "EVERYWHERE", ())
        (warning,) = app.run().warning
        assert "Start Headlight again without the setting" in warning.value
        assert told in warning.value
    app.button(key=INVITE).click().run()
    assert "data:image" not in panel(app)  # the QR code would lead a phone to the phone itself
    # On a projector the warning is one line, until the teacher shows the code.
    app = as_teacher(tab, code, secret, present="1")
    app.context["url"] = "http://localhost:8777/"
    assert not app.run().warning
    assert text("lesson")["class"]["local_short"] in [caption.value for caption in app.caption]
    assert told in app.button(key="class_show_code").click().run().warning[0].value


def test_each_address_has_its_own_qr_code_with_a_border() -> None:
    one, other = (invitation.qr_picture(f"https://school.example/?class={code}") for code in ("ABCDEF", "ABCDEG"))
    assert one != other
    drawn = segno.make("https://school.example/?class=ABCDEF", error="m", micro=False)
    side = len(tuple(drawn.matrix)) + 2 * 4
    assert f"viewBox='0 0 {side} {side}'" in unquote(one)


def test_the_page_of_a_teacher_stops_updating_when_the_class_is_over(store: Classes) -> None:
    def page() -> None:
        import streamlit as st

        from pages.lessons.class_mode.seat import Seat
        from pages.lessons.content.lesson import Lesson, Phase
        from pages.lessons.playing.class_panel import DRAWN, show_panel

        st.session_state["runs"] = st.session_state.get("runs", 0) + 1
        st.session_state[DRAWN] = (0, Phase.VOTE) if st.session_state["runs"] == 1 else None
        show_panel(Seat("ABCDEF", secret="x"), Lesson(title="", stops=()), None, 0)

    app = AppTest.from_function(page).run()
    assert app.session_state["runs"] == 2
    assert [caption.value for caption in app.caption] == [WORDS["over"].format(code="ABCDEF")]


def asked(kind: Any, **values: Any) -> Stop:
    question = Question(kind=kind, ask="?", **values)
    return Stop(title="a", say="b", page="home", view=(("model", "reverse"), ("source", "abc")), question=question)


@pytest.mark.parametrize(
    ("stop", "given", "table"),
    [
        (asked("choose", options=("<i>a</i>", "b"), answer=1), {"2": 3}, {"<b>A</b> &lt;i&gt;a&lt;/i&gt;": 0, "<b>B</b> b": 3}),
        (asked("order", options=("a", "b")), {"0-1": 2, "1-0": 1}, {WORDS["in_order"]: 2, WORDS["not_in_order"]: 1}),
        (
            asked("tokens", truth=Truth(name="attention-row", query="a", kind="encoder", layer=1, head=1)),
            {"0-1": 2, "1": 1, "999": 1},
            {"0 · &lt;sos&gt;": 2, "1 · a": 3},
        ),
        (asked("number", truth=Truth(name="head-count")), {"2": 2, "2,0": 1, "-1": 1}, {"−1": 1, "2": 3}),
        (
            asked("number", truth=Truth(name="head-count")),
            {str(value): 1 for value in range(20)} | {"0.5": 2},
            {"0": 1, "0.5": 2, **{str(value): 1 for value in range(1, 7)}, WORDS["others"]: 13},
        ),
    ],
    ids=["choose", "order", "tokens", "number", "many numbers"],
)
def test_answers_of_each_kind_are_listed(stop: Stop, given: dict[str, int], table: dict[str, int]) -> None:
    count = sum(given.values())
    listed = rows(str(class_tables.tally_table(stop, Tally(count, count, 0, Phase.REVEAL, given, given))))
    assert listed == {label: (count, count) for label, count in table.items()}


# --- sixty sessions at once --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_sixty_students_vote_talk_and_vote_again_and_the_tally_is_right(url: str) -> None:
    """The sessions use the websocket, and send the values that the bar of a browser sends, and hostile values. Some students
    load their page again between the votes, and some come late."""
    question = shipped()["one-lesson"].stops[0].question
    assert question
    count, late = len(question.options), range(54, 60)
    first, last = [1 + number % 2 for number in range(60)], [1 + number % count for number in range(60)]
    hostile = [
        None,
        {"stop": 1, "value": "1" * 10_000},
        {"stop": 1, "value": "99"},
        {"stop": "1", "value": "1"},
        {"stop": 10**9, "value": "1"},
        {"stop": 1, "value": ["1"]},
    ]

    async def enter(code: str, number: int, stored: str = "") -> Session:
        session = Session(At(url), "lessons", {"class": code})
        await session.open()
        await session.send(f"tab_memory_{seat.memory_name(code)}", "recall", {"text": stored})
        if number % 10 == 0:
            await session.send(KEY, "answer", hostile[number // 10])
        return session

    async def first_vote(code: str, number: int) -> Session:
        session = await enter(code, number)
        await session.send(KEY, "answer", {"stop": 1, "value": str(first[number])})
        await session.send(KEY, "answer", {"stop": 1, "value": str(last[number])})  # not before the second vote
        await session.send(KEY, "advance", {"stop": 1, "to": int(Phase.REVEAL)})  # only the teacher's counts
        if number % 7:
            return session
        await session.close()
        return await enter(code, 1, session.stored[f"tab_memory_{seat.memory_name(code)}"])

    async def second_vote(student: Session, number: int) -> None:
        await student.rerun()
        await student.send(KEY, "answer", {"stop": 1, "value": str(last[number])})

    async def lesson() -> tuple[str, str, str]:
        teacher = Session(At(url), "lessons", {"class_lesson": "one-lesson"})
        await teacher.open()
        while teacher.unseen and "open_class" not in teacher.widgets:
            await teacher.scroll()
        await teacher.click(open_class=True)
        code = teacher.query["class"]
        students = await asyncio.gather(*(first_vote(code, number) for number in range(60) if number not in late))
        for phase in (Phase.TALK, Phase.AGAIN):
            await teacher.send(KEY, "advance", {"stop": 1, "to": int(phase)})
        await students[0].rerun()
        before = " ".join(students[0].texts)
        students += await asyncio.gather(*(first_vote(code, number) for number in late))
        await asyncio.gather(*(second_vote(each, number) for number, each in enumerate(students)))
        await teacher.send(KEY, "advance", {"stop": 1, "to": int(Phase.REVEAL)})
        await asyncio.gather(students[0].rerun(), teacher.rerun())
        assert all(each.query["class"] == code for each in students)
        assert len({each.stored[f"tab_memory_{seat.memory_name(code)}"] for each in students}) == 60
        await asyncio.gather(*(each.close() for each in (teacher, *students)))
        return " ".join(teacher.texts), before, " ".join(students[0].texts)

    with ThreadPoolExecutor(1) as thread:
        shown_to_teacher, before, shown_to_student = thread.submit(asyncio.run, lesson()).result()
    assert "60 joined · 60 answered" in shown_to_teacher
    assert "<table>" not in before
    counted = {number: (first.count(number), last.count(number)) for number in range(1, count + 1)}
    expected = {f"<b>{chr(64 + place)}</b> {question.options[place - 1]}": both for place, both in counted.items()}
    assert rows(shown_to_teacher) == rows(shown_to_student) == expected
    changed = sum(one != other for one, other in zip(first, last, strict=True))
    assert f"60 of 60 answered; {changed} changed" in shown_to_teacher


def test_the_table_of_all_answers_has_a_row_for_each_seat() -> None:
    stops = (asked("choose", options=("a", "b"), answer=1, reasons=("c", "d")), asked("number", truth=Truth(name="head-count")))
    seats = [{0: Given("2", "1"), 1: Given("2", "2")}, {}, {0: Given("2", "9")}]
    lines = class_tables.answers_table(Lesson(title="t", stops=stops), seats).decode().splitlines()
    assert lines[0] == 'seat,"stop 1, first vote","stop 1, last vote","stop 1, right",' + (
        '"stop 2, first vote","stop 2, last vote","stop 2, right"'
    )
    assert sorted(line.partition(",")[2] for line in lines[1:]) == [",,,,,", ",,,,,", "“b”,“a”,1,2,2,0"]


@pytest.mark.slow
@pytest.mark.browser
def test_a_warning_about_a_class_that_cannot_be_joined_stays_at_the_first_stop(visitor: Visitor) -> None:
    page = visitor.open("?class=ABCDEF&lesson=first-look")
    page.wait_for_url("**source=**")  # the stop has opened its own view
    visitor.settle()
    problem = page.get_by_text("There is no class ABCDEF here")
    expect(problem).to_be_visible()
    page.locator(".st-key-lesson_bar a.next").click()
    expect(problem).to_have_count(0)


@pytest.mark.slow
@pytest.mark.browser
def test_the_panel_of_a_large_class_stands_in_the_column_of_the_lesson_on_a_projector(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 1024, "height": 768})
    page = visitor.open(f"lessons?class_lesson={LESSON}&present=1", whole=True)
    page.get_by_role("button", name=text("lessons")["open_class"]).click()
    page.locator(".class-line").wait_for()
    visitor.settle()
    says = WORDS["line"].format(joined=CLASS_STUDENTS, answered=CLASS_STUDENTS)
    # At once, because the panel is drawn anew every two seconds.
    boxes = page.evaluate(
        """says => {
            document.querySelector(".class-line").lastChild.textContent = says;
            const names = [".class-line", ".st-key-class_more", ".st-key-lesson_bar"];
            const parts = names.map((name) => document.querySelector(name));
            return parts.map((part) => part.getBoundingClientRect().toJSON());
        }""",
        says,
    )
    assert all(box["right"] <= boxes[-1]["right"] for box in boxes)
    assert boxes[0]["height"] < 120
    # The code and the number of answers stay on the screen below the words, presented and not.
    expect(page.locator(".class-line")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "present=" not in url)
    visitor.settle()
    # While the panel is drawn anew, elements of the run before can still be there.
    expect(page.get_by_role("button", name=WORDS["invite"]).last).to_be_in_viewport(ratio=1)
    expect(page.locator(".class-line").last).to_be_in_viewport(ratio=1)


def teachers_link(page: Page) -> str:
    """The link that opens the class as its teacher, read in its menu."""
    menu = page.get_by_role("button", name=WORDS["teacher_link"])
    menu.click()
    link = page.locator(".stCode").inner_text().strip()
    menu.click()
    return link


@pytest.mark.slow
@pytest.mark.browser
def test_the_secret_of_the_teachers_link_reaches_no_request_and_survives_a_reload(
    visitor: Visitor, stranger: BrowserContext
) -> None:
    kept = "Object.keys(sessionStorage).some((name) => name.startsWith('class-'))"
    page = visitor.open(f"lessons?class_lesson={LESSON}")
    page.get_by_role("button", name=text("lessons")["open_class"]).click()
    page.locator(".class-line").wait_for()
    page.wait_for_function(kept)
    page.reload()
    page.locator(".class-line").wait_for()  # still the teacher
    assert "0 joined" in page.locator(".class-line").inner_text()
    page.locator(f".st-key-{INVITE} button").first.click()
    expect(page.locator(".st-key-class_code_screen")).to_be_visible()
    expect(page.locator(".stCode")).to_have_count(0)
    page.locator(".st-key-class_hide_code button").click()
    link = teachers_link(page)
    address, secret = link.split("#")[0], link.rpartition("=")[2]
    assert secret not in address + page.url

    requests = list[str]()
    other = stranger.new_page()
    other.on("request", lambda request: requests.append(request.url + str(request.headers)))
    other.goto(link)
    other.locator(".class-line").wait_for()
    assert requests
    assert not [request for request in requests if secret in request]
    assert "#" not in other.url
    other.wait_for_function(kept)
    other.reload()
    other.locator(".class-line").wait_for()
    assert "0 joined" in other.locator(".class-line").inner_text()  # no teacher has joined as a student
    other.close()
    says = WORDS["student"].partition("{")[0]
    student = stranger.new_page()  # another tab has not the secret
    student.goto(address)
    student.get_by_text(says).wait_for()
    expect(page.locator(".class-line")).to_contain_text("1 joined")
    student.wait_for_function(kept)
    student.reload()
    student.get_by_text(says).wait_for()
    student.wait_for_function(kept)
    expect(page.locator(".class-line")).to_contain_text("1 joined")  # the reload has kept the seat
    neighbour = stranger.new_page()
    neighbour.goto(student.url)
    neighbour.get_by_text(says).wait_for()
    expect(page.locator(".class-line")).to_contain_text("2 joined")
    neighbour.close()
    student.close()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("allowed", [True, False])
def test_a_student_is_told_if_the_browser_forbids_storage(allowed: bool, visitor: Visitor, stranger: BrowserContext) -> None:
    page = visitor.open(f"lessons?class_lesson={LESSON}")
    page.get_by_role("button", name=text("lessons")["open_class"]).click()
    address = teachers_link(page).split("#")[0]
    student = stranger.new_page()
    if not allowed:  # as Chromium does where all cookies are blocked
        throws = "get() { throw new DOMException('Access is denied', 'SecurityError'); }"
        student.add_init_script(f"Object.defineProperty(window, 'sessionStorage', {{ {throws} }})")
    student.goto(address)
    student.get_by_text(WORDS["student"].partition("{")[0]).wait_for()
    expect(student.get_by_text(WORDS["forbidden"])).to_have_count(0 if allowed else 1)
    student.close()


@pytest.mark.slow
@pytest.mark.browser
def test_a_link_without_a_stop_opens_the_stop_of_the_class(visitor: Visitor, stranger: BrowserContext) -> None:
    page = visitor.open(f"lessons?class_lesson={LESSON}")
    page.get_by_role("button", name=text("lessons")["open_class"]).click()
    link = teachers_link(page)
    page.get_by_role("button", name=WORDS["reveal_now"]).click()
    page.locator(".bar[data-stop='1'] a.next").click()
    page.locator(".bar[data-stop='2']").wait_for()
    for address in (link, link.split("#")[0]):
        other = stranger.new_page()
        other.goto(address)
        if address == link:
            other.locator(".class-line").wait_for()  # it is the teacher
        else:
            other.get_by_text(WORDS["student"].partition("{")[0]).wait_for()
        other.locator(".bar[data-stop='2']").wait_for()
        other.close()
    expect(page.locator(".class-line")).to_contain_text("1 joined")
    expect(page.locator(".bar[data-stop]")).to_have_attribute("data-stop", "2")


@pytest.mark.slow
@pytest.mark.browser
def test_page_down_leads_a_class_from_vote_to_reveal_and_phones_follow(visitor: Visitor, stranger: BrowserContext) -> None:
    visitor.page.set_viewport_size({"width": 1280, "height": 720})
    page = visitor.open(f"lessons?class_lesson={LESSON}&present=1", whole=True)
    page.get_by_role("button", name=text("lessons")["open_class"]).click()
    code = page.locator(".class-line strong").inner_text()
    phone = stranger.new_page()
    phone.goto(f"{visitor.url}/?class={code}")
    options, verdict = phone.locator(".bar .options button"), phone.locator(".bar .verdict")
    phone.get_by_text(WORDS["student"].partition("{")[0]).wait_for()
    expect(phone.locator(".bar a.next")).to_have_count(0)  # the phone follows
    options.nth(0).click()
    expect(page.locator(".class-line")).to_contain_text("1 answered")
    following = page.locator(".bar .moves .next")
    for phase in ("talk", "again"):
        expect(following).to_contain_text(WORDS["phases"][phase])
        page.locator(".bar .name").focus()
        page.keyboard.press("PageDown")
        expect(verdict).to_contain_text(WORDS["phase_says"][phase])
    expect(page.locator(".for-notes")).to_be_hidden()
    phone.get_by_role("button", name="Change my answer").click()
    options.nth(1).click()
    expect(verdict).to_contain_text(WORDS["phase_says"]["vote"])
    expect(following).to_contain_text(WORDS["phases"]["reveal"])
    page.keyboard.press("PageDown")
    expect(verdict).to_contain_text("Right.")
    covering = page.locator(".st-key-class_tally_screen")
    expect(covering.locator(".tally tr.right")).to_be_in_viewport(ratio=1)
    size = covering.evaluate("(screen) => [screen.getBoundingClientRect().width, screen.getBoundingClientRect().height]")
    assert size == [1280, 720]
    page.keyboard.press("PageDown")  # from the answers of the class to the page
    expect(covering).to_have_count(0)
    expect(following).to_contain_text("Next")
    page.keyboard.press("PageDown")
    phone.locator(".bar[data-stop='2']").wait_for()
    late = stranger.new_page()
    late.goto(f"{visitor.url}/?class={code}")
    late.locator(".bar[data-stop='2']").wait_for()
    late.close()
    phone.close()
