"""The script that Streamlit runs for each visitor: page settings, navigation, heading and sidebar, then a page.

streamlit run app.py
"""

import os

# Set before torch is imported. Threads that wait for work must sleep, otherwise a forward pass can take seconds on a busy
# machine.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import streamlit as st

from pages.lessons import follow_lesson, lesson_bar, show_keep
from pages.shell.frame.body import COMPLETE, draw_page
from pages.shell.frame.embed import show_caption, start_embedding
from pages.shell.frame.glossary import show_glossary
from pages.shell.frame.navigation import foot, navigation
from pages.shell.frame.present import present_bar, present_button, start_presenting
from pages.shell.frame.sidebar import sidebar
from pages.shell.server.requests import middleware
from pages.shell.server.warm_up import warm_up
from pages.shell.view.edit_list import follow_edits
from pages.shell.view.turns import turn
from pages.training.live_return import keep_training
from pages.ui.compat import ignore_pages_folder, runs_for_visitor
from pages.ui.limits import FILES, REUSED_KILOBYTES, THREADS
from pages.ui.link_values import start_run
from pages.ui.style import app_style
from pages.ui.text import start_language, text
from transformer.assets import assets
from transformer.process import allow_open_files, reuse_freed_memory, use_threads

STYLE = app_style(assets() / "app.css")


def visit() -> None:
    """Draw the whole app once for one visitor. A click inside the page runs only the fragment in `draw_page`."""
    st.session_state[COMPLETE] = False
    start_language()
    st.set_page_config(page_title=text("common")["app"], page_icon="🔦", layout="wide")
    st.html(STYLE)
    page = navigation()
    start_run()
    start_presenting()
    start_embedding()
    in_lesson = follow_lesson()
    # During a lesson, the lesson's words are in the place of the sidebar; the button at the top opens the sidebar.
    st.set_page_config(initial_sidebar_state="collapsed" if in_lesson else "auto")
    follow_edits()
    keep_training()
    present_bar()
    lesson_bar()
    sidebar(in_lesson)
    draw_page(page)
    show_caption()
    with st.container(key="ending"):  # app.css keeps it below the screen while the page is drawn, so that it does not jump
        if not in_lesson:  # the lesson's bar already has the link to the next page
            foot()
        with st.container(horizontal=True):
            show_glossary()
            present_button()
            show_keep()
    st.session_state[COMPLETE] = True


if not runs_for_visitor():
    # Loaded once by `streamlit run` when the server starts, before the first visit.
    ignore_pages_folder()
    reuse_freed_memory(REUSED_KILOBYTES << 10)
    use_threads(THREADS)
    allow_open_files(FILES)
    app = st.App("app.py", lifespan=warm_up, middleware=middleware())
else:
    with turn():
        visit()
