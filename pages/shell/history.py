"""The browser's Back button leaves a page; it does not step through what was chosen on it."""

from pathlib import Path

from pages.ui.compat import mount
from pages.ui.component import joined

_mount = mount("headlight_history", js=joined(Path(__file__).with_suffix(".js")))


def tidy_history() -> None:
    """Make a change of the address replace the one before, unless it opens another page. Draws nothing; call it once a run."""
    _mount(key="history")
