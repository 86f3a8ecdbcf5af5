"""How a clicked number of somebody's own module was computed, as far as the file of its tensors tells."""

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
    """Draw tensors side by side. A click on a cell opens below them what `explain` draws, called with the tensor and the place
    of the cell's number; if a cell stands for several numbers, of the one with the greatest magnitude. The other arguments are
    those of `tiles_figure` and `pages.ui.charts.show`."""
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
    """Draw one exact value of a watched module, its place, and its computation from other recorded tensors.

    Args:
        view, matrix: the drawn matrix, and its index among the matrices of the tensor, counted from 0.
        at: the tile, the row and the column of the value in the view.
    """
    _, row, column = at
    # A matrix of heads × dimensions is drawn as a tile for each head. `watched_number` does not compute such a matrix again.
    computed = watched_number(watched, path, item, matrix, row, column) if len(view.panel.values) == 1 else ()
    explain_recorded(path, named_place(view, row, column), float(view.panel.values[at]), computed)


def explain_recorded(path: str, place: Iterable[str], value: float, computed: tuple[Explanation, ...]) -> None:
    """Draw a recorded number and how it was computed. `place` has the names of its row and its column, and `computed` is what
    `watched_number` returned; empty if the computation is unknown."""
    words = text("module")["explained"]
    name = path.rpartition(".")[2]
    said = words["value"].format(path=literal(path), place=", ".join(place), value=number(value, DIGITS))
    st.markdown(f"{said} {words[name if computed else 'unknown']}")
    for explained in computed:
        st.latex(formula_with_numbers(explained))


def explain_compared(path: str, ours: TensorView, theirs: TensorView | None, at: Place) -> None:
    """Draw the exact numbers of both networks at one place, and their difference.

    Args:
        ours: a tensor of our network.
        theirs: the tensor of the module that was compared with it; None if the module has none.
        at: the place of the number in both.
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
