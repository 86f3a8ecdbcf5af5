"""The panel of a class below the bar of its lesson.

The teacher's panel has the code, the number of students who have answered, and their answers. A student's panel has the answers
after the teacher has shown them.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from markupsafe import Markup

from pages.lessons.class_mode.classes import Tally, classes
from pages.lessons.class_mode.invitation import show_code, show_teacher_link, warn_local
from pages.lessons.class_mode.seat import Seat, class_problem, keep_secret, seat, take_seat
from pages.lessons.content.app_address import app_address
from pages.lessons.content.lesson import Lesson, Question, Stop
from pages.lessons.content.lesson_answers import number_of, places
from pages.lessons.content.prose import line_as_html
from pages.lessons.content.truths import filled, truth_of
from pages.shell.error_boundary import sentence
from pages.shell.view.turns import turn
from pages.ui.escaping import literal
from pages.ui.format import number, token_at
from pages.ui.limits import CLASS_ANSWERS
from pages.ui.presenting import presenting
from pages.ui.style import style
from pages.ui.text import text
from transformer import HeadlightError

# Seconds between two updates of the teacher's panel.
PACE = 2.0
# Limit of different numbers that are listed. The answers with other numbers are only counted.
NUMBERS = 8
# Widget key of the menu with which students join.
INVITE = "class_invite"
# Session key of the code of the class whose join code covers the screen.
INVITED = "class_invited"
# Options for who sees the answers to a question. HERE is this screen of the teacher.
NOBODY, HERE, EVERYBODY = "nobody", "here", "everybody"

_STYLE = style(Path(__file__).with_suffix(".css"))


def warn_class() -> None:
    """Draw a warning if the class in the address could not be joined."""
    problem = class_problem()
    if problem:
        st.warning(literal(sentence(problem)), icon=":material/groups:")


def show_class(lesson: Lesson, index: int) -> None:
    """Draw the panel of the session's class. Draw nothing outside a class.

    Args:
        lesson: the lesson of the class.
        index: the stop, counted from 0; the number of stops at the end of the lesson.
    """
    keep_secret()
    place = seat()
    if place is None:
        return
    stop = lesson.stops[index] if index < len(lesson.stops) else None
    asked = stop if stop and stop.question else None
    open_now = classes().tally(place.code, index) is not None
    every = PACE if place.secret and open_now else None
    st.fragment(_show, key="class_panel", run_every=every)(place, asked, index, open_now)


def _show(place: Seat, stop: Stop | None, index: int, was_open: bool) -> None:
    """Draw the panel for the current state of the class. On the teacher's page, Streamlit calls only this function again every
    few seconds while the class is open."""
    words = text("lesson")["class"]
    with turn(), st.container(border=True, key="class", gap="small"):
        st.html(_STYLE)
        tally = classes().tally(place.code, index, place.secret)
        if tally is None:
            if was_open:
                st.rerun()  # so that Streamlit stops calling this function
            st.caption(words["over"].format(code=place.code))
            return
        if place.secret:
            _show_teacher(place, stop, index, tally)
        else:
            _show_student(place, stop, tally)
        if tally.full:
            st.caption(words["full"].format(most=CLASS_ANSWERS))


def _show_student(place: Seat, stop: Stop | None, tally: Tally) -> None:
    words = text("lesson")["class"]
    if stop is None:
        st.caption(words["student"].format(code=place.code))
        return
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(words["student"].format(code=place.code), width="content")
        # A student's panel does not update by itself.
        looks = st.button(words["look"], key="class_look", icon=":material/refresh:", type="tertiary", help=words["look_help"])
    if looks and not tally.shown:
        st.caption(words["not_shown"])
    if tally.shown:
        st.html(tally_table(stop, tally))


def _show_teacher(place: Seat, stop: Stop | None, index: int, tally: Tally) -> None:
    words = text("lesson")["class"]
    line = words["line" if stop else "line_without"].format(joined=tally.joined, answered=tally.answered)
    code = Markup('<div class="class-line">{} <strong>{}</strong> {}</div>').format(words["code"], place.code, line)
    sees, small = False, presenting()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.html(code, width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content", gap="small"):
            if stop:
                sees = _pick_who_sees(place, index, tally, small)
            # On a projector the panel is one line, which leaves room for the picture.
            _invite(place, small, tally.joined)
            if not small:
                _close_button(place)
    if not tally.joined and not warn_local(short=small):
        st.markdown(words["nobody_yet"].format(address=literal(app_address()), code=place.code))
    if stop and sees:
        st.html(tally_table(stop, tally))


def _invite(place: Seat, small: bool, joined: int) -> None:
    """Draw the code with which students join. On a projector it fills the screen, and the teacher's link is left out."""
    words, state = text("lesson")["class"], st.session_state
    if not small:
        menu = st.popover(words["invite"], icon=":material/qr_code_2:", key=INVITE, on_change="rerun")
        if menu.open:
            with menu:
                show_code(place)
                show_teacher_link(place)
        return

    def turn_over() -> None:
        state[INVITED] = None if state.get(INVITED) == place.code else place.code

    # Both buttons show only their icon. Screen readers read the label: app.css.
    st.button(words["invite"], key="class_show_code", icon=":material/qr_code_2:", help=words["invite"], on_click=turn_over)
    if state.get(INVITED) == place.code:
        with st.container(key="class_code_screen", horizontal_alignment="center", vertical_alignment="center", gap="small"):
            show_code(place)
            st.html(Markup('<p class="class-joined">{}</p>').format(words["line_without"].format(joined=joined)))
            st.button(words["hide_code"], key="class_hide_code", on_click=turn_over, icon=":material/close:")
    with st.popover(words["more"], key="class_more", icon=":material/more_vert:", help=words["more"]):
        st.caption(words["teacher_elsewhere"])
        _close_button(place)


def _close_button(place: Seat) -> None:
    label = text("lesson")["class"]["close"]
    st.button(label, key="class_close", on_click=_close, args=(place,), icon=":material/logout:")


def _pick_who_sees(place: Seat, index: int, tally: Tally, small: bool) -> bool:
    """Draw the choice of who sees the answers to the question, with short labels if `small`. Returns whether this screen shows
    them."""
    words, state = text("lesson")["class"], st.session_state
    key = f"class_sees_{place.code}_{index}"
    # The teacher can have changed the choice on another screen.
    if tally.shown:
        state[key] = EVERYBODY
    elif state.get(key, EVERYBODY) == EVERYBODY:
        state[key] = NOBODY

    def note() -> None:
        classes().show(place.code, place.secret, index, state[key] == EVERYBODY)

    chosen = st.segmented_control(
        words["sees"],
        (NOBODY, HERE, EVERYBODY),
        key=key,
        required=True,
        format_func=lambda option: words["seen_by_short" if small else "seen_by"][option],
        on_change=note,
        label_visibility="collapsed",
    )
    return chosen != NOBODY


def _close(place: Seat) -> None:
    classes().close(place.code, place.secret)
    take_seat()
    st.rerun()  # the whole app, because the address names the class, and this fragment runs every few seconds


# --- the answers as a table


class _Rows(NamedTuple):
    """The rows of a table of answers.

    Attributes:
        rows: returns the rows in which an answer is counted.
        labels: row → its label, as plain text or HTML, in the order of the table.
    """

    rows: Callable[[str], Sequence[float]]
    labels: Mapping[float, str]


def tally_table(stop: Stop, tally: Tally) -> Markup:
    """A table with bars: the number of students whose first answer, and whose last answer, each answer is.

    Args:
        stop: the stop of the question.
        tally: the answers of the class.
    """
    words = text("lesson")["class"]
    assert stop.question is not None  # a stop without a question has no answers
    try:
        listed = _listed(stop, stop.question, Counter(tally.first) + Counter(tally.last))
    except HeadlightError as error:
        return Markup("<p>{}</p>").format(sentence(error))
    first, last = (_counted(given, listed) for given in (tally.first, tally.last))
    most = max(1, tally.answered)
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}{}</tr>').format(label, _cell(first[row], most), _cell(last[row], most))
        for row, label in listed.labels.items()
    )
    head = Markup('<tr><td></td><th scope="col">{}</th><th scope="col">{}</th></tr>').format(words["first"], words["last"])
    caption = words["caption"].format(answered=tally.answered, joined=tally.joined, changed=tally.changed)
    several = stop.question.kind == "tokens" and stop.question.most > 1
    note = Markup("<p>{}</p>").format(words["several"]) if several else Markup("")
    return Markup('<div class="tally"><table><caption>{}</caption>{}{}</table>{}</div>').format(caption, head, rows, note)


def _cell(count: int, most: int) -> Markup:
    bar = Markup('<span style="width: {:.0f}%"></span>').format(100 * count / most) if count else ""
    return Markup("<td><div>{}<b>{}</b></div></td>").format(bar, count)


def _counted(given: Mapping[str, int], listed: _Rows) -> Counter[float]:
    """Row → the number of students whose answer is counted in it. Answers without a row of their own are in `math.inf`."""
    counts: Counter[float] = Counter()
    for answer, count in given.items():
        for row in listed.rows(answer):
            counts[row if row in listed.labels else math.inf] += count
    return counts


def _listed(stop: Stop, question: Question, given: Mapping[str, int]) -> _Rows:
    """The rows of the table: all options, the tokens that were marked at least once, or the most frequent numbers."""
    words = text("lesson")["class"]
    if question.kind == "choose":
        options: dict[float, str] = {
            place: line_as_html(filled(stop, option)) for place, option in enumerate(question.options, 1)
        }
        return _Rows(lambda answer: places(answer) or (), options)
    if question.kind == "order":
        right = "-".join(map(str, range(len(question.options))))
        return _Rows(lambda answer: (float(answer != right),), {0.0: words["in_order"], 1.0: words["not_in_order"]})
    if question.kind == "tokens":
        truth = truth_of(stop)
        marked = {position for answer in given for position in places(answer) or ()}
        tokens = enumerate(truth.tokens if truth else ())
        return _Rows(
            lambda answer: places(answer) or (),
            {position: token_at(position, token) for position, token in tokens if position in marked},
        )
    values: Counter[float] = Counter()
    for answer, count in given.items():
        values[_value(answer)] += count
    numbers = {value: number(value, 6) for value in sorted(value for value, _ in values.most_common(NUMBERS))}
    return _Rows(lambda answer: (_value(answer),), numbers | ({math.inf: words["others"]} if len(values) > NUMBERS else {}))


def _value(answer: str) -> float:
    return number_of(answer) or 0.0
