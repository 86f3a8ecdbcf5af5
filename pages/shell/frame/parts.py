"""Parts of a page. A part below the first screen is computed and sent only after a person has scrolled to it.

    if seen("lens", 420):
        show_lens(run)

A part that was on screen stays until another page is opened, or until `put_away`. A page that would be too long draws one part
at a time:

    part = pick_part(words["part"], words["parts"], {"rows": ["sentence"], "alike": ["alike"]})
"""

from collections.abc import Iterable, Mapping, Sequence

import streamlit as st
from markupsafe import Markup
from streamlit.components.v2 import component

from pages.shell.browser import BROWSER
from pages.shell.frame.history import Change, change_by_itself
from pages.ui.component import sent
from pages.ui.pickers import option_id, pick
from pages.ui.scripts import importing
from pages.ui.text import text

# Session keys: the page; its parts that were on screen; its parts that this run replaced by empty boxes; whether to draw all
# parts anyway.
PAGE, SEEN, UNSEEN, ALL = "parts_page", "parts_seen", "parts_unseen", "parts_all"
# Widget key of the script that reports the parts on screen.
WATCH = "parts"
# Session key: the key of the element that the last click opened, and the number of such clicks. The key is empty once the
# script that scrolls to the element has been sent.
GOAL = "parts_goal"
# Session key: on a page that draws one part at a time, the picked part, and anchor → the parts with it; None on other pages.
PICKED = "parts_picked"
# Widget keys: of the script that opens the part with the anchor of the address, and of the picker of the part.
ANCHOR, PART = "anchor", "part"

BOX = Markup('<div class="unseen" data-part="{}" style="min-height: {}px"><p>{}</p></div>')
HEADING = 60  # px of the heading of a part

_mount = component("headlight_parts", js=importing(BROWSER / "parts.js"))
_mount_goal = component("headlight_goal", js=importing(BROWSER / "arrival.js"))
_mount_anchor = component("headlight_anchor", html='<div class="anchor"></div>', js=importing(BROWSER / "anchor.js"))


def start_parts() -> None:
    """Forget which parts were on screen if this is another page than in the last run. Call it before the page is drawn."""
    state = st.session_state
    if state.get(PAGE) != state["page"]:
        state[PAGE], state[SEEN] = state["page"], set()
    state[UNSEEN], state[PICKED] = [], None


def seen(part: str, height: int, at_once: bool = False) -> bool:
    """Whether to draw a part of the page. If not, an empty box is drawn in its place. Outside the app, without `start_parts`,
    every part is drawn.

    Args:
        part: the name of the part, unique on its page.
        height: the approximate height of the part in px, so that the parts below it hardly move when it is drawn.
        at_once: whether to draw the part before it is on screen. It is then noted as seen, so that it stays after a click.
    """
    state = st.session_state
    if at_once and SEEN in state:
        state[SEEN].add(part)
    # An embedded page shows only one figure, which can be in any part (embed.py).
    if SEEN not in state or part in state[SEEN] or state.get(ALL, False) or st.context.is_embedded:
        return True
    state[UNSEEN].append(part)
    st.html(BOX.format(part, height, text("common")["unseen"]))
    return False


def section(title: str, anchor: str, height: int) -> bool:
    """Draw the heading of a part of the page. Returns whether to draw the part below the heading, like `seen`.

    Args:
        anchor: the anchor of the heading, which is also the name of the part.
        height: the approximate height of the part with its heading, in px.
    """
    st.header(title, anchor=anchor)
    return seen(anchor, height - HEADING)


def put_away(parts: Iterable[str]) -> None:
    """Note that these parts of the page are no longer seen, so that they are drawn only when they come on screen again. If a
    click changes charts below the screen, call this before the app runs again, because the browser needs a tenth of a second to
    redraw a chart. A part above the screen must not be among them, because the content on the screen would then move."""
    st.session_state.get(SEEN, set()).difference_update(parts)


def scroll_to(key: str, part: str | None = None) -> None:
    """Scroll to the Streamlit element with this key and focus it, as soon as it is drawn. Call it in the callback of the click
    that opens it. `part`, which contains the element, is needed if this part may not have been on screen yet."""
    state = st.session_state
    _, count = state.get(GOAL, ("", 0))
    state[GOAL] = (key, count + 1)
    if part is not None and SEEN in state:
        state[SEEN].add(part)


def pick_part(label: str, parts: Mapping[str, str], anchors: Mapping[str, Sequence[str]], first: str | None = None) -> str:
    """Draw the picker of a page that draws one part at a time, and the sentence about the picked part below it. Returns the id
    of the picked part.

    If the URL has an anchor that is not in the picked part, such as `tokens#padding`, the first part with this anchor is
    picked.

    Args:
        parts: id of each part → a sentence about it.
        anchors: anchor of a heading → the parts with that heading.
        first: the part that is drawn before a person picks one; by default the first part.
    """
    part = pick(label, list(parts), PART, first=first)
    st.caption(parts[part])
    st.session_state[PICKED] = (part, {anchor: list(owners) for anchor, owners in anchors.items()})
    return part


def watch_parts() -> None:
    """Mount the script that scrolls to the element that a click has opened, and the script that reports the empty boxes on
    screen. On a page that draws one part at a time, also mount the script that opens the part with the URL's anchor. Call this
    after the page."""
    state = st.session_state
    goal, count = state.get(GOAL, ("", 0))
    if goal:
        # Its data change with each click, so that the script runs again.
        _mount_goal(key="goal", data={"key": goal, "count": count})
        state[GOAL] = ("", count)
    if state[UNSEEN]:
        # The script runs again when its data change.
        _mount(key=WATCH, data=state[UNSEEN], on_seen_change=take_seen)
    if state[PICKED]:
        part, anchors = state[PICKED]
        owners = {anchor: list(map(option_id, owners)) for anchor, owners in anchors.items()}
        _mount_anchor(key=ANCHOR, data={"part": option_id(part), "anchors": owners})


def take_seen() -> None:
    """Note the parts of the page that the browser reports as on screen. The report is untrusted, and can arrive after another
    page was opened."""
    change_by_itself(Change.REMOVAL)
    state, reported = st.session_state, sent(WATCH, "seen")
    if isinstance(reported, list):
        state[SEEN] |= {part for part in state[UNSEEN] if part in reported}
