"""The door: page settings, the shared sidebar, navigation. Everything else is a page."""

import os

# Before torch is imported: threads that wait for work must sleep, or on a busy machine a forward pass can take seconds.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import streamlit as st

from pages.widgets.pages import navigation
from pages.widgets.sidebar import sidebar
from pages.widgets.text import text

words = text("common")
st.set_page_config(page_title=words["app"], page_icon="🔦", layout="wide")
page = navigation()
sidebar()
page.run()
