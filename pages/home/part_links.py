"""Links on the Home page that open another page and set widgets there, and such links as cards: the pages of the tour, and
examples to start from.

Each is an ordinary link that keeps the visitor's model and texts, so it can be opened in a new tab. A plain click stays in the
session instead of loading the app again (`links.js`).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from pages.shell.frame.navigation import name_of, page_files
from pages.shell.models.model_examples import TEXTS
from pages.shell.view.view import sizes_of
from pages.ui.component import Element, mounted
from pages.ui.link_values import kept_in_links
from pages.ui.prose import inline

_mount = mounted(Path(__file__).with_name("cards"))


class Link(NamedTuple):
    """A link that opens a page and sets widgets there.

    Attributes:
        page: the name of the page, which is the name of its folder.
        query: the key of a sidebar box or of a widget of that page → its value. A value may contain placeholders that
            `links.js` fills, such as `encoder.layers.{index}.output`.
        part: the anchor of the heading to scroll to; empty for the top of the page.
    """

    page: str
    query: dict[str, str]
    part: str = ""


def sidebar_query() -> dict[str, Any]:
    """The values of the sidebar's model and texts, by their names in a URL. Empty boxes are included, because they may be
    filled before the link is followed."""
    model = st.session_state["model"]
    return {"model": model, **sizes_of(model), **{name: st.session_state[name] for name in TEXTS}}


def packed(link: Link, base: dict[str, Any]) -> dict[str, Any] | None:
    """A link as JSON data for the scripts of a component, or None if its page does not exist.

    Args:
        base: query parameters besides the link's own: `kept_in_links()`, which is the same for all links of a component. If
            `link` sets neither a model nor a text, also `sidebar_query()`.
    """
    if all(name_of(file) != link.page for file in page_files()):
        return None
    return {"page": link.page, "query": link.query, "part": link.part, "base": base}


class Card(NamedTuple):
    """A link drawn as a box. `says`: a sentence about the page, with `code` in backticks; `small`: a line above the title."""

    title: str
    says: str
    small: str
    link: Link


def show_cards(cards: Sequence[Card], key: str, label: str, base: dict[str, Any], first: int = 0) -> None:
    """Draw links as boxes (cards). Cards whose page does not exist are left out.

    Args:
        label: the name of the list of cards for screen readers.
        base: query parameters that every card's link has, besides the card's own parameters and `kept_in_links()`.
        first: the number of the first card; 0 if the cards have no numbers.
    """
    base = {**kept_in_links(), **base}
    shown = [(card, link) for card in cards if (link := packed(card.link, base))]
    items = [["li", {}, _element(card, place, first + place if first else 0)] for place, (card, _) in enumerate(shown)]
    listed = ["ol", {"aria-label": label, "start": first}, *items] if first else ["ul", {"aria-label": label}, *items]
    _mount(key=key, data={"list": listed, "links": [link for _, link in shown]})


def _element(card: Card, place: int, number: int) -> Element:
    """A card as a link. `place` is its index in the list of links; `number` is shown unless it is 0."""
    small = [["span", {"class": "small"}, card.small]] if card.small else []
    numbered = [["span", {"class": "number"}, str(number)]] if number else []
    title, says = ["span", {"class": "title"}, *numbered, card.title], ["span", {"class": "says"}, *inline(card.says)]
    return ["a", {"data-link": place}, *small, title, says]
