"""Computations that a person waits for."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from pages.ui.caches import ABSENT, RESULTS

Result = TypeVar("Result")


def waited(label: str, function: Callable[..., Result], *arguments: object) -> Result:
    """The result of a function made by `caches.cached`. While the result is computed, a spinner turns beside a label. A result
    in the cache has no spinner, because a spinner starts a thread and costs a click as much as a widget."""
    result = RESULTS.kept(function, *arguments)
    if result is not ABSENT:
        return result
    with st.spinner(label):
        return function(*arguments)
