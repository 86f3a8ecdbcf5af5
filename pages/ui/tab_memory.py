"""Texts that a tab of the browser stores for its visitor. They survive a reload of the page, and no link contains them."""

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.components.v2 import component

from pages.ui.component import sent
from pages.ui.scripts import importing

# Session keys. SESSION: the name of this session in the storage of its tab. RECALLED and ASKED are followed by the name of a
# text: whether the text was recalled, and how many runs have asked for it. FORBIDDEN: whether the browser forbids storage.
SESSION, RECALLED, ASKED, FORBIDDEN = "tab_session", "tab_recalled ", "tab_asked ", "tab_forbidden"

_mount = component("headlight_tab_memory", js=importing(Path(__file__).with_suffix(".js")))


def recalled(name: str) -> bool:
    """Whether the browser's tab has reported which text it had with this name before this session, or that it had none."""
    return st.session_state.get(RECALLED + name, False)


def forbidden() -> bool:
    """Whether the browser's tab has reported that storage is forbidden, so that nothing survives a reload."""
    return st.session_state.get(FORBIDDEN, False)


def tab_memory(name: str, store: str, recall: Callable[[str], None], waits: bool = False, linked: bool = False) -> None:
    """Store a text in the browser's tab. If the tab has a text of an earlier session, the tab reports that older text first. If
    the browser forbids storage, the tab reports this (`forbidden`).

    Args:
        name: the name of the text.
        store: the text; empty to delete it.
        recall: called before the next run with the text that the tab reports. The text is untrusted.
        waits: whether the tab also reports that it has no text. `recall` then gets an empty text.
        linked: whether a link can give the text after its `#`, as in `#name=text`. Browsers do not send the part after `#` to a
            server.
    """
    state = st.session_state
    state.setdefault(SESSION, secrets.token_urlsafe(6))
    # A report is lost if another page opens meanwhile. The script runs again when its data change, so a new count makes it
    # report again.
    state[ASKED + name] = state.get(ASKED + name, 0) + (not recalled(name))
    data = {"name": name, "session": state[SESSION], "text": store, "recalled": recalled(name), "waits": waits}
    data |= {"linked": linked, "asked": state[ASKED + name]}
    _mount(key=_key(name), data=data, on_recall_change=partial(take_report, name, recall, waits))


def take_report(name: str, recall: Callable[[str], None], waits: bool = False) -> None:
    """Call `recall` with the text that the tab reports under a name, unless a report under this name was taken before. For an
    empty text, call it only if `waits`. An invalid report is ignored, so the tab is asked again in the next run."""
    stored = sent(_key(name), "recall")
    if recalled(name) or not isinstance(stored, Mapping) or not isinstance(text := stored.get("text"), str):
        return
    st.session_state[RECALLED + name] = True
    st.session_state[FORBIDDEN] = stored.get("forbidden") is True
    if text or waits:
        recall(text)


def _key(name: str) -> str:
    """The key of the component that stores the text with this name."""
    return f"tab_memory_{name}"
