"""Where a block or a card of the Home page leads: a page, and what is chosen there.

Each is an ordinary link that keeps the person's model and texts, so it can be opened in a new tab. A plain click stays in the
session instead of loading the app anew: the browser says which one it was, `follow` puts the choices into the session, and
`leave` opens the page.
"""

from typing import Any, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from pages.widgets.pages import page_files
from pages.widgets.sidebar import TEXTS, View, sizes_of

# What a link may choose: boxes of the sidebar, and widgets of the page it leads to.
BOXES = ("model", *TEXTS)
CHOICES = ("kind", "layer", "head", "look", "edits", "part", "stop")
GOING = "home_going"


class Link(NamedTuple):
    """A page by the name of its file, and what to choose there: a name of `BOXES` or `CHOICES` → its value."""

    page: str
    query: dict[str, str]

    @property
    def there(self) -> bool:
        """Whether the page exists."""
        return any(file.stem == self.page for file in page_files())


def chosen(view: View) -> dict[str, Any]:
    """What the sidebar holds, as it stands in a link."""
    texts = {name: st.session_state[name] for name in TEXTS if st.session_state[name]}
    return {"model": view.model, **sizes_of(view.model), **texts}


def packed(link: Link, base: dict[str, Any]) -> dict[str, Any] | None:
    """A link as a component takes it, or None where its page is not there.

    Args:
        link: where to.
        base: what else its address must hold: `chosen(view)`, or nothing for a link that brings its own model and texts.
    """
    if not link.there:
        return None
    return {"page": link.page, "query": link.query, "base": urlencode(base)}


def follow(key: str) -> None:
    """For the `on_go_change` of a component of that key: take the choices of the link that was clicked.

    What comes from a browser is not to be trusted: only known pages and names are taken, and each widget checks its value.
    """
    said = st.session_state.get(key)
    go = said.get("go") if isinstance(said, dict) else None
    if not isinstance(go, dict) or not isinstance(go.get("query"), dict):
        return
    if not any(file.stem == go.get("page") for file in page_files()):
        return
    query = {name: value for name, value in go["query"].items() if isinstance(value, str)}
    for name in BOXES:
        if name in query:
            st.session_state[name] = query[name]
    st.session_state[GOING] = go["page"], {name: value for name, value in query.items() if name in CHOICES}


def leave() -> None:
    """Open the page that was asked for, if one was. Call it before anything is drawn."""
    page, query = st.session_state.pop(GOING, (None, {}))
    for file in page_files():
        if file.stem == page:
            for name in CHOICES:  # what an earlier visit left there; the address would open without it
                st.session_state.pop(name, None)
            st.switch_page(file, query_params=query)
