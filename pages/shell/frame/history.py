"""Browser history: Back undoes the last choice, as does a button of the app; an address can name a part."""

from streamlit.components.v2 import component

from pages.shell.browser import BROWSER
from pages.ui.scripts import importing
from pages.ui.text import text

_mount = component("headlight_history", js=importing(BROWSER / "history.js"))


def keep_history() -> None:
    """Make every choice an entry of the browser's history, and draw the button that undoes it. Call it once a run."""
    words = text("common")
    _mount(key="history", data={name: words[name] for name in ("scrollable", "undo", "undo_help")})
