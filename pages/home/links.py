"""Where a block or a card of the Home page leads: a page, and what is chosen there.

Each is an ordinary link that keeps the person's model and texts, so it can be opened in a new tab. A plain click stays in the
session instead of loading the app anew (`links.js`).
"""

from typing import Any, NamedTuple

import streamlit as st

from pages.shell.examples import TEXTS
from pages.shell.navigation import name_of, page_files
from pages.shell.view import sizes_of


class Link(NamedTuple):
    """A page by the name of its file, and what to choose there: the key of a sidebar box or of a widget of that page → its
    value. A value may have places that `links.js` fills: `encoder.layers.{index}.output`."""

    page: str
    query: dict[str, str]

    @property
    def there(self) -> bool:
        """Whether the page exists."""
        return any(name_of(file) == self.page for file in page_files())


def chosen() -> dict[str, Any]:
    """What the sidebar holds, as it stands in a link; empty boxes too, which may be filled by the time the link is followed."""
    model = st.session_state["model"]
    return {"model": model, **sizes_of(model), **{name: st.session_state[name] for name in TEXTS}}


def packed(link: Link, base: dict[str, Any]) -> dict[str, Any] | None:
    """A link as a component takes it, or None where its page is not there.

    Args:
        link: where to.
        base: what else its address must hold: `chosen()`, or nothing for a link that brings its own model and texts.
    """
    if not link.there:
        return None
    return {"page": link.page, "query": link.query, "base": base}
