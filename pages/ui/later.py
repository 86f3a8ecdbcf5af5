"""Slow checks, which a page draws last, so that its pictures need not wait for them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st

_waiting: ContextVar[list[Callable[[], None]] | None] = ContextVar("_waiting", default=None)


@contextmanager
def drawing_later() -> Iterator[None]:
    """A context for the run of a page. At its end, the elements of all calls of `draw_later` are drawn, in the order of the
    calls."""
    kept: list[Callable[[], None]] = []
    token = _waiting.set(kept)
    try:
        yield
    finally:
        _waiting.reset(token)
    for draw in kept:
        draw()


def draw_later(key: str, draw: Callable[[], None]) -> None:
    """Call `draw` at the end of the page's run, and put its elements here, in a container with this key. Outside
    `drawing_later`, they are drawn now."""
    place, kept = st.container(key=key), _waiting.get()

    def fill() -> None:
        with place:
            draw()

    if kept is None:
        fill()
    else:
        kept.append(fill)
