"""Parts of a page below the first screen: computed and sent when a person has scrolled to them.

    if seen("plane", 480):
        show_plane(view, sentence)

A part that has been on screen stays until another page is opened.
"""

from collections.abc import Mapping
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from pages.ui.compat import mount
from pages.ui.component import joined
from pages.ui.text import text

# Session keys: the page; its parts that have been on screen; those that have not, in this run; whether to draw all the same.
PAGE, SEEN, UNSEEN, ALL = "parts_page", "parts_seen", "parts_unseen", "parts_all"
# Widget key of the script that reports the parts on screen.
WATCH = "parts"

_mount = mount("headlight_parts", js=joined(Path(__file__).with_suffix(".js")))


def start_parts() -> None:
    """Forget what was seen of another page. Call it before the page is drawn."""
    state = st.session_state
    if state.get(PAGE) != state["page"]:
        state[PAGE], state[SEEN] = state["page"], set()
    state[UNSEEN] = []


def seen(part: str, height: int) -> bool:
    """Whether to draw a part of the page; if not, an empty box takes its place. Without `start_parts`, outside the app, every
    part is drawn.

    Args:
        part: its name, one for each part of a page.
        height: about its height in px, so that what follows hardly moves when it is drawn.
    """
    state = st.session_state
    if SEEN not in state or part in state[SEEN] or state.get(ALL):
        return True
    state[UNSEEN].append(part)
    box = Markup('<div class="unseen" data-part="{}" style="min-height: {}px">{}</div>')
    st.html(box.format(part, height, text("common")["unseen"]))
    return False


def watch_parts() -> None:
    """Let the browser report which empty boxes are on screen. Call it after the page."""
    if st.session_state[UNSEEN]:
        # The script runs again when its data change.
        _mount(key=WATCH, data=st.session_state[UNSEEN], on_seen_change=_note)


def _note() -> None:
    """Note the parts that the browser reports. Its values are untrusted, and can arrive after the page was left."""
    state = st.session_state
    sent = state.get(WATCH)
    reported = sent.get("seen") if isinstance(sent, Mapping) else None
    if isinstance(reported, list):
        state[SEEN] |= {part for part in state[UNSEEN] if part in reported}
