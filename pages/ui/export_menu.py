"""Save what is drawn: the picture as PNG or SVG, by the browser; the numbers as CSV; a chart as a page that works offline."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st

from pages.ui.compat import key_class
from pages.ui.component import mounted
from pages.ui.text import text

FORMATS = ("png", "svg")
# A picture of one pixel that cannot be seen.
NOTHING = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

_mount = mounted(Path(__file__).with_suffix(""))


def saving(
    key: str, name: str, numbers: Callable[[], pd.DataFrame] | None = None, page: Callable[[], str] | None = None
) -> None:
    """A menu that saves the picture drawn under a key.

    Args:
        key: of the chart or component.
        name: of the file, without its ending.
        numbers: what the picture shows, as a table; made only when it is asked for.
        page: the picture as HTML that needs no network, made only when it is asked for; by default the browser makes it, of
            the SVG.
    """
    words = text("common")["save"]
    formats = FORMATS if page is not None else (*FORMATS, "html")
    # An invisible picture gives each button a name of its own for those who hear it.
    label = f"{words['menu']} ![{name}]({NOTHING})"
    with st.popover(label, icon=":material/download:", type="tertiary", help=words["help"], key=f"save {key}"):
        _mount(
            key=f"pictures {key}",
            data={
                "place": key_class(key).removeprefix("st-key-"),
                "name": name,
                "formats": [[format, words[format]] for format in formats],
            },
        )
        if numbers is not None:
            made = numbers
            _button(words["csv"], lambda: made().to_csv(), f"{name}.csv", "text/csv")
        if page is not None:
            _button(words["html"], page, f"{name}.html", "text/html")


def _button(label: str, made: Callable[[], str], name: str, kind: str) -> None:
    st.download_button(label, made, name, kind, key=f"save {label} {name}", on_click="ignore", width="stretch")
