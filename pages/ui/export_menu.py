"""A button that saves a file, and the menu of a figure: PNG or SVG (made by the browser), numbers as CSV, an offline page."""

import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from pages.ui.compat import key_class
from pages.ui.component import mounted
from pages.ui.text import text

FORMATS = ("png", "svg")
# A transparent picture of one pixel.
NOTHING = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

_mount = mounted(Path(__file__).with_suffix(""))


def download(
    label: str, data: str | Callable[[], str | bytes], name: str, icon: str | None = ":material/download:", **more: Any
) -> None:
    """Draw a button that saves a file named `name`. `data` is its content, or a function that returns it, called on a click.
    Streamlit keeps such a function for each visitor until the next click, so it must not refer to a large object such as a
    model. `more` are further arguments of `st.download_button`."""
    st.download_button(label, data, name, mimetypes.guess_type(name)[0], icon=icon, on_click="ignore", **more)


# Not a fragment: a fragment costs every click 0.6 ms for each figure. Without a fragment, opening the menu draws the page
# again, once.
def saving(
    key: str,
    name: str,
    numbers: Callable[[], pd.DataFrame] | None = None,
    page: Callable[[], str] | None = None,
    view: Callable[[], str] | None = None,
) -> None:
    """Draw a menu that saves the figure that has this key.

    Args:
        name: name of the file, without suffix.
        numbers: returns the numbers of the picture as a table; called only on a click.
        page: returns the picture as HTML that needs no network; called only on a click. By default the browser makes the page
            from the SVG.
        view: returns the picture and those around it as HTML that works without a server; called only on a click.
    """
    words = text("common")["save"]
    formats = FORMATS if page is not None else (*FORMATS, "html")
    # The alternative text of a transparent picture names each button for screen readers.
    label = f"{words['menu']} ![{name}]({NOTHING})"
    # The menu is filled only while it is open, because the buttons of a closed menu would be sent with every click. It has no
    # tooltip: with one, the browser draws the button of a menu twice at every change of the page.
    menu = st.popover(label, icon=":material/download:", type="tertiary", key=f"save {key}", on_change="rerun")
    if not menu.open:
        return
    with menu:
        _mount(
            key=f"pictures {key}",
            data={
                "place": key_class(key).removeprefix("st-key-"),
                "name": name,
                "formats": [[format, words[format]] for format in formats],
            },
        )
        if numbers is not None:
            frame = numbers
            _button(words["csv"], lambda: frame().to_csv(), f"{name}.csv")
        if page is not None:
            _button(words["html"], page, f"{name}.html")
        if view is not None:
            _button(words["view"], view, f"{name}-view.html")


def _button(label: str, content: Callable[[], str], name: str) -> None:
    download(label, content, name, None, key=f"save {label} {name}", width="stretch")
