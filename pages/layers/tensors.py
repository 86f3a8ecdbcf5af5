"""The picture of one tensor of the forward pass and the tensors from which it was computed."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.ui.chart import event, narrowness
from pages.ui.charts import chart, described, show
from pages.ui.component import is_index
from pages.ui.escaping import literal
from pages.ui.format import numbered_tokens, token_at
from pages.ui.text import text
from transformer.figures import stop_figure
from transformer.figures.highlights import largest_cells
from transformer.figures.panels import MOST_COLUMNS, TensorView
from transformer.figures.walk_figures import cell_frame, number_at

# The description of a picture for screen readers has at most this many rows, and at most this many ids.
MOST_SAID, MOST_IDS = 3, 12
# Widths of the figure in px, and the widths of the page below which the next one is drawn.
WIDTHS, NARROW = (720, 560, 330), (720, 520)
# Session key. Its value: (key of a picture, path of a tensor in it), and (first, last) of the columns that are opened.
OPENED = "opened_columns"
AROUND = 32  # columns that are opened on each side of a clicked cell that stands for several numbers


def picture(
    inputs: Sequence[TensorView],
    operation: str,
    result: TensorView,
    says: str,
    key: str,
    name: str | None = None,
    zooms: bool = False,
    on_number: Callable[[TensorView, tuple[int, int, int]], None] | None = None,
    framed: tuple[str, tuple[int, int, int]] | None = None,
) -> None:
    """Draw the inputs of an operation, its name and its result side by side. Cells have the same size in all tensors.

    Args:
        inputs: the inputs in the order of the formula; may be empty.
        operation: the words between inputs and result.
        result: the tensor that the operation returns.
        says: the picture in words, for screen readers.
        name: name of saved files, without suffix; by default the key.
        zooms: whether the visitor can open some columns of tensors that are too wide for one cell per number.
        on_number: called when a cell is clicked, with its tensor and the tile (matrix of one head), row and column of the
            cell's number; of several numbers, that of greatest magnitude. With `zooms`, the columns around such a cell are
            opened, too.
        framed: the path of a tensor, and the tile, row and column, from 0, of the number in it whose cell is framed.
    """
    views = [*inputs, result]
    opened = _opened(key, views) if zooms else None
    # Opened columns are drawn alone, because cells of the common size of all tensors would be too small to point at.
    shown = views if opened is None else [opened]
    width = WIDTHS[min(narrowness(key), len(NARROW))]
    figure = chart(stop_figure, shown[:-1], operation, shown[-1], width)
    told = " ".join(f"{view.title} {view.shape}: {_told(view)}" for view in shown)
    asks: dict[str, Callable[[], None]] = {}
    if zooms and (opened is not None or binned(shown)):
        asks["zoom"] = lambda: open_zoomed(key, shown)
    if "zoom" in asks or on_number is not None:
        asks["click"] = lambda: take_click(key, shown, width, zooms, on_number)
    marks = None if on_number is None else _frame(shown, width, framed)
    more: dict[str, Any] = {"asks": asks, "table": lambda: all_numbers(views), "narrow": NARROW, "marks": marks}
    show(figure, key, f"{says} {told}", name, tells=True, **more)


def _frame(shown: Sequence[TensorView], width: int, framed: tuple[str, tuple[int, int, int]] | None) -> list[dict[str, Any]]:
    """The shapes of a frame around the number `framed`; none if no shown view has this number."""
    if framed is None:
        return []
    path, (tile, row, column) = framed
    found = [index for index, view in enumerate(shown) if view.path == path]
    return cell_frame(shown, width, found[0], (tile, row, column - shown[found[0]].first_column)) if found else []


def binned(views: Sequence[TensorView]) -> list[TensorView]:
    """The views that are so wide that a picture draws several numbers as one cell."""
    return [view for view in views if numbers_of_cell(view) > 1]


def numbers_of_cell(view: TensorView) -> int:
    """How many numbers of a row of a view are drawn as one cell of the picture."""
    return -(-view.panel.values.shape[2] // MOST_COLUMNS)


def opened_columns(key: str, views: Sequence[TensorView]) -> tuple[int, int] | None:
    """The first and the last of the columns that the visitor has opened in a picture of these views; None if all are shown."""
    place, columns = st.session_state.get(OPENED, (None, None))
    return columns if place in [(key, view.path) for view in views] else None


def _opened(key: str, views: Sequence[TensorView]) -> TensorView | None:
    """The view with only the columns that the visitor has opened in a picture of these views; None if all columns are shown."""
    columns = opened_columns(key, views)
    if columns is None:
        return None
    (view,) = [view for view in views if (key, view.path) == st.session_state[OPENED][0]][:1]
    return view.columns(*columns)


def show_all_columns() -> None:
    st.session_state.pop(OPENED, None)


def _open(key: str, view: TensorView, first: float, last: float) -> None:
    """Open the columns from one cell of a picture to another, if the cells stand for several numbers."""
    each, start, count = numbers_of_cell(view), view.first_column, view.panel.values.shape[2]
    if each > 1:
        ends = (start + min(round(min(max(cell, 0), MOST_COLUMNS)) * each, count - 1) for cell in (first, last + 1))
        st.session_state[OPENED] = ((key, view.path), tuple(ends))


def open_zoomed(key: str, shown: Sequence[TensorView]) -> None:
    """Handle a `zoom` event of the picture `key`: open the columns that were dragged over, or after a double click, all."""
    sent = event(key, "zoom")
    if sent.get("axis") is None:
        show_all_columns()
        return
    view = _view_of(sent, shown)
    ends = [end for end in (sent.get("first"), sent.get("last")) if isinstance(end, int | float) and math.isfinite(end)]
    if view is not None and len(ends) == 2:
        _open(key, view, min(ends), max(ends))


def take_click(
    key: str,
    shown: Sequence[TensorView],
    width: int,
    zooms: bool,
    on_number: Callable[[TensorView, tuple[int, int, int]], None] | None,
) -> None:
    """After a click on a cell, call `on_number` with the number that it shows. If `zooms`, also open the columns around a cell
    for several numbers. `shown` are the drawn views, `width` is the width of the figure in px, and `key` the picture's key.
    `on_number` gets the tensor, and (tile, row, column) of the number; a tile is the matrix of one head."""
    sent = event(key, "click")
    view, x, y = _view_of(sent, shown), sent.get("x"), sent.get("y")
    if view is None or not (is_index(x) and is_index(y)):
        return
    at = number_at(shown, width, int(sent["axis"]) - 1, x, y)
    if at is None:
        return
    if zooms and (each := numbers_of_cell(view)) > 1:
        cell = at[2] // each
        _open(key, view, cell - AROUND / each, cell + AROUND / each)
    if on_number is not None:
        on_number(view, at)


def _view_of(sent: Mapping[str, Any], shown: Sequence[TensorView]) -> TensorView | None:
    """The view on whose axes an event happened."""
    axis = sent.get("axis")
    return shown[axis - 1] if is_index(axis, len(shown) + 1) and axis > 0 else None


def named_place(view: TensorView, row: int, column: int) -> list[str]:
    """The row and the column of a number in a view, as Markdown: `query 3 · cat`, `key 2 · the`."""
    names = []
    for axis, index in ((1, row), (2, column)):
        name, tokens = view.panel.axes[axis], view.labels(axis)
        if name.strip() not in ("", "1"):
            token = None if tokens is None else literal(tokens[index])
            names.append(f"{name} {index}" if token is None else f"{name} {token_at(index, token)}")
    return names


def numbers(shown: TensorView) -> pd.DataFrame:
    """The numbers of a tensor as a table with one row for each row of each head."""
    names = _row_names(shown)
    return pd.DataFrame(shown.panel.values.reshape(len(names), -1), names)


def _row_names(shown: TensorView) -> list[str]:
    """The names of the rows of all heads, head after head."""
    tiles, rows, _ = shown.panel.values.shape
    names = shown.tokens.get(shown.panel.axes[1], range(rows))
    return [
        f"head {tile + 1}, {token_at(at, str(name))}" if tiles > 1 else token_at(at, str(name))
        for tile in range(tiles)
        for at, name in enumerate(names)
    ]


def all_numbers(frames: Sequence[TensorView]) -> pd.DataFrame:
    """The numbers of several tensors in one table, each tensor below its path. The rows of narrow tensors end in empty
    cells."""
    return pd.concat({frame.path: numbers(frame) for frame in frames}, names=["tensor", "row"])


def _told(drawn: TensorView) -> str:
    """The description of a panel for screen readers: at most `MOST_SAID` rows with the largest numbers."""
    words, panel = text("tensors")["told"], drawn.panel
    if panel.scale == "ids":
        return words["ids"].format(ids=", ".join(str(int(value)) for value in panel.values.ravel()[:MOST_IDS]))
    if panel.scale == "mask":
        hidden = 0 if panel.hidden is None else int(panel.hidden.sum())
        return words["mask"].format(open=panel.values.size - hidden, count=panel.values.size)
    seen = panel.values if panel.hidden is None else np.where(panel.hidden, np.nan, panel.values)
    tiles, rows, columns = seen.shape
    tokens = drawn.labels(2)
    across = numbered_tokens(tokens) if tokens else [str(drawn.first_column + at) for at in range(columns)]
    return described(list(largest_cells(seen.reshape(tiles * rows, columns), _row_names(drawn), across))[:MOST_SAID])
