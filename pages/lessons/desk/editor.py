"""The editor of own lessons: put kept page views in order, add texts and questions, and play, save or share the lesson."""

import re
from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages.lessons.content.app_address import app_address, is_local
from pages.lessons.content.lesson import Lesson, LessonError, Question, Stop
from pages.lessons.content.library import add_own, all_lessons
from pages.lessons.content.packing import pack
from pages.lessons.content.reading import MINUTES, TITLE, as_table, as_toml, read_lesson
from pages.lessons.content.value_readers import SHORT
from pages.lessons.desk.boxes import Boxes, key_of
from pages.lessons.desk.computed import COMPUTED, computed_question
from pages.lessons.playing.keeping import Field, Kept, keep_copy, kept, kept_words, take
from pages.lessons.playing.open_lesson import NAME, start_lesson
from pages.shell.error_boundary import sentence
from pages.shell.models.catalogue import is_only_here
from pages.ui.escaping import literal
from pages.ui.export_menu import download
from pages.ui.limits import LESSON_BYTES, LESSON_LINK, LESSON_OPTIONS, LESSON_STOPS
from pages.ui.text import text
from transformer import HeadlightError

# An option with this beginning starts with *italic* or **bold** words. Its star does not mark it as the right option.
EMPHASIS = re.compile(r"\*\*[^*]+\*\*|\*[^*\s](?:[^*]*[^*\s])?\*")
# Fields of a whole lesson that are kept unchanged, and the field that is kept as one text with several lines.
WHOLE, LEARNT = ("title", "about", "audience", "discuss", "core_title", "core_about"), "learnt"
QUESTIONS = ("none", "opened", "choose", "order", *COMPUTED)
# Session key of the place of the view that was removed last, and the view.
REMOVED = "kept_removed"


def show_editor() -> None:
    """Draw the lesson editor: each kept page view as a step of the lesson to fill in, then the ways to play, save and share
    it."""
    words = text("lessons")
    st.markdown(words["own_text"].format(most=LESSON_STOPS))
    _show_removed()
    _show_open()
    if not kept():
        keep_copy()
        st.info(words["own_none"], icon=":material/bookmark:")
        return
    typed = kept_words()
    title = typed["title"] = st.text_input(words["lesson_title"], max_chars=TITLE, key=key_of("lesson", "title", typed, ""))
    about = typed["about"] = st.text_input(words["lesson_about"], max_chars=SHORT, key=key_of("lesson", "about", typed, ""))
    stops = tuple(_edit(place, view) for place, view in enumerate(list(kept())))
    if not keep_copy():
        st.warning(words["own_long"].format(most=LESSON_BYTES), icon=":material/save:")
    whole = tuple(stop for stop in stops if stop)
    if len(whole) < len(stops):
        open_stops = [str(place) for place, stop in enumerate(stops, 1) if stop is None]
        st.info(words["own_open"].format(stops=", ".join(open_stops)), icon=":material/edit_note:")
        return
    try:
        # Read the lesson back, so that it is checked like a lesson from a file or a link.
        lesson = read_lesson(
            {**as_table(Lesson(title=title.strip() or words["untitled"], about=about, stops=whole)), **_rest(typed)}
        )
    except LessonError as error:
        st.warning(literal(sentence(error)), icon=":material/edit_note:")
        return
    _share(lesson)


def _edit(place: int, view: Kept) -> Stop | None:
    """Draw the boxes of one stop (step of a lesson). Returns the stop with the values of the boxes; None while its question is
    not finished."""
    words, boxes, stop, problem = text("lessons"), Boxes(view), view.stop, None

    # With a key, the stop stays open while its title is changed.
    title = f"{place + 1}. {literal(boxes.shown('title', stop.title))}"
    with st.expander(title, icon=":material/bookmark:", key=boxes.key("fold")):
        st.caption(literal(f"{stop.page}: " + ", ".join(f"{name} = {value}" for name, value in stop.view)))
        heading = boxes.line("title", stop.title, TITLE)
        say = boxes.lines("say", 100)
        question = None
        try:
            question = _question(place, boxes)
        except HeadlightError as error:
            problem = error
            st.warning(literal(sentence(error)), icon=":material/edit_note:")
        reveal = boxes.lines("reveal", 80)
        notes = boxes.lines("notes", 68)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            minutes = boxes.number("minutes", 0.0, float(MINUTES), 1.0, 0.5)
            cover = boxes.flag("cover", disabled=question is None)
            st.button(words["up"], key=boxes.key("up"), on_click=_move, args=(place, -1), disabled=not place)
            last = place + 1 == len(kept())
            st.button(words["down"], key=boxes.key("down"), on_click=_move, args=(place, 1), disabled=last)
            st.button(words["remove"], key=boxes.key("remove"), on_click=_remove, args=(place,), icon=":material/delete:")
            preview = st.container(width="content")
    if problem:
        return None
    # A stop must have a text. While its box is empty, the title is the text.
    whole = replace(
        stop,
        title=heading.strip() or stop.title,
        say=say.strip() or heading.strip() or stop.title,
        question=question,
        reveal=reveal,
        notes=notes,
        minutes=minutes,
        cover=cover and question is not None,
    )
    try:
        lesson = read_lesson(as_table(Lesson(title=whole.title, stops=(whole,))))
    except LessonError:
        return whole  # `show_editor` cannot read the whole lesson either, and draws the error
    preview.button(words["preview"], key=boxes.key("preview"), on_click=_play, args=(lesson,), icon=":material/play_arrow:")
    return whole


def _show_open() -> None:
    """Draw the button that adds the stops of a lesson to the kept views, to edit them."""
    words, lessons = text("lessons"), all_lessons()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(words["take_lesson"], list(lessons), key="own_take", format_func=lambda name: lessons[name].title)
        full = len(kept()) >= LESSON_STOPS
        st.button(words["take"], key="own_take_stops", on_click=_take, args=(lessons[name],), disabled=full)


def _rest(typed: Mapping[str, Field]) -> dict[str, object]:
    """The fields of an opened lesson for which the editor has no box, in the form of a lesson's file."""
    learnt = str(typed.get(LEARNT, "")).splitlines()
    rest = {name: typed[name] for name in WHOLE if name not in ("title", "about") and typed.get(name)}
    return {**rest, **({LEARNT: learnt} if learnt else {})}


def _take(lesson: Lesson) -> None:
    typed = kept_words()
    if not kept():
        typed |= {name: getattr(lesson, name) for name in WHOLE} | {LEARNT: "\n".join(lesson.learnt)}
    for stop in lesson.stops:
        take(stop, _fields(stop))


def _fields(stop: Stop) -> dict[str, Field]:
    """The values of the boxes for a stop of a lesson."""
    fields: dict[str, Field] = {name: getattr(stop, name) for name in ("title", "say", "reveal", "notes", "cover")}
    fields |= {"minutes": float(stop.minutes), "kind": "none"}
    question = stop.question
    if question:
        stars = ["*" if place == question.answer else "" for place in range(1, len(question.options) + 1)]
        fields |= {
            "kind": "opened" if question.truth else question.kind,
            "ask": question.ask,
            "options": "\n".join(star + option for star, option in zip(stars, question.options, strict=True)),
            "reasons": "\n".join(" ".join(reason.split()) for reason in question.reasons),
        }
    return fields


def _question(place: int, boxes: Boxes) -> Question | None:
    """Draw the boxes for the question of a lesson's stop (step). Returns the question; None if the stop has no question.

    Raises:
        HeadlightError: the question is not finished, or its truth cannot be computed.
    """
    words = text("lessons")
    opened = boxes.view.stop.question
    kinds = [kind for kind in QUESTIONS if COMPUTED.get(kind) in (None, boxes.view.stop.page)]
    if opened is None or opened.truth is None:
        kinds.remove("opened")
    kind = boxes.pick("kind", kinds, words["questions"])
    if kind == "none":
        return None
    ask = boxes.line("ask")
    if kind == "opened" and opened:
        return replace(opened, ask=ask)
    if kind in COMPUTED:
        return computed_question(boxes, kind, ask)
    options = _lines(boxes.lines("options", 100, LESSON_OPTIONS * SHORT, words["options_help"]))
    reasons = tuple(_lines(boxes.lines("reasons", 80, LESSON_OPTIONS * SHORT)))
    if kind == "order":
        return Question(kind="order", ask=ask, options=tuple(options), reasons=reasons[:1])
    starred = [option.startswith("*") and not EMPHASIS.match(option) for option in options]
    if True not in starred:
        raise LessonError("Stop {number}: put a * before the right option.", number=place + 1)
    plain = tuple(option[1:].strip() if star else option for star, option in zip(starred, options, strict=True))
    return Question(kind="choose", ask=ask, options=plain, reasons=reasons, answer=starred.index(True) + 1)


def _lines(written: str) -> list[str]:
    """The lines of a text without space around them. Empty lines are left out."""
    return [line.strip() for line in written.splitlines() if line.strip()]


def _move(place: int, by: int) -> None:
    stops = kept()
    stops[place], stops[place + by] = stops[place + by], stops[place]


def _remove(place: int) -> None:
    st.session_state[REMOVED] = (place, kept().pop(place))


def _show_removed() -> None:
    """If a stop (step of a lesson) was removed, draw the button that puts the last removed stop back, with its texts."""
    if REMOVED in st.session_state:
        place, view = st.session_state[REMOVED]
        label = text("lessons")["put_back"].format(title=literal(str(view.fields.get("title") or view.stop.title)))
        full = len(kept()) >= LESSON_STOPS
        st.button(label, key="own_put_back", on_click=_put_back, args=(place, view), icon=":material/undo:", disabled=full)


def _put_back(place: int, view: Kept) -> None:
    kept().insert(place, view)
    del st.session_state[REMOVED]


def _share(lesson: Lesson) -> None:
    """Draw the buttons to play a lesson and to save it as a file, and the link to share it."""
    words = text("lessons")
    with st.container(horizontal=True):
        st.button(words["play"], key="play_own", on_click=_play, args=(lesson,), icon=":material/play_arrow:")
        download(words["save"], as_toml(lesson), "lesson.toml")
    apart = [str(place) for place, stop in enumerate(lesson.stops, 1) if is_only_here(dict(stop.view).get("model", ""))]
    if apart:
        st.info(words["only_here"].format(stops=", ".join(apart)), icon=":material/folder_shared:")
    try:
        packed = pack(lesson)
    except LessonError as error:
        st.warning(literal(sentence(error)), icon=":material/link_off:")
        return
    st.markdown(f"**{words['link']}**")
    address = app_address()
    st.code(f"{address}/?{NAME}={packed}", None, wrap_lines=True)
    st.caption(words["link_text"].format(count=len(packed), most=LESSON_LINK))
    if is_local(address):
        st.caption(words["link_local"].format(address=literal(address)))


def _play(lesson: Lesson) -> None:
    start_lesson(add_own("own", lesson))
