"""Cards that lead somewhere: the stops of the tour, and examples to start from."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pages.home.links import Link, packed
from pages.ui.component import mounted

_mount = mounted(Path(__file__).with_suffix(""))


class Card(NamedTuple):
    """One card.

    Attributes:
        title: in large.
        says: what is there to see; `code` between backticks.
        small: a line in small over the title.
        link: where it leads.
    """

    title: str
    says: str
    small: str
    link: Link


def cards(found: Sequence[Card], key: str, label: str, base: dict[str, Any], ordered: bool = False) -> None:
    """Draw the cards whose page is there.

    Args:
        found: the cards.
        key: of the component.
        label: what they are, for those who do not see them.
        base: what the address of each holds besides (`links.packed`).
        ordered: number them.
    """
    data = [{**card._asdict(), "link": link} for card in found if (link := packed(card.link, base))]
    _mount(key=key, data={"cards": data, "label": label, "ordered": ordered})
