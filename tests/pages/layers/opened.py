"""Helpers that open the Layers page, and a stop of its walk, without a browser; and one that finds a cell in a browser."""

from typing import Any

from streamlit.testing.v1 import AppTest

from pages.layers.walk_part import STOP
from tests.pages.apps import on_page
from tests.pages.visitor import Walker

LAYER = "encoder.layers.0"


def opened(**query: str) -> AppTest:
    """Open the Layers page by a link with this query, and assert that it shows no error; returns the app."""
    app = on_page("pages/layers/page.py", 120, **query)
    assert not app.exception
    assert not app.error
    return app


def at_stop(app: AppTest, path: str) -> Any:
    """Go to a stop; returns its table of inputs, parameters and result."""
    app.selectbox(key=STOP).set_value(path).run()
    assert not app.exception
    return app.table[0].value


def spot(walker: Walker, place: tuple[int, int], shape: tuple[int, int]) -> dict[str, float]:
    """The position of a cell (row, column) of the last tensor of the picture, which has this many rows and columns."""
    walker.root.evaluate("chart => chart.scrollIntoView({block: 'center'})")
    box = walker.root.locator(".nsewdrag").last.bounding_box()
    assert box is not None
    return {
        "x": box["x"] + (place[1] + 0.5) * box["width"] / shape[1],
        "y": box["y"] + (place[0] + 0.5) * box["height"] / shape[0],
    }
