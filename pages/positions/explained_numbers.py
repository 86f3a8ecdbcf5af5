"""How a clicked number of the page Positions was computed: a sentence, and the formula with its numbers."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.explained_chart import Cell
from pages.shell.view.explained_number import difference_formula, factor, formula_with_numbers, mean_formula, shortened
from pages.ui.escaping import literal
from pages.ui.format import latex, number
from pages.ui.pickers import choice_label
from pages.ui.text import text
from transformer.analysis.cell import explanation_of, product_of, sum_of
from transformer.analysis.position_geometry import Swap, cell
from transformer.analysis.word_trace import Group

Vectors = Float[np.ndarray, "position d_model"]
Square = Float[np.ndarray, "row column"]
# Significant digits of a number from the table, and of a factor in a sum of products.
DIGITS, SHORT = 6, 3
# Two numbers that are this close are equal up to the rounding of single precision.
NEAR = 1e-5


def explain_entry(kind: str, values: Vectors, row: int, column: int) -> None:
    """Draw how a number of a table of positions was computed; for a learned table, write only that it was learned. `kind` is
    `sinusoidal` or `learned`; `row` and `column` are counted from 0."""
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


def explain_sum(
    parts: Mapping[str, Vectors], tokens: Sequence[str], pieces: Sequence[Group], scale: float, trained: bool, at: Cell
) -> None:
    """Draw how the clicked number of token + position = input was computed. For a word, this is the mean over its pieces.

    Args:
        parts: the rows of the pieces: `token`, after scaling; `position`; for some models `type`; and their sum, `input`.
        tokens: the tokens or words of the chart.
        pieces: the positions of the pieces of each word; for a token, its own position.
        scale: what the row of the token's table is multiplied by.
        trained: whether training made the table of tokens.
        at: the clicked cell; its `trace` (of the Plotly chart) is the index of the part.
    """
    words, name, places = text("positions"), [*parts][at.trace], pieces[at.row]
    row, last, count = places[0], places[-1], len(places)
    place = {"row": row, "last": last, "count": count, "column": at.column, "token": literal(tokens[at.row])}
    means = {part: math.fsum(rows[list(places), at.column].tolist()) / count for part, rows in parts.items()}
    value = means[name]
    if name == "input":
        says = words["explain_sum" if count == 1 else "explain_sum_pieces"].format(**place)
        st.markdown(f"{says} {words['explain_type_added'] if 'type' in parts else ''}".rstrip())
        added = {part: mean for part, mean in means.items() if part != "input"}
        st.latex(formula_with_numbers(explanation_of(sum_of(added), value)))
    elif count > 1:
        _show_mean_of_pieces(parts[name], tokens[at.row], places, at.column)
    elif name == "token":
        says = words["explain_scaled" if scale != 1 else "explain_token" if trained else "explain_token_untrained"]
        st.markdown(says.format(**place, value=number(value)))
        if scale != 1:
            st.latex(rf"{factor(value / scale)} \cdot {latex(scale)} = {latex(value)}")
    elif name == "position" and math.isclose(cell(row, at.column, parts[name].shape[1]).value, value, abs_tol=NEAR):
        explain_entry("sinusoidal", parts[name], row, at.column)
    else:
        st.markdown(words["explain_type" if name == "type" else "explain_row"].format(**place, value=number(value)))


def explain_turn(cosines: Vectors, sines: Vectors, tokens: Sequence[str], pieces: Sequence[Group], at: Cell) -> None:
    """Draw how the cosine or the sine of a rotary angle was computed. The angle is the position times the angle at position 1.
    If this does not give the number, write only the number. For a word, draw the mean over its pieces. `pieces` has the
    positions of each word's pieces; `at` is the clicked cell, with the trace 0 for a cosine, 1 for a sine."""
    words, name, places = text("positions"), ("cos", "sin")[at.trace], pieces[at.row]
    values, row = (cosines, sines)[at.trace], places[0]
    if len(places) > 1:
        _show_mean_of_pieces(values, tokens[at.row], places, at.column)
        return
    value = float(values[row, at.column])
    step = math.atan2(sines[1, at.column], cosines[1, at.column]) if len(cosines) > 1 else 0.0
    if not math.isclose(getattr(math, name)(step * row), value, abs_tol=NEAR * max(1, row)):
        st.markdown(words["explain_recorded"].format(row=row, column=at.column, value=number(value)))
        return
    st.markdown(words["explain_turn"].format(row=row, column=at.column, step=number(step)))
    st.latex(rf"\{name}({row} \cdot {factor(step)}) = \{name}({latex(step * row)}) = {latex(value)}")


def _show_mean_of_pieces(rows: Vectors, token: str, places: Group, column: int) -> None:
    """Draw how the mean over the pieces of a word was computed. `rows` has one vector for each token of the text; `places` are
    the positions of the word's pieces."""
    place = {"token": literal(token), "column": column, "count": len(places), "row": places[0], "last": places[-1]}
    st.markdown(text("positions")["explain_pieces"].format(**place))
    st.latex(mean_formula(rows[list(places), column].tolist()))


def explain_mean_bias(
    biases: Float[np.ndarray, "head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    pieces: Sequence[Group],
    at: Cell,
) -> None:
    """Draw how the bias of a query and a key was computed as the mean over the heads. `pieces`: the positions of each word."""
    names = {"query": literal(queries[at.row]), "key": literal(keys[at.column])}
    values = biases[:, at.row, at.column].astype(float).tolist()
    words, pairs = text("positions"), len(pieces[at.row]) * len(pieces[at.column])
    more = words["explain_bias_pieces"].format(pairs=pairs) if pairs > 1 else ""
    st.markdown(f"{words['explain_bias'].format(count=len(values), **names)} {more}".rstrip())
    st.latex(mean_formula(values))


def explain_product(values: Vectors, products: Square, at: Cell) -> None:
    """Draw how the dot product of two rows of a table of positions was computed. `products` has those of all pairs of rows."""
    st.markdown(text("positions")["explain_product"].format(row=at.row, column=at.column, count=values.shape[1]))
    computation = product_of(values[at.row], values[at.column], "dimension")
    st.latex(formula_with_numbers(explanation_of(computation, float(products[at.row, at.column])), SHORT))


def explain_distance(products: Square, at: Cell, band: int) -> None:
    """Draw how the mean of the dot products of all pairs of positions at a distance was computed. If the clicked line is that
    with the index `band`, write the least and the largest of these products instead."""
    words, distance = text("positions"), at.column
    diagonal = products.diagonal(distance)
    if at.row != band:
        st.markdown(words["explain_distance"].format(count=len(diagonal), distance=distance))
        st.latex(mean_formula(diagonal.tolist()))
        return
    ends = {"least": int(diagonal.argmin()), "most": int(diagonal.argmax())}
    written = {name: number(float(diagonal[first])) for name, first in ends.items()}
    pairs = {f"{name}_at": first for name, first in ends.items()} | {
        f"{name}_to": first + distance for name, first in ends.items()
    }
    st.markdown(words["explain_band"].format(count=len(diagonal), distance=distance, **written, **pairs))


def explain_rotation(matrix: Square, shift: int, d_model: int, at: Cell) -> None:
    """Draw how a number was computed in the rotation matrix for a shift by `shift` positions."""
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
    """Draw how the change of a token's vector, as a share of the vector's length, was computed; for a word, the mean over its
    pieces. `effects`: name of a run → the effect of the swap in this run."""
    moves = [*effects.values()][at.row].moves[at.column]
    words, run = text("positions"), [*effects][at.row]
    says = words["explain_change" if len(moves) == 1 else "explain_change_pieces"]
    st.markdown(says.format(token=literal(tokens[at.column]), run=choice_label("run", run), count=len(moves)))
    shares = [moved / length if length else 0.0 for moved, length in moves]
    parts = [rf"\frac{{{latex(moved)}}}{{{latex(length)}}}" for moved, length in moves]
    whole = shortened(parts) if len(parts) == 1 else rf"\frac{{1}}{{{len(parts)}}} \left({shortened(parts)}\right)"
    st.latex(rf"{whole} = {latex(sum(shares) / len(shares))}")


def explain_output(before: Vectors, after: Vectors, tokens: Sequence[str], at: Cell) -> None:
    """Draw the difference of one number of the encoder's output: after a swap minus before it."""
    st.markdown(text("positions")["explain_output"].format(token=literal(tokens[at.row]), column=at.column))
    st.latex(difference_formula(*(float(of[at.row, at.column]) for of in (after, before))))
