"""The panel of a class below the bar of its lesson, and the answers of the class above the page.

The teacher's panel has the code, the phase of the question, and how many have answered. Before the answers are revealed, only
the teacher can read them, in the window of the notes. A student's page follows the stop and the phase of the teacher.
"""

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from pages.lessons.class_mode.class_tables import answers_table, tally_table
from pages.lessons.class_mode.classes import Given, Tally, classes
from pages.lessons.class_mode.invitation import show_code, show_teacher_link, warn_local
from pages.lessons.class_mode.seat import (
    MISSED,
    PROBLEM,
    WAITING,
    Seat,
    class_code,
    enter,
    memory_name,
    refuse,
    seat,
    take_seat,
)
from pages.lessons.content.app_address import app_address
from pages.lessons.content.lesson import Lesson, LessonError, Phase, Stop
from pages.lessons.content.lesson_answers import Answer, parse, write
from pages.lessons.content.truths import filled
from pages.lessons.playing.open_lesson import OPEN, follow, open_lesson, publish
from pages.shell.error_boundary import sentence
from pages.shell.view.turns import turn
from pages.ui.escaping import literal
from pages.ui.export_menu import download
from pages.ui.limits import CLASS_ANSWERS
from pages.ui.prediction_codec import read_cells, written_cells
from pages.ui.presenting import presenting
from pages.ui.prose import line_as_html
from pages.ui.style import style
from pages.ui.tab_memory import forbidden, recalled, tab_memory
from pages.ui.text import text

# Seconds between two updates of the panel.
PACE = 2.0
# Widget keys of the button that shows the code with which students join: on a laptop, and on a projector.
INVITE, SHOW_CODE = "class_invite", "class_show_code"
# Session key of the code of the class whose join code covers the screen.
INVITED = "class_invited"
# Session key of the class and the stop whose answers no longer cover the screen.
PUT_AWAY = "class_put_away"
# Session key of the stop and the phase for which the page was drawn.
DRAWN = "class_drawn"

_STYLE = style(Path(__file__).with_suffix(".css"))


def warn_class() -> None:
    """Draw a warning if the class in the URL could not be joined."""
    if problem := st.session_state.get(PROBLEM):
        st.warning(literal(sentence(problem)), icon=":material/groups:")


def show_class(lesson: Lesson, index: int) -> None:
    """Draw the panel of the session's class, if any, at the stop (step) `index`, from 0, or at the end of the lesson."""
    place, code = seat(), class_code()
    missed = st.session_state.get(MISSED, "")
    if code:  # ask the tab who this is, or let it keep that
        tab_memory(memory_name(code), _kept(place), partial(_recall, code), waits=place is None, linked=True)
    elif missed and not recalled(memory_name(missed)):  # ask it for the answers alone, such as after a restart of the server
        tab_memory(memory_name(missed), "", partial(_recall, missed))
    if place is None:
        return
    if place.secret:
        classes().go(place.code, place.secret, index)
    else:
        _hand_in(place)
    stop = lesson.stops[index] if index < len(lesson.stops) else None
    asked = stop if stop and stop.question else None
    open_now = classes().place(place.code)
    st.session_state[DRAWN] = open_now
    st.fragment(show_panel, key="class_panel", run_every=PACE if open_now else None)(place, lesson, asked, index)


def _kept(place: Seat | None) -> str:
    """The text that the tab keeps, in parts separated by spaces: the secret or the number, the answers, and the marks that are
    not yet checked, in the form of answers. Empty without a place in a class."""
    opened = open_lesson()
    marks = {opened.stop: Answer(written_cells(opened.marked))} if opened and opened.marked else {}
    return f"{place.kept} {write(opened.answers if opened else {})} {write(marks)}".rstrip() if place else ""


def _recall(code: str, kept: str) -> None:
    """Take a place with the secret or the number that the tab reports, and take back the answers and the marks. The report is
    untrusted."""
    state, opened = st.session_state, open_lesson()
    waits, (number, answers, marks, *_) = state.get(WAITING) == code, f"{kept}  ".split(" ")
    if not waits and state.get(MISSED) != code:
        return
    if opened:
        marked = read_cells(parse(marks).get(opened.stop, Answer("")).first) or opened.marked
        state[OPEN] = replace(opened, answers={**opened.answers, **parse(answers)}, marked=marked)
    if waits:
        try:
            enter(code, number)
        except LessonError as error:
            refuse(error)
    publish()
    st.rerun()  # the whole app, because links of the page name the place, and the page shows what was answered


def _hand_in(place: Seat) -> None:
    """Send a student's answers to the class. This is done whenever the bar is drawn, because an answer can be given before the
    session has its place. The answers at the end of the lesson are not sent."""
    opened = open_lesson()
    for stop, answer in (opened.answers if opened else {}).items():
        classes().answer(place.code, place.student, stop, Given(answer.first, answer.before_end))


def show_answers(lesson: Lesson, index: int) -> None:
    """Draw the answers of the class to the question of the stop (step) `index`, from 0, above the teacher's page, once they are
    revealed. On a projector they cover the screen until the teacher goes on to the page."""
    place = seat()
    stop = lesson.stops[index] if index < len(lesson.stops) else None
    tally = classes().tally(place.code, index, place.secret) if place and place.secret else None
    if place is None or stop is None or stop.question is None or tally is None or tally.phase < Phase.REVEAL:
        return
    words, shown = text("lesson")["class"], tally_table(stop, tally)
    if not presenting():
        st.markdown(f"**{words['now']['reveal']}**")
        st.html(shown)
        return
    state, here = st.session_state, (place.code, index)

    def turn_over() -> None:
        state[PUT_AWAY] = None if state.get(PUT_AWAY) == here else here

    if state.get(PUT_AWAY) == here:
        st.button(words["now"]["reveal"], key="class_show_tally", on_click=turn_over, icon=":material/groups:")
        return
    with st.container(key="class_tally_screen"):
        st.html(Markup("<h2>{}</h2>").format(line_as_html(filled(stop, stop.question.ask))) + shown)
        st.button(words["show_page"], key="class_hide_tally", on_click=turn_over, icon=":material/close:")


def show_panel(place: Seat, lesson: Lesson, stop: Stop | None, index: int) -> None:
    """Draw the panel of a class in its current state. Streamlit calls only this function again every few seconds while the
    class is open. `index` is that of the lesson's stop (step), from 0; `stop` is None if it has no question."""
    words, drawn = text("lesson")["class"], st.session_state[DRAWN]
    now = classes().place(place.code)
    if now and now[0] != index:
        follow(now[0])  # to the stop of the teacher, whose other screens follow, too
    if now != drawn or (now and now[0] != index):
        st.rerun()  # the whole app: the page shows more once an answer is revealed, and nothing is asked for after the end
    with turn(), st.container(border=True, key="class", gap="small"):
        st.html(_STYLE)
        tally = classes().tally(place.code, index, place.secret)
        if tally is None:
            st.caption(words["over"].format(code=place.code))
            return
        if place.secret:
            _show_teacher(place, lesson, stop, tally)
        else:
            _show_student(place, stop, tally)
        if tally.full:
            st.caption(words["full"].format(most=CLASS_ANSWERS))


def _show_student(place: Seat, stop: Stop | None, tally: Tally) -> None:
    words = text("lesson")["class"]
    if stop:
        st.markdown(f"**{words['now'][tally.phase.name.lower()]}**")
    if stop and tally.phase is Phase.REVEAL:
        st.html(tally_table(stop, tally))
    st.caption(words["student"].format(code=place.code))
    if forbidden():
        st.caption(words["forbidden"])


def _show_teacher(place: Seat, lesson: Lesson, stop: Stop | None, tally: Tally) -> None:
    words, small = text("lesson")["class"], presenting()
    line = words["line" if stop else "line_without"].format(joined=tally.joined, answered=tally.answered)
    st.html(Markup('<div class="class-line">{} <strong>{}</strong> {}</div>').format(words["code"], place.code, line))
    if stop:
        st.markdown(f"**{words['now'][tally.phase.name.lower()]}**")
        # Hidden here, because the class sees this screen: class_panel.css. The window of the notes shows it: notes.js.
        st.html(Markup('<div class="for-notes">{}</div>').format(tally_table(stop, tally)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if stop and tally.phase < Phase.REVEAL:
            st.button(words["reveal_now"], key="class_reveal", on_click=_reveal, args=(place,), type="tertiary")
        _invite(place, small, tally.joined)
        if not small:
            with st.popover(words["teacher_link"], key="class_teacher_link", icon=":material/key:"):
                show_teacher_link(place)
        with st.popover(words["more"], key="class_more", icon=":material/more_vert:") if small else nullcontext():
            if small:
                st.caption(words["teacher_elsewhere"])
            # A row for each seat, without names.
            download(
                words["table"],
                lambda: answers_table(lesson, classes().seats(place.code, place.secret)),
                f"{place.code}.csv",
                key="class_table",
            )
            st.button(words["close"], key="class_close", on_click=_close, args=(place,), icon=":material/logout:")
    if not tally.joined and not warn_local(short=small):
        st.markdown(words["nobody_yet"].format(address=literal(app_address()), code=place.code))


def _reveal(place: Seat) -> None:
    now = classes().place(place.code)
    if now:
        classes().advance(place.code, place.secret, now[0], Phase.REVEAL)
    st.rerun()  # the whole app: the page shows more


def _invite(place: Seat, small: bool, joined: int) -> None:
    """Draw the button that fills the screen with the code with which students join. On a projector (`small`), the buttons show
    only their icons; screen readers read the labels (app.css)."""
    words, state = text("lesson")["class"], st.session_state

    def turn_over() -> None:
        state[INVITED] = None if state.get(INVITED) == place.code else place.code

    key, helps = (SHOW_CODE, words["invite"]) if small else (INVITE, None)
    st.button(words["invite"], key=key, icon=":material/qr_code_2:", help=helps, on_click=turn_over)
    if state.get(INVITED) == place.code:
        with st.container(key="class_code_screen", horizontal_alignment="center", vertical_alignment="center", gap="small"):
            show_code(place)
            st.html(Markup('<p class="class-joined">{}</p>').format(words["line_without"].format(joined=joined)))
            st.button(words["hide_code"], key="class_hide_code", on_click=turn_over, icon=":material/close:")


def _close(place: Seat) -> None:
    classes().close(place.code, place.secret)
    take_seat()
    st.rerun()  # the whole app, because the address names the class, and this fragment runs every few seconds
