"""The navigation, made from the folders: a page is `pages/<page>/page.py` and its text file, which names its group."""

from pathlib import Path
from typing import Literal

import streamlit as st

from pages.ui.compat import NavigationPage
from pages.ui.text import has_text, text

ROOT = Path(__file__).parents[1]
# The groups in the order of a sentence's way through the model.
GROUPS = ("start", "inputs", "inside", "outputs", "learning")
# The order in which to read them on a first visit; what is not there yet is passed over.
TOUR = ("home", "tokens", "positions", "masks", "attention", "layers", "turning")


def page_files() -> list[Path]:
    """Every page script that has texts, in the order of the navigation: by group, then by the place its texts give."""
    files = [file for file in ROOT.glob("*/page.py") if has_text(name_of(file))]
    return sorted(files, key=lambda file: (GROUPS.index(text(name_of(file))["group"]), text(name_of(file))["order_in_group"]))


def name_of(file: Path) -> str:
    """A page's name in the URL: that of its folder."""
    return file.parent.name


def navigation() -> NavigationPage:
    """Draw the navigation; return the page that was asked for, whose name is from then on in the session's `page`. The first
    page is the one that opens at `/`."""
    groups = text("common")["groups"]
    pages: dict[str, list[NavigationPage]] = {}
    for index, file in enumerate(page_files()):
        words = text(name_of(file))
        page = st.Page(file, title=words["title"], url_path=name_of(file), default=index == 0)
        pages.setdefault(groups[words["group"]], []).append(page)
    page = st.navigation(pages)
    # The page that opens at `/` has no path of its own.
    st.session_state["page"] = page.url_path or name_of(page_files()[0])
    return page


def tour() -> list[Path]:
    """The pages of a first visit, in order."""
    files = {name_of(file): file for file in page_files()}
    return [files[name] for name in TOUR if name in files]


def foot() -> None:
    """Where on the tour the page is, with links to the stop before and the stop after. Nothing on a page that is no stop."""
    words, stops = text("common")["tour"], tour()
    at = next((at for at, stop in enumerate(stops) if name_of(stop) == st.session_state["page"]), None)
    if at is None:
        return
    st.space("medium")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", border=True, key="foot"):
        if at > 0:
            _stop(stops[at - 1], words["back"], ":material/arrow_back:", "left")
        st.caption(words["stop"].format(number=at + 1, count=len(stops)), width="content")
        if at + 1 < len(stops):
            _stop(stops[at + 1], words["next"], ":material/arrow_forward:", "right")
        else:
            _stop(stops[0], words["again"], ":material/replay:", "right")


def _stop(file: Path, label: str, icon: str, side: Literal["left", "right"]) -> None:
    st.page_link(file, label=label.format(title=text(name_of(file))["title"]), icon=icon, icon_position=side)
