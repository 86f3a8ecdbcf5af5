"""The project's own source, read at run time so that what is shown is what ran."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.text import text


def show_source(function: Callable[..., Any]) -> None:
    """The lines of a function or class, with the file they are in."""
    lines, first = inspect.getsourcelines(function)
    st.caption(text("common")["source_place"].format(module=function.__module__, line=first))
    st.code(textwrap.dedent("".join(lines)), language="python", line_numbers=False)
