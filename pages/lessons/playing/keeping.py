"""Keep page views (a page with its URL parameters), from which the page Lessons makes a lesson.

The kept views are in the session. The browser's tab stores a copy, so that they survive a reload of the page.
"""

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from pages.lessons.content.lesson import Lesson, LessonError, Stop
from pages.lessons.content.reading import RESERVED, VIEW_CHARACTERS, as_table, read_lesson
from pages.shell.frame.navigation import exists
from pages.ui.escaping import literal
from pages.ui.limits import LESSON_BYTES, LESSON_CHARACTERS, LESSON_PARAMETERS, LESSON_STOPS
from pages.ui.presenting import PRESENT
from pages.ui.tab_memory import tab_memory
from pages.ui.text import text

# Session keys: a list of `Kept`; the number of the next `Kept`; field of the whole lesson → its value in the editor; names of
# the parameters that the newest kept view lacks because they are too long or too many.
KEPT, NEXT, WORDS, MISSING = "kept_views", "kept_next", "kept_words", "kept_missing"
# Page → parameters that a kept view always has. An address leaves out defaults, but a default can change with a model's card.
ALWAYS = {"attention": ("model", "source", "kind", "layer", "head")}
SILENT = "-"  # stands for a text that a kept view does not have
# Name of the copy in the tab.
STORE = "kept_views"

Field = str | float | bool


@dataclass
class Kept:
    """A page view (a page with its URL parameters) that the visitor kept for a lesson.

    Attributes:
        number: identifies the view, also after views have changed places.
        stop: the page and its view, or a whole stop of an opened lesson, without the values of the editor's boxes.
        fields: name of a field of the editor → its value for this view.
    """

    number: int
    stop: Stop
    fields: dict[str, Field] = field(default_factory=dict)


def kept() -> list[Kept]:
    """The page views that the visitor kept for a lesson, in order. Changing the list changes the session."""
    return st.session_state.setdefault(KEPT, [])


def kept_words() -> dict[str, Field]:
    """The values of the whole lesson in the editor, by field, such as `title`. Changing the dict changes the session."""
    return st.session_state.setdefault(WORDS, {})


def show_keep() -> None:
    """Draw the button that keeps the view of the page for a lesson. Call it below the page."""
    if st.session_state["page"] == "lessons":  # the page has no view of a model
        return
    words = text("lesson")["keep"]
    full = len(kept()) >= LESSON_STOPS
    st.button(
        words["button"],
        key="keep_view",
        on_click=_keep,
        icon=":material/bookmark_add:",
        type="tertiary",
        disabled=full,
        help=words["help"],
    )
    missing = st.session_state.pop(MISSING, ())
    if missing:
        names = literal(", ".join(missing))
        st.warning(
            words["missing"].format(names=names, most=VIEW_CHARACTERS, count=LESSON_PARAMETERS), icon=":material/content_cut:"
        )
    if kept():
        st.caption(words["count"].format(count=len(kept()), most=LESSON_STOPS))
        keep_copy()


def keep_copy() -> bool:
    """Store a copy of the page views kept for a lesson in the browser's tab, or restore the copy that the tab stored before a
    reload. Call it once in a run of the app. Returns whether the views are short enough for a copy."""
    views = [{**as_table(Lesson(title="t", stops=(each.stop,)))["stops"][0], "fields": each.fields} for each in kept()]
    copy = json.dumps({"words": kept_words(), "views": views}, ensure_ascii=False)
    short = len(copy.encode()) <= LESSON_BYTES
    tab_memory(STORE, copy if short and kept() else "", restore)
    return short


def restore(copy: str) -> None:
    """Insert the page views of `copy` (`keep_copy`) before those that were kept after the copy was stored. The copy comes from
    a browser, so it is untrusted: invalid views and values are left out."""
    try:
        values = json.loads(copy) if len(copy.encode()) <= LESSON_BYTES else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, Mapping):
        return
    views = values.get("views")
    for place, view in enumerate(views[:LESSON_STOPS] if isinstance(views, list) else []):
        if isinstance(view, dict):
            fields = _fields(view.pop("fields", None))
            with suppress(LessonError):
                take(_stop(view), fields, place)
    st.session_state[WORDS] = _fields(values.get("words")) | kept_words()


def _stop(table: dict[Any, Any]) -> Stop:
    (stop,) = read_lesson({"title": "t", "stops": [{"say": SILENT, **table}]}).stops
    if not exists(stop.page):
        raise LessonError("There is no page {page!r}.", page=stop.page)
    return replace(stop, say="" if stop.say == SILENT else stop.say)


def take(stop: Stop, fields: dict[str, Field], place: int = LESSON_STOPS) -> None:
    """Insert a stop (step of a lesson) into the page views kept for a lesson, before the index `place`, by default at the end.
    `fields` are the values of its boxes in the editor. Nothing happens if `LESSON_STOPS` views are kept already."""
    if len(kept()) < LESSON_STOPS:
        number = st.session_state.get(NEXT, 0)
        st.session_state[NEXT] = number + 1
        kept().insert(place, Kept(number, stop, fields))


def _fields(values: Any) -> dict[str, Field]:
    pairs = values.items() if isinstance(values, Mapping) else ()
    return {
        name: value[:LESSON_CHARACTERS] if isinstance(value, str) else value
        for name, value in [*pairs][:LESSON_PARAMETERS]
        if isinstance(value, str | bool) or (isinstance(value, int | float) and math.isfinite(value))
    }


def _keep() -> None:
    """Add the view of the page to the kept views: its URL parameters, and the defaults that the URL leaves out."""
    state = st.session_state
    page = state["page"]
    view = {name: st.query_params[name] for name in st.query_params if name not in (*RESERVED, PRESENT)}
    always = ALWAYS.get(page, ("model", "source"))
    view = {name: str(state[name]) for name in always if state.get(name)} | view
    short = [(name, value) for name, value in view.items() if len(value) <= VIEW_CHARACTERS][:LESSON_PARAMETERS]
    state[MISSING] = tuple(name for name in view if name not in dict(short))
    words = text(page)
    # The stop scrolls to the picture that the page shows alone in a frame of another site (embed.py).
    stop = Stop(title=words["title"], say="", page=page, view=tuple(short), place=words.get("figure", ""))
    take(stop, {})
