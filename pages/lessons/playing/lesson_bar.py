"""The bar above every page while a lesson is open: the text of the stop, its question, and the links to other stops."""

from pathlib import Path
from typing import Any

import streamlit as st

from pages.lessons.class_mode.seat import class_phase, teaches_class
from pages.lessons.content.grading import right_answer
from pages.lessons.content.lesson import ABOUT_HEADS, Lesson, LessonError, Phase, Stop
from pages.lessons.content.question_data import question_data
from pages.lessons.content.truths import filled, truth_of
from pages.lessons.playing.answering import KEY, advance_class, keep_answer, take_answer
from pages.lessons.playing.asked import ROW
from pages.lessons.playing.class_panel import show_class, warn_class
from pages.lessons.playing.ending import ending
from pages.lessons.playing.open_lesson import (
    FROM,
    OpenLesson,
    address_of_stop,
    lesson_in_class,
    open_lesson,
    start_address,
)
from pages.lessons.playing.picture import CONTAINER, show_picture
from pages.shell.error_boundary import sentence
from pages.shell.frame.glossary import with_marks
from pages.shell.frame.navigation import address, exists
from pages.shell.models.catalogue import trained
from pages.shell.view.view import OWN_SIZES
from pages.ui.component import Element, mounted
from pages.ui.escaping import literal
from pages.ui.presenting import presenting
from pages.ui.prose import prose
from pages.ui.style import style
from pages.ui.text import linked_language, text
from transformer import PRESETS, HeadlightError

LONGEST = 80  # characters of a text in the sentence about what is on the page

_STYLE = style(Path(__file__).with_name("lesson_page.css"))

_mount = mounted(Path(__file__).with_name("bar"))


def lesson_bar() -> None:
    """If a lesson is open, draw its bar, with text and question of the stop, and the pictures below. Call it above the page."""
    if open_lesson():
        st.html(_STYLE)
    _show_bar()
    show_picture()


@st.fragment(key=KEY)
def _show_bar() -> None:
    opened = open_lesson()
    warn_class()
    if opened is None:
        return
    try:
        lesson = lesson_in_class(opened)
    except LessonError as error:
        st.warning(literal(sentence(error)), icon=":material/school:")
        return
    _mount(
        key=KEY,
        data=_data(opened, lesson),
        on_answer_change=take_answer,
        on_keep_change=keep_answer,
        on_advance_change=advance_class,
    )
    show_class(lesson, opened.stop)


def _data(opened: OpenLesson, lesson: Lesson) -> dict[str, Any]:
    words, count, teaches = text("lesson"), len(lesson.stops), teaches_class()
    index = min(opened.stop, count)
    data: dict[str, Any] = {
        "lesson": lesson.title,
        "stop": index + 1,
        "share": index / count,
        "back": address_of_stop(opened, lesson, index - 1) if index else "",
        "next": address_of_stop(opened, lesson, index + 1) if index < count else "",
        "here": address_of_stop(opened, lesson, index),
        "leave": st.session_state.get(FROM, "."),
        "asks_to_leave": teaches is not None,
        "restart": start_address(opened.name, lesson),
        "all": address("lessons", linked_language()) if exists("lessons") else "",
        "last": index + 1 == count,
        "ended": index == count,
        "target": "",
        "framed": False,
        "covers": False,
        "started": opened.started,
        "viewless": opened.viewless,
        "left": "",
        "on": [],
        "reveal": [],
        "sheet": [],
        "advance": None,
        "advances": "",
        "learnt": [],
        "follows": [],
        "teaches": bool(teaches),
        "notes": _notes(lesson, index) if (presenting() if teaches is None else teaches) else None,
        "text": words["bar"],
    }
    if index == count:
        return data | ending(opened, lesson)
    stop = lesson.stops[index]
    minutes = sum(each.minutes for each in lesson.stops[index:])
    phase = class_phase(index)
    question = question_data(lesson, index, opened.answers.get(index), phase=phase)
    if question and teaches and phase is not None and phase < Phase.REVEAL:
        # The teacher does not answer: options are only shown, but tokens can be pointed at on the picture. The link to the next
        # stop becomes a button that begins the next phase.
        question["open"] = question["kind"] != "choose"
        following = Phase(phase + 1)
        data |= {"advance": {"stop": index + 1, "to": int(following)}, "next": ""}
        data["advances"] = words["class"]["phases"][following.name.lower()]
    if phase is not None:
        data["text"] = words["bar"] | {"show": words["class"]["keep"]}
    if teaches is False:  # the phones of students follow the teacher's stop
        data |= {"next": "", "back": ""}
    waits = question is not None and not question["settled"]
    pictured = waits and stop.asks == ROW
    if question and pictured:
        question |= {"pictured": True, "marked": list(opened.marked)}
    # While the page hides its heads, it opens at the top, with the two texts that the question is about.
    place = "" if waits and stop.asks in ABOUT_HEADS else stop.place
    data |= {
        "place": words["place"].format(stop=index + 1, count=count),
        "left": words["left"].format(minutes=max(1, round(minutes))),
        "title": stop.title,
        "on": _on_page(lesson, index),
        "say": [] if stop.say == stop.title else [*map(with_marks, prose(filled(stop, stop.say)))],
        "target": CONTAINER if pictured or (stop.drawn and not waits) or (phase is Phase.REVEAL) else place,
        "framed": bool(stop.row),
        "covers": stop.cover and waits,
        "questions": [question] if question else [],
    }
    if question is None or question["settled"]:
        data["reveal"] = prose(filled(stop, stop.reveal))
    if not exists(stop.page):
        data["reveal"] = prose(words["no_stop_page"])
    return data


def _on_page(lesson: Lesson, index: int) -> list[Element]:
    """A sentence that names the texts and the model of a lesson's stop (step), and says so if the app does not have the model.
    Empty if the stop lacks a text or a model, or has the same as the stop before."""
    now, before = (
        {name: dict(stop.view).get(name) for name in ("source", "batch", "model")}
        for stop in (lesson.stops[index], lesson.stops[index - 1])
    )
    if not (now["source"] and now["model"]) or (index and now == before):
        return []
    words, sources = text("lesson"), [now["source"], *(now["batch"] or "").split("\n")]
    short = [source if len(source) <= LONGEST else f"{source[:LONGEST]}…" for source in sources if source]
    named = ", ".join(words["on_page_source"].format(source=source) for source in short)
    model = now["model"]
    says = words["on_page" if trained(model) or model in (*PRESETS, OWN_SIZES) else "on_page_missing"]
    return [["p", {"class": "quiet"}, says.format(sources=named, model=model)]]


def _notes(lesson: Lesson, index: int) -> dict[str, Any]:
    """The data for the teacher at the stop (step) with this index, from 0: the notes on it and the right answer to its question
    (`says`), the title of the next stop (`next`), and the minutes that are planned up to the end of this stop (`planned`)."""
    stops, words = lesson.stops, text("lesson")["bar"]
    stop = stops[index] if index < len(stops) else None
    says = prose(filled(stop, stop.notes)) if stop else []
    return {
        "says": (says or prose(words["no_notes"])) + (_answer(stop) if stop else []),
        "next": words["notes_next"].format(title=stops[index + 1].title) if index + 1 < len(stops) else "",
        "planned": round(sum(stop.minutes for stop in stops[: index + 1])),
    }


def _answer(stop: Stop) -> list[Element]:
    """The right answer to the question of a lesson's stop (step), as a sentence; empty if the stop has no question, or the
    truth cannot be computed."""
    try:
        answer = right_answer(stop.question, truth_of(stop)) if stop.question else ""
    except HeadlightError:
        return []
    return [["p", {}, text("lesson")["class"]["answer_is"].format(answer=answer)]] if answer else []
