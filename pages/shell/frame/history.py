"""Browser history: Back undoes the last choice, and so does a button of the app. A URL can name a part to scroll to.

The server counts the choices, because only the server can tell whether a change of the URL is a person's choice or the app's
own. At the end of a run it reports the count, and the browser adds an entry if the count has risen.
"""

import enum
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

import streamlit as st
from streamlit.components.v2 import component

from pages.shell.browser import BROWSER
from pages.shell.frame.navigation import path
from pages.ui.compat import opens_from_history
from pages.ui.scripts import importing
from pages.ui.text import text

# Session keys: the choices of this session; the `Change` that the next run makes by itself; the `Change` of the runs that were
# interrupted; the number of addresses of the browser's history that the session has opened.
CHOICES, BY_ITSELF, INTERRUPTED, OPENINGS = "choices", "by_itself", "interrupted", "openings"
# Parameters that Back does not undo: the answers in a lesson stay.
LASTING = ("answers",)

_mount = component("headlight_history", js=importing(BROWSER / "history.js"))
_mount_choice = component("headlight_choice", js=importing(BROWSER / "choice.js"))


def keep_history() -> None:
    """Mount the script that lets only choices add entries to the browser's history, and that draws the button to undo the last
    choice. Call it once a run."""
    words = text("common")
    _mount(
        key="history",
        data={name: words[name] for name in ("scrollable", "undo", "undo_help", "link", "link_help", "link_copied")},
    )


class Change(enum.Enum):
    """A kind of change that the app itself makes to the URL. If one run interrupts another, the kind that is listed first here
    counts for both."""

    NOTHING = "nothing"
    ANY = "any"
    REMOVAL = "removal"  # of parameters that a link gave although they have their default values


def change_by_itself(change: Change = Change.ANY) -> None:
    """Note that the next drawing of the page makes this kind of change to the URL by itself. The change does not count as a
    choice, so Back does not undo it alone. Another kind of change still counts as a choice, because a person's click can arrive
    together with the call. Call this in a callback."""
    st.session_state[BY_ITSELF] = change


@dataclass(frozen=True)
class Choices:
    """The choices, each undone by Back, that a visitor has made in a session.

    Attributes:
        count: how many were made.
        opened: the `count` when the present page, or a URL of the browser's history, was last opened.
        page: the name of the open page; None before the first run.
        parameters: the parameters of the URL after the last run, except `LASTING`.
    """

    count: int = 0
    opened: int = 0
    page: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def counting_choices() -> Generator[None]:
    """A context in which the page is drawn. At its end a choice is counted if a person has changed the URL on the same page. An
    interrupted run counts nothing. The next run counts the choice instead, even if something else started it."""
    state = st.session_state
    opens, own = opens_from_history(), state.pop(BY_ITSELF, Change.NOTHING)
    state[INTERRUPTED] = Change.ANY if opens else min(own, state.get(INTERRUPTED, own), key=list(Change).index)
    state[OPENINGS] = state.get(OPENINGS, 0) + opens
    yield
    own = state.pop(INTERRUPTED)
    query = dict(st.query_params)
    page, parameters = state["page"], {name: value for name, value in query.items() if name not in LASTING}
    before: Choices = state.get(CHOICES, Choices())
    opens = opens or page != before.page
    removes = parameters.items() < before.parameters.items()
    is_choice = parameters != before.parameters and not (opens or own is Change.ANY or (own is Change.REMOVAL and removes))
    count = before.count + is_choice
    state[CHOICES] = now = Choices(count, count if opens else before.opened, page, parameters)
    # The script runs again when its data change. It needs the new address even if no choice was made.
    report = {"path": path(page), "count": now.count, "opened": now.opened, "address": urlencode(query)}
    report |= {"openings": state[OPENINGS]}
    _mount_choice(key="choice", data=report)
