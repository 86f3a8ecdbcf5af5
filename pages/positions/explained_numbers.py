"""How a clicked number of the page Positions was computed: a sentence, and the formula with its numbers."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.explained_chart import Cell
from pages.shell.view.explained_number import factor, formula_with_numbers, shortened
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.pickers import choice_label
from pages.ui.text import text
from transformer.analysis.cell import explanation_of, product_of, sum_of
from transformer.analysis.position_geometry import Swap, cell

Vectors = Float[np.ndarray, "position d_model"]
Square = Float[np.ndarray, "row column"]
# Significant digits of a number from the table, and of a factor in a sum of products.
DIGITS, SHORT = 6, 3
# Two numbers that are this close are equal up to the rounding of single precision.
NEAR = 1e-5


def explain_entry(kind: str, values: Vectors, row: int, column: int) -> None:
    """Draw how a number of a table of positions was computed. `kind` is `sinusoidal` or `learned`."""
    words, value = text("positions"), float(values[row, column])
    if kind == "learned":
        st.markdown(words["cell_learned"].format(row=row, column=column, value=number(value, DIGITS)))
        return
    entry, d_model = cell(row, column, values.shape[1]), values.shape[1]
    st.markdown(words[f"cell_{entry.function}"].format(row=row, column=column, pair=entry.pair))
    # The formula has two lines, because on one line it is too wide for a window of 1024 px with the sidebar.
    st.latex(
        rf"\begin{{aligned}} \text{{PE}}[{row},\, {column}] &= \{entry.function}\!\left(\frac{{{row}}}"
        rf"{{10000^{{2 \cdot {entry.pair} / {d_model}}}}}\right) = \{entry.function}\!\left(\frac{{{row}}}"
        rf"{{{latex(entry.divisor, DIGITS)}}}\right) \\ &= \{entry.function}({latex(entry.angle, DIGITS)}) = "
        rf"{latex(entry.value, DIGITS)} \end{{aligned}}"
    )
    st.markdown(words["cell_table"].format(value=number(value, DIGITS)))


def explain_sum(panels: Sequence[Vectors], tokens: Sequence[str], factor_of: float, at: Cell) -> None:
    """Draw how a number of token + position = input was computed. `panels` are these three; `factor_of` is what the row of the
    token's table is multiplied by."""
    words, (token, position, total) = text("positions"), (float(panel[at.row, at.column]) for panel in panels)
    place = {"row": at.row, "column": at.column, "token": literal(tokens[at.row])}
    if at.trace == 0:
        says = words["explain_token" if factor_of == 1 else "explain_scaled"]
        st.markdown(says.format(**place, value=number(token)))
        if factor_of != 1:
            st.latex(rf"{factor(token / factor_of)} \cdot {latex(factor_of)} = {latex(token)}")
        return
    if at.trace == 1:
        entry = cell(at.row, at.column, panels[1].shape[1])
        if math.isclose(entry.value, position, abs_tol=NEAR):
            explain_entry("sinusoidal", panels[1], at.row, at.column)
        else:
            st.markdown(words["explain_row"].format(**place, value=number(position)))
        return
    st.markdown(words["explain_sum"].format(**place))
    st.latex(formula_with_numbers(explanation_of(sum_of({"token": token, "position": position}), total)))


def explain_turn(cosines: Vectors, sines: Vectors, at: Cell) -> None:
    """Draw how the cosine or the sine of an angle was computed from the position, if position 1 tells the angle of one step."""
    words, name = text("positions"), ("cos", "sin")[at.trace]
    value = float((cosines, sines)[at.trace][at.row, at.column])
    step = math.atan2(sines[1, at.column], cosines[1, at.column]) if len(cosines) > 1 else 0.0
    if not math.isclose(getattr(math, name)(step * at.row), value, abs_tol=NEAR * max(1, at.row)):
        st.markdown(words["explain_recorded"].format(row=at.row, column=at.column, value=number(value)))
        return
    st.markdown(words["explain_turn"].format(row=at.row, column=at.column, step=number(step)))
    st.latex(rf"\{name}({at.row} \cdot {factor(step)}) = \{name}({latex(step * at.row)}) = {latex(value)}")


def explain_mean_bias(
    biases: Float[np.ndarray, "head query key"], queries: Sequence[str], keys: Sequence[str], at: Cell
) -> None:
    """Draw the mean over the heads of the bias of a query and a key."""
    names = {"query": literal(queries[at.row]), "key": literal(keys[at.column])}
    values = biases[:, at.row, at.column].astype(float).tolist()
    st.markdown(text("positions")["explain_bias"].format(count=len(values), **names))
    st.latex(_mean(values))


def explain_product(values: Vectors, products: Square, at: Cell) -> None:
    """Draw the dot product of two rows of a table of positions."""
    st.markdown(text("positions")["explain_product"].format(row=at.row, column=at.column, count=values.shape[1]))
    computation = product_of(values[at.row], values[at.column], "dimension")
    st.latex(formula_with_numbers(explanation_of(computation, float(products[at.row, at.column])), SHORT))


def explain_distance(products: Square, at: Cell, band: int) -> None:
    """Draw the mean of the dot products at a distance, or, of the line `band`, the least and the largest of them."""
    words, distance = text("positions"), at.column
    diagonal = products.diagonal(distance)
    if at.row != band:
        st.markdown(words["explain_distance"].format(count=len(diagonal), distance=distance))
        st.latex(_mean(diagonal.tolist()))
        return
    ends = {"least": int(diagonal.argmin()), "most": int(diagonal.argmax())}
    written = {name: number(float(diagonal[first])) for name, first in ends.items()}
    pairs = {f"{name}_at": first for name, first in ends.items()} | {
        f"{name}_to": first + distance for name, first in ends.items()
    }
    st.markdown(words["explain_band"].format(count=len(diagonal), distance=distance, **written, **pairs))


def explain_rotation(matrix: Square, shift: int, d_model: int, at: Cell) -> None:
    """Draw how a number of the matrix of a rotation was computed."""
    words, place = text("positions"), {"row": at.row, "column": at.column, "shift": shift}
    if at.row // 2 != at.column // 2:
        st.markdown(words["explain_zero"].format(**place))
        return
    turn = cell(shift, at.row, d_model)
    sign, name = ("", "cos") if at.row == at.column else ("", "sin") if at.row < at.column else ("-", "sin")
    st.markdown(words["explain_rotation"].format(**place, pair=turn.pair))
    st.latex(
        rf"{sign}\{name}\!\left(\frac{{{shift}}}{{10000^{{2 \cdot {turn.pair} / {d_model}}}}}\right) = "
        rf"{sign}\{name}({latex(turn.angle, DIGITS)}) = {latex(float(matrix[at.row, at.column]), DIGITS)}"
    )


def explain_change(effects: Mapping[str, Swap], tokens: Sequence[str], at: Cell) -> None:
    """Draw the change of a token's vector as a share of the vector's length; of a word, the mean over its pieces."""
    moves = [*effects.values()][at.row].moves[at.column]
    words, run = text("positions"), [*effects][at.row]
    says = words["explain_change" if len(moves) == 1 else "explain_change_pieces"]
    st.markdown(says.format(token=literal(tokens[at.column]), run=choice_label("run", run), count=len(moves)))
    shares = [moved / length if length else 0.0 for moved, length in moves]
    parts = [rf"\frac{{{latex(moved)}}}{{{latex(length)}}}" for moved, length in moves]
    whole = shortened(parts) if len(parts) == 1 else rf"\frac{{1}}{{{len(parts)}}} \left({shortened(parts)}\right)"
    st.latex(rf"{whole} = {latex(sum(shares) / len(shares))}")


def explain_output(before: Vectors, after: Vectors, tokens: Sequence[str], at: Cell) -> None:
    """Draw the difference of a number of the encoder's output before and after a swap."""
    values = [float(of[at.row, at.column]) for of in (after, before)]
    st.markdown(text("positions")["explain_output"].format(token=literal(tokens[at.row]), column=at.column))
    st.latex(rf"{latex(values[0])} - {factor(values[1])} = {latex(float(np.float32(values[0]) - np.float32(values[1])))}")


def _mean(values: Sequence[float]) -> str:
    """The mean of numbers as LaTeX."""
    total = shortened([factor(value) for value in values])
    return rf"\frac{{{total}}}{{{len(values)}}} = {latex(math.fsum(values) / len(values))}"
