"""All undocumented parts of Streamlit that the app uses from Python. compat.js has the parts used from JavaScript.

No other module imports undocumented names of Streamlit. Each function here has a test in `tests/pages/ui/test_compat.py` that
fails when an upgrade of Streamlit breaks it.

A part stays only if it mends a fault that a visitor sees, or saves at least 5 ms of a click. The reason or the
measurement stands beside it (processor time, Streamlit 1.67.0, two busy cores).
"""

import math
import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer
from streamlit.file_util import get_static_dir
from streamlit.navigation.page import Page
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

# Return types of `st.navigation` and `st.components.v2.component`, which Streamlit does not export.
NavigationPage = Page
Mount = ComponentRenderer


class PageEnd(StopException):
    """Ends a page while the script of the app continues. `st.stop` raises the base class of this exception, but first requests
    the whole run to stop, and then nothing can be drawn. Streamlit also raises the base class when a click ends a run."""


def ignore_pages_folder() -> None:
    """Prevent Streamlit from serving the folder `pages` as the older kind of app with several pages.

    Streamlit looks for that folder when the server starts, and ignores it only after a visitor's run has called
    `st.navigation`. A visitor who opens a link before that run would see "Page not found".
    """
    PagesManager.uses_pages_directory = False


def static_folder() -> Path:
    """The folder of Streamlit's own scripts and styles, which it sends uncompressed. If they are sent compressed, the first
    visit of the page Attention takes 2.6 MB instead of about 7."""
    return Path(get_static_dir())


def runs_for_visitor() -> bool:
    """Whether the present code runs for a visitor. It is False while modules are imported when the server starts. Streamlit
    loads `app.py` in both cases, and no documented function tells them apart. At the start of the server, drawing a page would
    fail."""
    return get_script_run_ctx(suppress_warning=True) is not None


def widgets_of(page: NavigationPage) -> AbstractContextManager[None]:
    """A context whose widgets and elements belong to a page, as if `page.run()` drew them: they disappear with the page.

    The body of a page is a fragment in a container of the app. Without this context its widgets would belong to the whole app,
    and when the page is left, Streamlit would keep its elements under the next page.
    """
    context = get_script_run_ctx()
    return nullcontext() if context is None else context.run_with_active_hash(page._script_hash)


def run_page(page: NavigationPage) -> None:
    """Run the script of a page that `st.navigation` returned in this run of the app or in an earlier run. Streamlit allows one
    run per page, but the fragment around a page calls this function at every click in the page. Without this function, such a
    click on the page Attention takes 16 ms instead of 11."""
    page._can_be_called = True
    page.run()


def opens_from_history() -> bool:
    """Whether this run opens a URL from the browser's history (Back or Forward). Streamlit then sets bound widgets from
    the URL and ignores the values they had. No documented function returns this."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def browser_has(key: str) -> bool:
    """Whether the browser had the widget with this key when it requested this run.

    If the app sets a value, Streamlit sends it only once. The message is lost if the next run of a fragment is already
    requested when the run ends. The browser then draws the widget with its default, which the next run takes for the visitor's
    choice. No documented function tells whether this has happened.
    """
    context = get_script_run_ctx()
    if context is None:
        return True
    state = context.session_state._state
    return state._key_id_mapper.get_id_from_key(key) in state._new_widget_state.states


def forget_infinite(key: str) -> None:
    """If the URL gives an infinite number (`inf` or `1e999`) for a key, remove it and run the app again. Call this before
    the number box bound to the key is drawn.

    Streamlit ignores values that are not numbers, but an infinite number raises an error in every run.
    """
    try:
        infinite = math.isinf(float(st.query_params.get(key, "")))
    except ValueError:
        return
    if infinite and key not in st.session_state:
        del st.query_params[key]
        st.rerun()


def key_class(key: str) -> str:
    """The CSS class of the element with a key, `st-key-…`. Streamlit's browser side sets it.

    The app's scripts find elements by this class, such as the picture to save. Streamlit documents that the class contains the
    key, but not how it writes characters other than letters and digits.
    """
    return f"st-key-{re.sub(r'[^a-zA-Z0-9_-]', '-', key.strip())}"


def no_callback() -> None:
    """An empty callback for a component's `on_…_change`, without which Streamlit drops the value that the browser sets."""
