"""The navigation, made from the folders: a page is one file `pages/<group>/<page>.py` and its texts."""

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from pages.widgets.text import text

ROOT = Path(__file__).parents[1]
# The groups in the order of a sentence's way through the model.
GROUPS = ("start", "inputs", "inside", "outputs", "learning")


def page_files() -> list[Path]:
    """Every page script, in the order of the navigation: by group, then by the place its texts give."""
    files = [file for group in GROUPS for file in (ROOT / group).glob("[!_]*.py")]
    return sorted(files, key=lambda file: (GROUPS.index(file.parent.name), text(file.stem)["order_in_group"]))


def navigation() -> Page:
    """Draw the navigation; return the page that was asked for. The first page is the one that opens at `/`."""
    groups = text("common")["groups"]
    pages: dict[str, list[Page]] = {}
    for index, file in enumerate(page_files()):
        page = st.Page(file, title=text(file.stem)["title"], url_path=file.stem, default=index == 0)
        pages.setdefault(groups[file.parent.name], []).append(page)
    return st.navigation(pages)
