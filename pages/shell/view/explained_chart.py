"""A chart with explained numbers: a click on a cell opens, below the chart, how its number was computed.

The clicked cell is in the URL, as `cell=lens.0.3.5`: the chart, the trace of its figure, the row and the column.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from pages.shell.frame.parts import scroll_to
from pages.ui.cards import card
from pages.ui.chart import event
from pages.ui.charts import Chart, show
from pages.ui.component import is_index
from pages.ui.link_values import choose, publish, seed
from pages.ui.text import text

# The key of the clicked cell in the session and in the address.
CELL = "cell"
WRITTEN = re.compile(r"([\w-]+)\.(\d{1,3})\.(\d{1,5})\.(\d{1,5})")


class Cell(NamedTuple):
    """A clicked cell of a chart.

    Attributes:
        chart: the key of the chart.
        trace, row, column: the index of the Plotly trace in the chart's figure, and of the cell in that trace; counted from 0.
            Points of lines and bars have no row. For them `row` equals `trace`, and `column` is their index.
    """

    chart: str
    trace: int
    row: int
    column: int


def show_explained(
    shown: Chart,
    key: str,
    alt: str,
    explain: Callable[[Cell], None],
    marks: Callable[[Cell], Sequence[Mapping[str, Any]] | None] | None = None,
    hint: bool = True,
    place: Any = st,
    **options: Any,
) -> None:
    """Draw a chart; below it, how the number of the clicked cell was computed, or that a click opens this. Another click on the
    cell closes it.

    Args:
        explain: draws the computation of a cell.
        marks: returns the shapes that mark a cell in the chart, or None if the chart lacks this cell, which can come from a
            URL; by default `Chart.marks`.
        hint: whether to say below the chart that a click opens the computation. Of several charts side by side, one says it.
        place: the container of the computation and the hint, if they are not right below the chart.
        options: arguments of `pages.ui.charts.show`.
    """

    marked: dict[Cell, Sequence[Mapping[str, Any]] | None] = {}  # found once: a figure that is not cached is built for them

    def exists(cell: Cell) -> bool:
        marked[cell] = marks(cell) if marks else shown.marks(cell.trace, cell.row, cell.column)
        return marked[cell] is not None

    cell = opened(key, exists)
    asks = {"click": partial(_click, key, shown.finished.axes)}
    says = text("common")["explain_hint"] if cell is None and hint and place is st else ""
    show(shown, key, alt, asks=asks, marks=None if cell is None else marked[cell], hint=says, **options)
    show_computation(key, cell, explain, hint and not says, place)


def show_computation(key: str, cell: Cell | None, explain: Callable[[Cell], None], hint: bool = True, place: Any = st) -> None:
    """Draw how the number of the open cell of a chart was computed, and how to close it. `explain` draws the computation. If no
    cell is open and `hint` is True, a sentence tells that a click opens one. `place` is the container for both; `key` is the
    chart's key."""
    words = text("common")
    if cell is not None:
        with card(f"explained-{key}", place):
            explain(cell)
            st.caption(words["explain_close"])
    elif hint:
        place.caption(words["explain_hint"])


def _click(key: str, axes: tuple[str, str]) -> None:
    """Open the computation of the clicked cell, or close it if it is open."""
    if cell := clicked_cell(key, event(key, "click"), axes):
        toggle(cell)


def clicked_cell(key: str, sent: Mapping[str, Any], axes: tuple[str, str] = ("y", "x")) -> Cell | None:
    """The cell in the data of a click (chart/README.md); None if the data name no cell. A browser can send anything. `axes` are
    the names in `sent` of the cell's row and column."""
    trace, row, column = (sent.get(name) for name in ("trace", *(("trace", "index") if "index" in sent else axes)))
    if is_index(trace) and is_index(row) and is_index(column):
        return Cell(key, trace, row, column)
    return None


def opened(key: str, exists: Callable[[Cell], bool]) -> Cell | None:
    """The cell of a chart whose computation is open; None if no computation is open, or `exists` returns False for the cell."""
    seed(CELL, _read, lambda value: value)
    cell: Cell | None = st.session_state[CELL]
    if cell is None:
        publish(CELL, None)  # removes what is no cell from the address
        return None
    if cell.chart != key or not exists(cell):
        return None  # of another chart, or of a larger picture
    publish(CELL, _written(cell))
    return cell


def toggle(cell: Cell) -> None:
    """Open the computation of a cell, or close it if it is open. Call it in a callback."""
    if cell == st.session_state.get(CELL):
        choose(CELL, "")
        return
    choose(CELL, _written(cell))
    scroll_to(f"card-explained-{cell.chart}")


def _written(cell: Cell) -> str:
    return ".".join(map(str, cell))


def _read(written: str | None) -> Cell | None:
    if not written:
        return None
    found = WRITTEN.fullmatch(written)
    if found is None:
        raise ValueError(written)
    return Cell(found[1], *(int(number) for number in found.groups()[1:]))
