"""Browser history: Back opens the previous page and skips the choices made on this one; an address can name a part."""

from pathlib import Path

from pages.ui.compat import mount
from pages.ui.component import joined
from pages.ui.text import text

_mount = mount("headlight_history", js=joined(Path(__file__).with_suffix(".js")))


def tidy_history() -> None:
    """Make every change of the address within a page replace the current history entry. Draws nothing; call it once a run."""
    _mount(key="history", data={"scrollable": text("common")["scrollable"]})
