"""The navigation and the tour, built from the folders. A page is `pages/<page>/page.py` with a text file. The text file sets
the page's places in the navigation and in the tour."""

from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import streamlit as st

from pages.ui.compat import NavigationPage
from pages.ui.text import has_text, text

FOLDER = Path(__file__).parents[2]


# Cached, because a page calls it once for each of its links.
@cache
def page_files() -> tuple[Path, ...]:
    """The script (`page.py`) of every page that has a text file (`has_text`), in the order of the navigation: by group, then by
    place in the group."""
    groups = list(text("common")["groups"])
    files = [file for file in FOLDER.glob("*/page.py") if has_text(name_of(file))]
    words = {file: text(name_of(file)) for file in files}
    return tuple(sorted(files, key=lambda file: (groups.index(words[file]["group"]), words[file]["order_in_group"])))


@cache
def tour() -> tuple[Path, ...]:
    """The page scripts of the tour, in order: those whose text files set a place in the tour."""
    stops = [file for file in page_files() if "tour_place" in text(name_of(file))]
    return tuple(sorted(stops, key=lambda file: text(name_of(file))["tour_place"]))


def name_of(file: Path) -> str:
    """A page's name in the URL, which is the name of the folder of its script `file`."""
    return file.parent.name


def address(page: str, query: dict[str, str]) -> str:
    """The relative URL of a page with the parameters of `query` that are not empty. It works on every page of the app."""
    search = urlencode({name: value for name, value in query.items() if value})
    return (path(page) or ".") + (f"?{search}" if search else "")


def here() -> str:
    """The relative URL of the open page, with all parameters that it has now."""
    query = urlencode({name: st.query_params.get_all(name) for name in st.query_params}, doseq=True)
    return (path(st.session_state["page"]) or ".") + (f"?{query}" if query else "")


def path(page: str) -> str:
    """The last part of the path in a page's URL. It is empty for the first page, which opens at `/`."""
    return "" if page == name_of(page_files()[0]) else page


def exists(page: str) -> bool:
    """Whether the app has a page with this name (`name_of`)."""
    return any(name_of(file) == page for file in page_files())


def navigation() -> NavigationPage:
    """Draw the navigation and return the requested page. Sets `page` of the session to its name. The first page opens at
    `/`."""
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


def foot() -> None:
    """Draw the page's place in the tour through the app, with links to the previous and the next page of the tour. Draw nothing
    on a page outside the tour."""
    words, stops = text("common")["tour"], tour()
    names = [name_of(stop) for stop in stops]
    if st.session_state["page"] not in names:
        return
    index = names.index(st.session_state["page"])
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", border=True, key="foot"):
        if index > 0:
            _stop(stops[index - 1], words["back"], ":material/arrow_back:", "left")
        st.caption(words["stop"].format(number=index + 1, count=len(stops)), width="content")
        if index + 1 < len(stops):
            _stop(stops[index + 1], words["next"], ":material/arrow_forward:", "right")
        else:
            _stop(stops[0], words["again"], ":material/replay:", "right")


def _stop(file: Path, label: str, icon: str, side: Literal["left", "right"]) -> None:
    st.page_link(file, label=label.format(title=text(name_of(file))["title"]), icon=icon, icon_position=side)
