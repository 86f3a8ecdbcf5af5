"""A card: elements that belong together, on a surface of their own. A card has no outline, because only elements that can be
pressed have one."""

from typing import Any

import streamlit as st


def card(key: str, place: Any = st, **options: Any) -> Any:
    """A container that is drawn as a card (app.css).

    Args:
        key: a name that no other card of the page has.
        place: the container or column in which the card stands.
        options: arguments of `st.container`, such as `height`.
    """
    return place.container(border=True, key=f"card-{key}", **options)
