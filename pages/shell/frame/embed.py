"""One figure of a page in a frame of another site: slides, a course in Moodle, a Quarto document (docs/EMBED.md).

The URL of a page with `embed=true` shows the page's main picture. With `figure=` and the key of another widget, it shows that
widget instead.
"""

import re

import streamlit as st

from pages.shell.browser import BROWSER
from pages.shell.frame.navigation import here
from pages.ui.escaping import literal, quoted
from pages.ui.style import style_element
from pages.ui.text import text

# Name of the parameter.
FIGURE = "figure"
KEYS = re.compile(r"[A-Za-z0-9_-]{1,60}")
STYLE = (BROWSER / "embed.css").read_text(encoding="utf-8")


def embedded() -> bool:
    """Whether the page is in a frame of another site."""
    return bool(st.context.is_embedded)


def start_embedding() -> None:
    """Hide all of the page but one figure, if another site embeds it. Call it before anything is drawn."""
    asked = st.query_params.get(FIGURE, "")
    figure = asked if KEYS.fullmatch(asked) else text(st.session_state["page"]).get(FIGURE, "")
    if embedded() and figure:
        st.html(style_element(STYLE.replace("FIGURE", figure)))


def show_caption() -> None:
    """Draw the caption of an embedded figure: what it shows, and a link to the whole page. Call it below the page."""
    if not embedded():
        return
    state, words = st.session_state, text("common")
    page = text(state["page"])
    source = f" · “{quoted(state['source'])}”" if page.get("reads_source", True) else ""
    link = f"{st.context.url or ''}?{here().partition('?')[2]}"
    with st.container(key="embedded"):
        st.caption(words["embedded"].format(title=page["title"], model=literal(state["model"]), source=source, link=link))
