"""The browser's Back button leads to the page before, not through the choices made on this one."""

from pathlib import Path

from pages.ui.compat import mount
from pages.ui.component import joined

_mount = mount("headlight_history", js=joined(Path(__file__).with_suffix(".js")))


def tidy_history() -> None:
    """Make each change of the address replace the entry in the browser's history, unless it opens another page. Draws nothing;
    call it once a run."""
    _mount(key="history")
