"""Cards that are links: the stops of the tour, and examples to start from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pages.home.part_links import Link, kept_query, packed
from pages.ui.component import mounted

_mount = mounted(Path(__file__).with_name("cards"))


class Card(NamedTuple):
    """One card.

    Attributes:
        title: the heading of the card.
        says: what the linked page shows; `code` between backticks.
        small: a line in small type above the title.
        link: the page that the card opens.
    """

    title: str
    says: str
    small: str
    link: Link


def show_cards(cards: Sequence[Card], key: str, label: str, base: dict[str, Any], ordered: bool = False) -> None:
    """Draw the cards whose page exists.

    Args:
        label: the name of the list of cards for screen readers.
        base: parameters that every card's address has, besides the card's own parameters and `kept_query()`.
        ordered: whether to number the cards.
    """
    base = {**kept_query(), **base}
    data = [{**card._asdict(), "link": link} for card in cards if (link := packed(card.link, base))]
    _mount(key=key, data={"cards": data, "label": label, "ordered": ordered})
