"""The project's own source code. It is read at run time, so a page shows the code that ran."""

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.ui.text import text


def show_source(function: Callable[..., Any]) -> None:
    """Draw the source of a function or class, with the name of its file."""
    lines, first = inspect.getsourcelines(function)
    st.caption(text("common")["source_place"].format(module=function.__module__, line=first))
    st.code(textwrap.dedent("".join(lines)), language="python", line_numbers=False)
