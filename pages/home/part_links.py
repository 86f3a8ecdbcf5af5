"""The links of blocks and cards on the Home page: a page, and the choices to make there.

Each is an ordinary link that keeps the visitor's model and texts, so it can be opened in a new tab. A plain click stays in the
session instead of loading the app again (`links.js`).
"""

from typing import Any, NamedTuple

import streamlit as st

from pages.shell.frame.navigation import name_of, page_files
from pages.shell.models.model_examples import TEXTS
from pages.shell.view.view import sizes_of


class Link(NamedTuple):
    """A link to a page, with choices to make there.

    Attributes:
        page: the name of the page, which is the name of its folder.
        query: the key of a sidebar box or of a widget of that page → its value. A value may contain places that `links.js`
            fills, e.g. `encoder.layers.{index}.output`.
        part: the anchor of the heading to scroll to; empty for the top of the page.
    """

    page: str
    query: dict[str, str]
    part: str = ""


def sidebar_query() -> dict[str, Any]:
    """The sidebar's values by their names in a link. Empty boxes are included, because they may be filled before the link is
    followed."""
    model = st.session_state["model"]
    return {"model": model, **sizes_of(model), **{name: st.session_state[name] for name in TEXTS}}


def packed(link: Link, base: dict[str, Any]) -> dict[str, Any] | None:
    """A link in the form that a component reads, or None if its page does not exist.

    Args:
        base: further parameters of its address: those of `kept_in_links`, read once for all links of a component. If the link
            has no model and texts of its own, also `sidebar_query()`.
    """
    if all(name_of(file) != link.page for file in page_files()):
        return None
    return {"page": link.page, "query": link.query, "part": link.part, "base": base}
