"""A card: elements that belong together, on a surface of their own. A card has no outline, because only elements that can be
pressed have one."""

from typing import Any

import streamlit as st


def card(key: str, place: Any = st, **options: Any) -> Any:
    """A container on a surface of its own, which app.css draws. `place` is the container around it, or `st`. `options` are
    arguments of `st.container`, such as `height`."""
    return place.container(border=True, key=f"card-{key}", **options)
