"""Cards that are links: the stops of the tour, and examples to start from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pages.home.links import Link, kept_query, packed
from pages.ui.component import mounted

_mount = mounted(Path(__file__).with_suffix(""))


class Card(NamedTuple):
    """One card.

    Attributes:
        title: its heading.
        says: what there is to see; `code` between backticks.
        small: a line in small type over the title.
        link: the page it opens.
    """

    title: str
    says: str
    small: str
    link: Link


def show_cards(cards: Sequence[Card], key: str, label: str, base: dict[str, Any], ordered: bool = False) -> None:
    """Draw the cards whose page exists.

    Args:
        cards: the cards.
        key: of the component.
        label: their name for screen readers.
        base: parameters that every card's address has besides its own and `kept_query()`.
        ordered: whether to number them.
    """
    base = {**kept_query(), **base}
    data = [{**card._asdict(), "link": link} for card in cards if (link := packed(card.link, base))]
    _mount(key=key, data={"cards": data, "label": label, "ordered": ordered})
