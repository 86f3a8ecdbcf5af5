"""Cards that are links: the stops of the tour, and examples to start from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pages.home.part_links import Link, packed
from pages.ui.component import Element, mounted
from pages.ui.link_values import kept_in_links
from pages.ui.prose import inline

_mount = mounted(Path(__file__).with_name("cards"))


class Card(NamedTuple):
    """One card. `says` is what the linked page shows, with `code` between backticks; `small` is a line above the title."""

    title: str
    says: str
    small: str
    link: Link


def show_cards(cards: Sequence[Card], key: str, label: str, base: dict[str, Any], first: int = 0) -> None:
    """Draw the cards whose page exists.

    Args:
        label: the name of the list of cards for screen readers.
        base: parameters that every card's address has, besides the card's own parameters and `kept_in_links()`.
        first: the number of the first card; 0 if the cards have no numbers.
    """
    base = {**kept_in_links(), **base}
    shown = [(card, link) for card in cards if (link := packed(card.link, base))]
    items = [["li", {}, _element(card, place, first + place if first else 0)] for place, (card, _) in enumerate(shown)]
    listed = ["ol", {"aria-label": label, "start": first}, *items] if first else ["ul", {"aria-label": label}, *items]
    _mount(key=key, data={"list": listed, "links": [link for _, link in shown]})


def _element(card: Card, place: int, number: int) -> Element:
    """A card as a link. `place` is the index of its address in the list of links; `number` is shown unless it is 0."""
    small = [["span", {"class": "small"}, card.small]] if card.small else []
    numbered = [["span", {"class": "number"}, str(number)]] if number else []
    title, says = ["span", {"class": "title"}, *numbered, card.title], ["span", {"class": "says"}, *inline(card.says)]
    return ["a", {"data-link": place}, *small, title, says]
