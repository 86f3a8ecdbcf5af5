"""A click on a cell of a chart opens how its number was computed."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect
from streamlit.testing.v1 import AppTest

from pages.shell.view.explained_chart import CELL, Cell, clicked_cell
from pages.ui.text import text
from tests.pages.apps import on_page
from tests.pages.visitor import Visitor

HINT = text("common")["explain_hint"]
PAGE = "pages/tokens/page.py"


def two_charts() -> None:
    """A page with two charts of 2 × 3 cells. For each cell it has a button that does what a click on the cell does."""
    import numpy as np
    import streamlit as st

    from pages.shell.view import explained_chart
    from pages.ui.charts import chart
    from transformer.figures.token_geometry_figures import aligned_maps

    def explain(cell: explained_chart.Cell) -> None:
        st.text(f"{cell.chart}: {cell.row}, {cell.column}")

    figure = chart(aligned_maps, {"a": np.arange(6.0).reshape(2, 3)}, ["x", "y"], "row", "column")
    for key in ("first", "second"):
        explained_chart.show_explained(figure, key, "a map", explain)
        for row in range(2):
            for column in range(3):
                cell = explained_chart.Cell(key, 0, row, column)
                st.button(f"{key} {row} {column}", on_click=explained_chart.toggle, args=(cell,))


def opened(cell: str | None = None) -> AppTest:
    app = AppTest.from_function(two_charts)
    if cell is not None:
        app.query_params[CELL] = cell
    app.run()
    assert not app.exception
    return app


def click(app: AppTest, name: str) -> list[str]:
    """What the page explains after a click on a cell."""
    next(button for button in app.button if button.label == name).click().run()
    assert not app.exception
    return said(app)


def said(app: AppTest) -> list[str]:
    return [each.value for each in app.text]


def linked(app: AppTest) -> str:
    """The cell in the address."""
    return "".join(app.query_params.get(CELL, ""))


def hints(app: AppTest) -> int:
    return [each.value for each in app.caption].count(HINT)


def closings(app: AppTest) -> int:
    """How often the page says how to close a computation."""
    return [each.value for each in app.caption].count(text("common")["explain_close"])


def test_a_click_opens_the_same_click_closes_and_another_moves() -> None:
    app = opened()
    assert said(app) == []
    assert hints(app) == 2
    assert closings(app) == 0
    assert click(app, "first 1 2") == ["first: 1, 2"]
    assert linked(app) == "first.0.1.2"
    assert hints(app) == 1
    assert closings(app) == 1
    assert click(app, "second 1 0") == ["second: 1, 0"]
    assert linked(app) == "second.0.1.0"
    assert click(app, "second 1 0") == []
    assert linked(app) == ""
    assert hints(app) == 2


def test_the_address_opens_a_cell() -> None:
    app = opened("second.0.0.2")
    assert said(app) == ["second: 0, 2"]
    assert linked(app) == "second.0.0.2"


@pytest.mark.parametrize("cell", ["first.0.2.0", "first.0.0.3", "first.1.0.0", "third.0.0.0", "first.0.0.99999"])
def test_a_cell_outside_the_picture_is_not_explained(cell: str) -> None:
    app = opened(cell)
    assert said(app) == []
    assert hints(app) == 2


@pytest.mark.parametrize("cell", ["first", "first.0.0", "first.0.0.0.0", "first.-1.0.0", "a b.0.0.0", "first.0.0.²", "."])
def test_a_nonsense_address_is_refused(cell: str) -> None:
    app = on_page(PAGE, cell=cell)
    assert CELL not in app.query_params
    assert any(cell in toast.value.replace("\\", "") for toast in app.toast)


def test_the_data_of_a_click_name_a_cell() -> None:
    assert clicked_cell("map", {"trace": 0, "y": 1, "x": 2}) == Cell("map", 0, 1, 2)
    assert clicked_cell("map", {"trace": 0, "point": 1, "step": 2}, ("point", "step")) == Cell("map", 0, 1, 2)
    assert clicked_cell("lines", {"trace": 1, "index": 3, "x": 9}) == Cell("lines", 1, 1, 3)


@pytest.mark.parametrize(
    "sent", [{}, {"trace": 0, "y": "1", "x": 2}, {"trace": 0, "y": True, "x": 2}, {"trace": 0, "y": -1, "x": 0}, {"index": 3}]
)
def test_a_click_that_is_on_no_cell_opens_nothing(sent: dict[str, Any]) -> None:
    assert clicked_cell("map", sent) is None


def top(element: Locator) -> float:
    """The distance of an element from the top of the screen."""
    box = element.bounding_box()
    assert box
    return box["y"]


@pytest.mark.slow
@pytest.mark.browser
def test_a_click_in_a_browser_opens_and_closes_the_explanation(visitor: Visitor) -> None:
    page = visitor.open("tokens?model=reverse&source=abc&part=alike")
    chart = page.locator(".st-key-tokens-similarity .chart[data-state=drawn]")
    save = page.locator(".st-key-tokens-similarity").locator("xpath=following::button[contains(., 'Save')][1]")
    gap = top(save) - top(chart)
    cell = chart.locator(".nsewdrag").bounding_box()
    assert cell
    at = cell["x"] + cell["width"] * 0.9, cell["y"] + cell["height"] * 0.1  # first row, last column
    page.mouse.click(*at)
    page.wait_for_url(re.compile(r"cell=tokens-similarity\.0\.0\.4"))
    card = page.locator(".st-key-card-explained-tokens-similarity")
    card.locator(".katex-display").first.wait_for()
    frame = chart.locator(".shapelayer path").last
    expect(frame).to_be_attached()
    visitor.settle()  # the page scrolls to what was opened
    chart.scroll_into_view_if_needed()
    box = frame.bounding_box()
    assert box
    assert top(save) - top(chart) == pytest.approx(gap)  # the frame moves nothing
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(card).to_have_count(0)
    expect(chart.locator(".shapelayer path")).to_have_count(0)
    assert visitor.complaints == []
