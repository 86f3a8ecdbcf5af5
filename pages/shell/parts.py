"""Parts of a page: those below the first screen are computed and sent when a person has scrolled to them.

    if seen("lens", 420):
        show_lens(run)

A part that has been on screen stays until another page is opened, or until `put_away`. A page that would be too long
draws one part at a time:

    part = pick_part(words["part"], words["parts"], {"rows": ["sentence"], "alike": ["alike"]})
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from pages.ui.compat import mount
from pages.ui.component import joined
from pages.ui.pickers import pick
from pages.ui.text import text

# Session keys: the page; its parts that have been on screen; those that have not, in this run; whether to draw all the same.
PAGE, SEEN, UNSEEN, ALL = "parts_page", "parts_seen", "parts_unseen", "parts_all"
# Widget key of the script that reports the parts on screen.
WATCH = "parts"
# Session key: on a page that draws one part at a time, the picked part and, by anchor, the parts with it; None elsewhere.
PICKED = "parts_picked"
# Widget key of the script that reports the anchor of the address, and of the choice of the part.
ANCHOR, PART = "anchor", "part"

BOX = Markup('<div class="unseen" data-part="{}" style="min-height: {}px">{}<p>{}</p></div>')
# The boxes of a row that were not sent yet; None outside of a row.
_row: ContextVar[list[Markup] | None] = ContextVar("row", default=None)

_mount = mount("headlight_parts", js=joined(Path(__file__).with_suffix(".js")))
_mount_anchor = mount("headlight_anchor", html='<div class="anchor"></div>', js=joined(Path(__file__).with_name("anchor.js")))


def start_parts() -> None:
    """Forget what was seen of another page. Call it before the page is drawn."""
    state = st.session_state
    if state.get(PAGE) != state["page"]:
        state[PAGE], state[SEEN] = state["page"], set()
    state[UNSEEN], state[PICKED] = [], None


def seen(part: str, height: int, at_once: bool = False) -> bool:
    """Whether to draw a part of the page; if not, an empty box takes its place. Without `start_parts`, outside the app, every
    part is drawn.

    Args:
        part: its name, one for each part of a page.
        height: about its height in px, so that what follows hardly moves when it is drawn.
        at_once: whether to draw it before it is on screen. Then it stays, too: or a press in it could take it away.
    """
    if at_once and SEEN in st.session_state:
        st.session_state[SEEN].add(part)
    return _begin(part, height)


def section(title: str, anchor: str, height: int) -> bool:
    """Draw the heading of a part; whether to draw the part below it, as `seen`. Until then the box holds the heading, too,
    because each element costs a click a quarter of a millisecond, and the headings below the screen were six.

    Args:
        title: plain text.
        anchor: of the heading, and the name of the part.
        height: as for `seen`.
    """
    drawn = _begin(anchor, height, Markup('<h2 id="{}">{}</h2>').format(anchor, title))
    if drawn:
        st.header(title, anchor=anchor)
    return drawn


@contextmanager
def row_of_parts() -> Iterator[None]:
    """A context in which nothing is drawn but parts, one below the other. Boxes without a part between them are sent as one
    element: seven less were 1 ms of the 15 of a new text on Watch it write."""
    token = _row.set([])
    try:
        yield
        _send_row()
    finally:
        _row.reset(token)


def _begin(part: str, height: int, heading: Markup | None = None) -> bool:
    """Whether to draw a part; if not, its box is drawn, or put into the row."""
    state, row = st.session_state, _row.get()
    if SEEN not in state or part in state[SEEN] or state.get(ALL, False):
        _send_row()
        return True
    state[UNSEEN].append(part)
    box = BOX.format(part, height, heading or "", text("common")["unseen"])
    if row is None:
        st.html(box)
    else:
        row.append(box)
    return False


def _send_row() -> None:
    """Draw the boxes of the row that were not sent yet."""
    row = _row.get()
    if row:
        st.html(Markup("").join(row))
        row.clear()


def put_away(parts: Iterable[str]) -> None:
    """Forget that these parts were seen, so that they are drawn again when they come on screen. Call it before the app runs
    again, where a click changes charts below the screen: to redraw one takes the browser a tenth of a second.

    Args:
        parts: none above the screen, or what is on the screen would move.
    """
    st.session_state.get(SEEN, set()).difference_update(parts)


def pick_part(label: str, parts: Mapping[str, str], anchors: Mapping[str, Sequence[str]], first: str | None = None) -> str:
    """The picked part of a page that draws one at a time; the sentence on it stands below the choice.

    An address with an anchor that the picked part does not have, as `tokens#padding`, opens the first part that has it.

    Args:
        label: text above the choice.
        parts: id of each part → a sentence on it.
        anchors: anchor of a heading → the parts with that heading.
        first: the part drawn until another is picked; by default the first.
    """
    part = pick(label, list(parts), PART, first=first)
    st.caption(parts[part])
    st.session_state[PICKED] = (part, {anchor: list(owners) for anchor, owners in anchors.items()})
    return part


def watch_parts() -> None:
    """Let the browser report which empty boxes are on screen, and the anchor of the address on a page that draws one part at a
    time. Call it after the page."""
    state = st.session_state
    if state[UNSEEN]:
        # The script runs again when its data change.
        _mount(key=WATCH, data=state[UNSEEN], on_seen_change=_note)
    if state[PICKED]:
        part, anchors = state[PICKED]
        _mount_anchor(key=ANCHOR, data={"part": part, "anchors": anchors}, on_anchor_change=_open)


def _note() -> None:
    """Note the parts that the browser reports. Its values are untrusted, and can arrive after the page was left."""
    state = st.session_state
    sent = state.get(WATCH)
    reported = sent.get("seen") if isinstance(sent, Mapping) else None
    if isinstance(reported, list):
        state[SEEN] |= {part for part in state[UNSEEN] if part in reported}


def _open() -> None:
    """Open the part whose anchor the browser reports. Its values are untrusted, and can arrive after the page was left."""
    state = st.session_state
    sent = state.get(ANCHOR)
    anchor = sent.get("anchor") if isinstance(sent, Mapping) else None
    if state.get(PICKED) and isinstance(anchor, str):
        _, anchors = state[PICKED]
        state[PART] = anchors[anchor][0] if anchor in anchors else state[PART]
