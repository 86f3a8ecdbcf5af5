"""Helpers that open the app by a link without a browser, and the worked example of many pages."""

import functools
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from benchmarks.app_server import ROOT
from pages.shell.frame.parts import ALL

APP = str(ROOT / "app.py")
HOME = "pages/home/page.py"
EXAMPLE = {
    "source": "1 5 6 4 3 9 5 2 0",
    "target": "1 7 4 3 5 9 2",
    "batch": "1 8 7 3 4 5 6 7 2",
    "batch_targets": "1 5 6 2 4 7 6",
}
# The worked example with its model. LINKED has it as query parameters, WORKED as the query of an address.
LINKED = {"model": "shared_heads", **EXAMPLE}
WORKED = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in LINKED.items())


# Each `AppTest` searches the metadata of all installed packages for components. This takes 50 ms and gives the same result each
# time, so it is cached.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


def on_page(page: str, timeout: float = 60, /, **query: str | tuple[str, ...]) -> AppTest:
    """Open a page of the app directly by a link with the query; returns the app. `timeout` is in seconds for each run."""
    app = AppTest.from_file(APP, default_timeout=timeout)
    app.session_state[ALL] = True  # draw all parts, because no browser reports which parts are on the screen
    for name, value in query.items():
        app.query_params[name] = value
    if page != HOME:
        # Otherwise `switch_page` finds the page only after a run of Home, which would double the time of most tests.
        app._registered_pages = registered_pages()
        app.switch_page(page)
    return app.run()


def unfold(app: AppTest, *keys: str) -> AppTest:
    """Open expanders or menus by their keys, as a click does, because closed ones have no content; returns the app."""
    for key in keys:
        app.session_state[key] = True
    return app.run()


@functools.cache
def registered_pages() -> dict[str, Any]:
    """The pages that a run of the app registers with `st.navigation`."""
    return AppTest.from_file(APP, default_timeout=60).run()._registered_pages


def shown_errors(app: AppTest) -> str:
    """All errors shown on a page, joined, without escapes."""
    assert not app.exception
    return " ".join(shown(error.value) for error in app.error)


def notes(app: AppTest) -> list[str]:
    """The notes about the typed texts (`pages.shell.frame.note_row`), without escapes."""
    icon = re.compile(r":material/(view_agenda|error|help|do_not_disturb_on|straighten|match_case): ")
    return [shown(icon.sub("", each.value, 1)) for each in app.main.markdown if icon.match(each.value)]


def shown(markdown: str) -> str:
    """The text that is visible when Markdown that `pages.ui.escaping` has escaped is shown, also of a marked term."""
    markdown = re.sub(r"\[([^\]]*)\]\(#word-[^)]*\)", r"\1", markdown)
    for _ in range(2):  # spans can be nested once
        markdown = re.sub(r":color\[((?:\\.|[^\\\[\]])*)\]", r"\1", markdown)
    return markdown.replace("\\", "")


class SentChart(NamedTuple):
    """A chart as a page sends it to the browser.

    Attributes:
        key: the key of the component.
        alt: the chart's name for screen readers.
        spec: the figure. Its arrays are NumPy arrays.
        text: the data and the layout of the figure as JSON, without their arrays.
    """

    key: str
    alt: str
    spec: dict[str, Any]
    text: str


def charts(part: Any) -> list[SentChart]:
    """The charts of an app or a part of it, in the order of the page."""
    return [sent_chart(each) for each in part.get("bidi_component") if is_chart(each)]


def sent_chart(element: Any) -> SentChart:
    """The chart of a component's element. Reads what `pages.ui.chart.message` writes."""
    sent = element.proto.bytes
    start = 4 + int.from_bytes(sent[:4], "little")

    def arrays(value: dict[str, Any]) -> Any:
        if "packed" not in value:
            return value
        first, end = value["packed"]
        return np.frombuffer(sent[start + first : start + end], value["dtype"]).reshape(value["shape"])

    spec = json.loads(sent[4:start], object_hook=arrays)
    text = json.dumps([spec["data"], spec["layout"]], default=lambda _: None, ensure_ascii=False)
    return SentChart(element.key, spec["alt"], spec, text)


def is_chart(element: Any) -> bool:
    """Whether the element of a component is a chart."""
    return element.proto.component_name == "plotly_chart"


class Tab:
    """The storage of a tab of the browser. Use `mount` in place of the script of `pages.ui.tab_memory`.

    Attributes:
        storage: name → session and text.
    """

    def __init__(self) -> None:
        self.storage: dict[str, tuple[str, str]] = {}

    def mount(self, key: str, data: dict[str, Any], on_recall_change: Callable[[], None]) -> None:
        """What tab_memory.js does."""
        session, before = self.storage.get(data["name"], ("", ""))
        before = "" if session == data["session"] else before
        if data["recalled"] or not (before or data["waits"]):
            self.storage[data["name"]] = (data["session"], data["text"])
            return
        st.session_state[key] = {"recall": {"text": before}}
        on_recall_change()
        st.rerun()
