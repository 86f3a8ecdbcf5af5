"""The door: page settings, the shared sidebar, navigation. Everything else is a page.

streamlit run app.py
"""

import os
from pathlib import Path

# Before torch is imported: threads that wait for work must sleep, or on a busy machine a forward pass can take seconds.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx

from pages.shell.navigation import foot, navigation
from pages.shell.runs import warm_up
from pages.shell.sidebar import sidebar
from pages.ui.text import text
from transformer.allocator import reuse_freed_memory

STYLE = Path(__file__).parent / "assets" / "app.css"


def visit() -> None:
    """One run for one visitor."""
    st.set_page_config(page_title=text("common")["app"], page_icon="🔦", layout="wide")
    st.html(STYLE)
    page = navigation()
    sidebar()
    try:
        page.run()
    except StopException:  # a page that stops on what it cannot show still ends on the way on
        foot()
        raise
    foot()


if get_script_run_ctx() is None:
    # Loaded once by `streamlit run` when the server starts, before anybody visits. Streamlit takes a folder named `pages`
    # for its older kind of multipage app until the first visitor's run calls `st.navigation`; that visitor, if they came by
    # a link, would be told "Page not found". So it is said here.
    PagesManager.uses_pages_directory = False
    reuse_freed_memory()
    app = st.App("app.py", lifespan=warm_up)
else:
    visit()
