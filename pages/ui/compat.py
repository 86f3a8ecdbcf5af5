"""Every internal of Streamlit that the app leans on in Python; compat.js is the same for JavaScript.

No other module imports what Streamlit does not document. Each function here has a test in `tests/pages/ui/test_compat.py` that
fails when an upgrade changes what it leans on.
"""

import math
import re
from typing import Any

import streamlit as st
from streamlit.components.v2 import component
from streamlit.components.v2.types import ComponentRenderer
from streamlit.navigation.page import Page
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

# Types that Streamlit returns and does not export: of `st.navigation`, and of `st.components.v2.component`.
NavigationPage = Page
Mount = ComponentRenderer
# What to raise to end a page while the script of the app goes on below it. `st.stop` raises the same, but asks the whole run to
# stop first, and nothing could be drawn any more.
PageEnd = StopException


def ignore_pages_folder() -> None:
    """Keep Streamlit from reading the folder `pages` as its older kind of app with several pages.

    It asks whether that folder exists when the server starts, and forgets it once a visitor's run has called `st.navigation`.
    A visitor who comes by a link before that would be told "Page not found".
    """
    PagesManager.uses_pages_directory = False


def runs_for_visitor() -> bool:
    """Whether a script runs for somebody who visits, rather than being imported when the server starts."""
    return get_script_run_ctx(suppress_warning=True) is not None


def opens_from_history() -> bool:
    """Whether this run opens an address of the browser's history. Streamlit then lets the address decide over what its bound
    widgets held; no documented call tells a script so."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def forget_infinite(key: str) -> None:
    """Take an infinite number, `inf` or `1e999`, out of the address before a number box that Streamlit binds to it is drawn.

    Streamlit ignores what is not a number there, but raises on an infinite one, in every run.
    """
    try:
        infinite = math.isinf(float(st.query_params.get(key, "")))
    except ValueError:
        return
    if infinite and key not in st.session_state:
        del st.query_params[key]
        st.rerun()


def key_class(key: str) -> str:
    """The CSS class that Streamlit's browser side gives to the element that has a key: `st-key-…`."""
    return f"st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', key.strip())}"


def scrolled(key: str, width: int) -> str:
    """CSS by which a chart that has a key is at least so many px wide, and is scrolled sideways where there is less room.

    A chart that fills the screen has no more room than that; only the name of its button to close tells that it does.
    """
    chart = f".{key_class(key)}:not(:has([data-title='Close fullscreen']))"
    return f"{chart} {{overflow-x: auto}} {chart} > div {{min-width: {width}px}}"


def mount(name: str, **parts: Any) -> ComponentRenderer:
    """A component of version 2 (see `st.components.v2.component`); registered under its name once for the process."""
    return component(name, **parts)


def no_callback() -> None:
    """For a component's `on_…_change`: Streamlit keeps what the browser sets only if a callback for it is given."""
