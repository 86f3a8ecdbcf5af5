"""A card: elements that belong together, on a surface of their own. A card has no outline, because only elements that can be
pressed have one."""

from typing import Any

import streamlit as st


def card(key: str, place: Any = st, **options: Any) -> Any:
    """A container with a surface of its own (app.css) in `place`, a container or `st`. `options` are for `st.container`."""
    return place.container(border=True, key=f"card-{key}", **options)
