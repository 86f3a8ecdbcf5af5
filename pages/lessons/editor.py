"""A lesson of one's own: put kept views in order, add words and a question, and play, save or share it."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pages.shell.error_boundary import sentence
from pages.shell.lessons.keeping import kept
from pages.shell.lessons.lesson import Lesson, LessonError, Question, Stop
from pages.shell.lessons.library import add_own
from pages.shell.lessons.packing import pack
from pages.shell.lessons.player import NAME, start_lesson
from pages.shell.lessons.reading import MINUTES, SHORT, TITLE, as_table, as_toml, read_lesson
from pages.ui.escaping import literal
from pages.ui.limits import LESSON_CHARACTERS, LESSON_LINK, LESSON_OPTIONS
from pages.ui.text import text

QUESTIONS = ("none", "choose", "order")


def show_editor() -> None:
    """Draw the kept views, each as a stop to fill in, and what can be done with the lesson."""
    words = text("lessons")
    st.markdown(words["own_text"])
    if not kept():
        st.info(words["own_none"], icon=":material/bookmark:")
        return
    title = st.text_input(words["lesson_title"], max_chars=TITLE, key="own_lesson_title")
    about = st.text_input(words["lesson_about"], max_chars=SHORT, key="own_lesson_about")
    try:
        stops = tuple(_edit(place, number, stop) for place, (number, stop) in enumerate(list(kept())))
        # Read back, so that a lesson made here holds to what a lesson from anywhere must.
        lesson = read_lesson(as_table(Lesson(title=title.strip() or words["untitled"], about=about, stops=stops)))
    except LessonError as error:
        st.warning(literal(sentence(error)), icon=":material/edit_note:")
        return
    _share(lesson)


def _edit(place: int, number: int, stop: Stop) -> Stop:
    """Draw the boxes of one stop; returns the stop as they have it.

    Raises:
        LessonError: the right option has no star.
    """
    words = text("lessons")

    def key(name: str) -> str:
        return f"own_stop_{number}_{name}"

    with st.expander(f"{place + 1}. {literal(st.session_state.get(key('title'), stop.title))}", icon=":material/bookmark:"):
        st.caption(literal(f"{stop.page}: " + ", ".join(f"{name} = {value}" for name, value in stop.view)))
        heading = st.text_input(words["stop_title"], stop.title, TITLE, key("title"))
        say = st.text_area(words["stop_say"], max_chars=LESSON_CHARACTERS, key=key("say"), height=100)
        question = _question(place, key)
        reveal = st.text_area(words["stop_reveal"], max_chars=LESSON_CHARACTERS, key=key("reveal"), height=80)
        notes = st.text_area(words["stop_notes"], max_chars=LESSON_CHARACTERS, key=key("notes"), height=68)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            minutes = st.number_input(words["stop_minutes"], 0.0, float(MINUTES), 1.0, 0.5, key=key("minutes"), width=130)
            cover = st.toggle(words["cover"], key=key("cover"), disabled=question is None)
            st.button(words["up"], key=key("up"), on_click=_move, args=(place, -1), disabled=not place)
            st.button(words["down"], key=key("down"), on_click=_move, args=(place, 1), disabled=place + 1 == len(kept()))
            st.button(words["remove"], key=key("remove"), on_click=_remove, args=(place,), icon=":material/delete:")
    # A stop needs words; until there are any, its title stands for them.
    return replace(
        stop,
        title=heading.strip() or stop.title,
        say=say.strip() or heading.strip() or stop.title,
        question=question,
        reveal=reveal,
        notes=notes,
        minutes=minutes,
        cover=cover and question is not None,
    )


def _question(place: int, key: Callable[[str], str]) -> Question | None:
    words = text("lessons")
    kind = st.segmented_control(
        words["question"], QUESTIONS, default="none", key=key("kind"), format_func=lambda name: words["questions"][name]
    )
    if kind in (None, "none"):
        return None
    ask = st.text_input(words["ask"], max_chars=SHORT, key=key("ask"))
    written = st.text_area(words["options"], max_chars=LESSON_OPTIONS * SHORT, key=key("options"), help=words["options_help"])
    told = st.text_area(words["reasons"], max_chars=LESSON_OPTIONS * SHORT, key=key("reasons"))
    options = [line.strip() for line in written.splitlines() if line.strip()]
    reasons = tuple(line.strip() for line in told.splitlines() if line.strip())
    if kind == "order":
        return Question(kind="order", ask=ask, options=tuple(options), reasons=reasons[:1])
    right = next((index + 1 for index, option in enumerate(options) if option.startswith("*")), 0)
    if not right:
        raise LessonError("Stop {number}: put a * before the right option.", number=place + 1)
    plain = tuple(option.removeprefix("*").strip() for option in options)
    return Question(kind="choose", ask=ask, options=plain, reasons=reasons, answer=right)


def _move(place: int, by: int) -> None:
    stops = kept()
    stops[place], stops[place + by] = stops[place + by], stops[place]


def _remove(place: int) -> None:
    del kept()[place]


def _share(lesson: Lesson) -> None:
    """Draw what can be done with a lesson: play it, save it as a file, share it as a link."""
    words = text("lessons")
    with st.container(horizontal=True):
        st.button(words["play"], key="play_own", on_click=_play, args=(lesson,), icon=":material/play_arrow:")
        st.download_button(
            words["save"], as_toml(lesson), "lesson.toml", "application/toml", icon=":material/download:", on_click="ignore"
        )
    try:
        packed = pack(lesson)
    except LessonError as error:
        st.warning(literal(sentence(error)), icon=":material/link_off:")
        return
    st.markdown(f"**{words['link']}**")
    address = st.context.url or ""
    st.code(f"{address.partition('?')[0].removesuffix('/').removesuffix('/lessons')}/?{NAME}={packed}", None, wrap_lines=True)
    st.caption(words["link_text"].format(count=len(packed), most=LESSON_LINK))


def _play(lesson: Lesson) -> None:
    start_lesson(add_own("own", lesson))
