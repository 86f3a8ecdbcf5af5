"""How a clicked number of somebody's own module was computed, if the opened file has the tensors for this computation."""

from collections.abc import Callable, Iterable

import numpy as np
import streamlit as st

from pages.layers.tensors import named_place
from pages.shell.view.explained_chart import Cell, show_explained
from pages.shell.view.explained_number import difference_formula, formula_with_numbers
from pages.ui.charts import passing_chart
from pages.ui.escaping import literal
from pages.ui.format import number
from pages.ui.text import figure_labels, text
from transformer import Watched
from transformer.analysis.cell import Explanation
from transformer.figures.panels import TensorView
from transformer.figures.tensor_sheet import frame_of_cell, number_of_cell, tiles_figure
from transformer.watching.watched_number import watched_number

DIGITS = 8  # significant digits of a number, as on hover

# The tile, the row and the column of a number in a tensor that is drawn.
Place = tuple[int, int, int]


def show_tensors(
    title: str, views: list[TensorView], cell_size: int, key: str, alt: str, explain: Callable[[TensorView, Place], None]
) -> None:
    """Draw tensors side by side, below `title`. A click on a cell calls `explain`, which draws below them, with the tensor and
    the place of the cell's number, or of its number of greatest magnitude: tile (matrix of one head; 0 without heads), row,
    column. `cell_size` is in px, `key` is the chart's key, and `alt` its name for screen readers."""
    figure = tiles_figure({title: views}, cell_size, figure_labels())

    def number_in(cell: Cell) -> tuple[TensorView, Place] | None:
        return number_of_cell(figure, views, cell.trace, cell.row, cell.column)

    show_explained(
        passing_chart(lambda: figure),
        key,
        alt,
        lambda cell: explain(*found) if (found := number_in(cell)) else None,
        marks=lambda cell: frame_of_cell(figure, cell.trace, cell.row, cell.column) if number_in(cell) else None,
    )


def explain_watched(watched: Watched, path: str, item: int, matrix: int, view: TensorView, at: Place) -> None:
    """Draw one exact value of a module recorded by `transformer.watch`, its place, and its computation from other tensors.

    Args:
        path, item: the path of the tensor, and the index of the text in the batch.
        view, matrix: the drawn matrix, and its index among the matrices of the tensor, counted from 0.
        at: the tile (matrix of one head; 0 without heads), the row and the column of the value in `view`.
    """
    _, row, column = at
    # A matrix of heads × dimensions is drawn as a tile for each head. `watched_number` does not compute such a matrix again.
    computed = watched_number(watched, path, item, matrix, row, column) if len(view.panel.values) == 1 else ()
    explain_recorded(path, named_place(view, row, column), float(view.panel.values[at]), computed)


def explain_recorded(path: str, place: Iterable[str], value: float, computed: tuple[Explanation, ...]) -> None:
    """Draw a number of the recorded tensor at `path`, and how it was computed. `place` has the names of its row and its column;
    `computed` is a result of `watched_number`, which is empty if the computation is unknown."""
    words = text("module")["explained"]
    name = path.rpartition(".")[2]
    said = words["value"].format(path=literal(path), place=", ".join(place), value=number(value, DIGITS))
    st.markdown(f"{said} {words[name if computed else 'unknown']}")
    for explained in computed:
        st.latex(formula_with_numbers(explained))


def explain_compared(path: str, ours: TensorView, theirs: TensorView | None, at: Place) -> None:
    """Draw the exact numbers of two compared networks at one place of a tensor, and their difference.

    Args:
        ours: the tensor of our network.
        theirs: the tensor of somebody's module that was compared with `ours`; None if the module has no such tensor.
        at: the tile (matrix of one head; 0 without heads), the row and the column of the number in both tensors.
    """
    words, first = text("module")["explained"], float(ours.panel.values[at])
    place = {"path": literal(path), "place": ", ".join(named_place(ours, *at[1:]))}
    if theirs is None:
        st.markdown(words["ours"].format(**place, value=number(first, DIGITS)))
        return
    second = float(theirs.panel.values[at])
    st.markdown(words["compared"].format(**place, ours=number(first, DIGITS), theirs=number(second, DIGITS)))
    if np.isfinite([first, second]).all():
        st.latex(difference_formula(second, first))
