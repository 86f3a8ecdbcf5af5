"""Keep the view of a page for a lesson of one's own. The session has the kept views, and the tab of the browser keeps a copy,
so that a page that is loaded again still has them; the page Lessons makes them a lesson."""

import json
import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from pages.shell.lessons.lesson import LessonError, Stop
from pages.shell.lessons.reading import RESERVED, VIEW_CHARACTERS, read_lesson
from pages.shell.lessons.views import exists
from pages.ui.compat import mount
from pages.ui.component import joined
from pages.ui.escaping import literal
from pages.ui.limits import LESSON_BYTES, LESSON_CHARACTERS, LESSON_PARAMETERS, LESSON_STOPS
from pages.ui.presenting import PRESENT
from pages.ui.text import text

# Session keys: a list of `Kept`; the number of the next one; what was typed on the lesson as a whole, by name; the name of this
# session in the storage of the tab; whether that was read; what of the address the view that was just kept has not; the view
# that was removed last, with its place.
KEPT, NEXT, WORDS, SESSION, READ = "kept_views", "kept_next", "kept_words", "kept_session", "kept_read"
MISSING, REMOVED = "kept_missing", "kept_removed"
# Pages without a view of a model.
LEFT_OUT = ("lessons",)
# What the address leaves out where it is the default, which the card of a model can set.
ALWAYS = {"attention": ("model", "source", "kind", "layer", "head")}
# Key of the script that keeps the copy in the tab.
STORE = "kept_store"

Field = str | float | bool

_mount = mount("headlight_kept", js=joined(Path(__file__).with_name("kept.js")))


@dataclass
class Kept:
    """A kept view.

    Attributes:
        number: its own, which stays the same when views change places.
        stop: with the page and its view; its words are not yet those of the lesson.
        fields: what was typed and chosen for it in the editor, by name.
    """

    number: int
    stop: Stop
    fields: dict[str, Field] = field(default_factory=dict)


def kept() -> list[Kept]:
    """The kept views in order. The list may be changed."""
    return st.session_state.setdefault(KEPT, [])


def kept_words() -> dict[str, Field]:
    """What was typed on the lesson as a whole, by name. It may be changed."""
    return st.session_state.setdefault(WORDS, {})


def remove(place: int) -> None:
    """Remove a kept view, counted from 0; the last one can be put back."""
    st.session_state[REMOVED] = (place, kept().pop(place))


def removed() -> Kept | None:
    """The kept view that was removed last and not put back; None without one."""
    return st.session_state.get(REMOVED, (0, None))[1]


def put_back() -> None:
    """Put the view that was removed last where it was; nothing without one, or where there is no room."""
    place, view = st.session_state.get(REMOVED, (0, None))
    if view is not None and len(kept()) < LESSON_STOPS:
        kept().insert(place, view)
        del st.session_state[REMOVED]


def show_keep() -> None:
    """Draw the button that keeps the view of the page. Call it below the page."""
    if st.session_state["page"] in LEFT_OUT:
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
    """Keep a copy of the kept views in the tab, or take over the one that it has from before the page was loaded again. Call it
    once in a run. Returns whether they are short enough to be kept."""
    state, copy = st.session_state, written()
    short = len(copy.encode()) <= LESSON_BYTES
    state.setdefault(SESSION, secrets.token_urlsafe(6))
    data = {"session": state[SESSION], "copy": copy if short and kept() else "", "read": state.get(READ, False)}
    _mount(key=STORE, data=data, on_restore_change=_restore)
    return short


def written() -> str:
    """The kept views as text."""
    views = [{"page": each.stop.page, "view": dict(each.stop.view), "fields": each.fields} for each in kept()]
    return json.dumps({"words": kept_words(), "views": views}, ensure_ascii=False)


def restore(copy: object) -> None:
    """Put the views of a copy before those kept since. The copy comes from a browser: what does not fit is left out."""
    try:
        values = json.loads(copy) if isinstance(copy, str) and len(copy.encode()) <= LESSON_BYTES else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, Mapping):
        return
    views = values.get("views")
    for place, view in enumerate(views if isinstance(views, list) else []):
        if len(kept()) < LESSON_STOPS and isinstance(view, Mapping):
            try:
                stop = _stop(view.get("page"), view.get("view"))
            except LessonError:
                continue
            kept().insert(min(place, len(kept())), Kept(_next(), stop, _fields(view.get("fields"))))
    st.session_state[WORDS] = _fields(values.get("words")) | kept_words()


def _stop(page: Any, view: Any) -> Stop:
    table = {"title": "t", "stops": [{"title": "t", "say": "s", "page": page, "view": view}]}
    (stop,) = read_lesson(table).stops
    if not exists(stop.page):
        raise LessonError("There is no page {page!r}.", page=stop.page)
    return Stop(title=text(stop.page)["title"], say="", page=stop.page, view=stop.view)


def _fields(values: Any) -> dict[str, Field]:
    pairs = values.items() if isinstance(values, Mapping) else ()
    return {
        name: value[:LESSON_CHARACTERS] if isinstance(value, str) else value
        for name, value in [*pairs][:LESSON_PARAMETERS]
        if isinstance(value, str | bool) or (isinstance(value, int | float) and math.isfinite(value))
    }


def _restore() -> None:
    state = st.session_state
    sent = state.get(STORE)
    state[READ] = True
    restore(sent.get("restore") if isinstance(sent, Mapping) else None)


def _next() -> int:
    number = st.session_state.get(NEXT, 0)
    st.session_state[NEXT] = number + 1
    return number


def _keep() -> None:
    """Keep what the address has, and what it leaves out because it is the default."""
    state = st.session_state
    page = state["page"]
    view = {name: st.query_params[name] for name in st.query_params if name not in (*RESERVED, PRESENT)}
    always = ALWAYS.get(page, ("model", "source"))
    view = {name: str(state[name]) for name in always if state.get(name)} | view
    short = [(name, value) for name, value in view.items() if len(value) <= VIEW_CHARACTERS][:LESSON_PARAMETERS]
    state[MISSING] = tuple(name for name in view if name not in dict(short))
    kept().append(Kept(_next(), Stop(title=text(page)["title"], say="", page=page, view=tuple(short))))
