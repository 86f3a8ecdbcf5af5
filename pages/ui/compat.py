"""Every internal of Streamlit that the app leans on in Python; parcel.js, picture.js and their like are for JavaScript.

No other module imports what Streamlit does not document. Each function here has a test in `tests/pages/ui/test_compat.py` that
fails when an upgrade changes what it leans on.
"""

import re
from typing import Any

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
    return get_script_run_ctx() is not None


def opens_from_history() -> bool:
    """Whether this run opens an address of the browser's history. Streamlit then lets the address decide over what its bound
    widgets held; no documented call tells a script so."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


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
