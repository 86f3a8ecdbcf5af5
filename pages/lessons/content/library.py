"""The shipped lessons, and the lessons that a visitor opens from a file or a link."""

import logging
from functools import cache
from pathlib import Path

import streamlit as st

from pages.lessons.content.lesson import Lesson, LessonError
from pages.lessons.content.packing import PACKED, unpack
from pages.lessons.content.reading import read_toml
from pages.ui.caches import cached
from pages.ui.text import ENGLISH, language
from transformer.assets import assets

LOG = logging.getLogger("headlight")
FOLDER = assets() / "lessons"
# Session key of a dict: name → lesson, for the lessons of this session.
OWN = "own_lessons"
OWN_PREFIX = "my-"
# Ending of the name of a lesson's short form.
CORE = "-core"


def shipped() -> dict[str, Lesson]:
    """The shipped lessons in their order: name of the file without its ending → lesson. A short form of a lesson has its own
    entry, with `-core` after the name. A lesson that is not translated into the session's language is in English. Lessons that
    exceed the limits of this server are left out."""
    return lessons_in(FOLDER, language())


# The common cache is not used, because these are files of the app, which no visitor can change.
@cache
def lessons_in(folder: Path, language: str) -> dict[str, Lesson]:
    """The lessons of a folder that has a subfolder for each language: name → lesson, as `shipped` returns them."""
    lessons = {}
    for file in {file.name: file for name in (ENGLISH, language) for file in (folder / name).glob("*.toml")}.values():
        try:
            lesson = read_toml(file.read_bytes())
            if short := lesson.short_form:
                lessons[file.stem + CORE] = short
            lessons[file.stem] = lesson
        except LessonError as error:  # an operator's limits allow less than the lesson has
            LOG.warning("The lesson %s is left out: %s", file, error)
    return dict(sorted(lessons.items(), key=lambda item: (item[1].order, len(item[1].stops), item[0])))


def lesson_of(name: str) -> Lesson:
    """A lesson by its name in a URL. The lesson is shipped, was added to this session, or is packed into the name itself.

    Raises:
        LessonError: no lesson has this name, or the name is only a part of a packed lesson.
    """
    if name in shipped():
        return shipped()[name]
    own = st.session_state.get(OWN, {})
    if name in own:
        return own[name]
    if name.startswith(PACKED):
        return _unpacked(name)
    if name.startswith(OWN_PREFIX):
        raise LessonError(
            "This lesson was opened from a file in another tab, or before this page was reloaded. Open the file again."
        )
    raise LessonError("There is no lesson {name!r}; the page Lessons lists all.", name=name)


@cached
def _unpacked(name: str) -> Lesson:
    return unpack(name)


def all_lessons() -> dict[str, Lesson]:
    """The shipped lessons and those that the visitor added to this session: name → lesson."""
    return {**shipped(), **st.session_state.get(OWN, {})}


def add_own(name: str, lesson: Lesson) -> str:
    """Add a lesson to this session, or replace the lesson of this name. Returns its name in URLs: `my-` and `name`."""
    st.session_state.setdefault(OWN, {})[OWN_PREFIX + name] = lesson
    return OWN_PREFIX + name
