"""How the numbers in the charts of Tokens are computed: from rows of the embedding table."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.shell.view.explained_number import aligned, cosine_formula, factor, shortened
from pages.ui.escaping import literal
from pages.ui.format import latex
from pages.ui.text import text

DIGITS = 3  # significant digits of the terms of a long sum


def explain_number(table: Float[np.ndarray, "vocab d_model"], token: str, ids: Sequence[int], column: int) -> None:
    """Show where a number comes from: for a token, from its row of the embedding table; for a word, from the mean of the rows
    of its pieces.

    Args:
        ids: the id of the token, or the ids of the word's pieces. An id is negative for padding if the model has no such token.
        column: the dimension of the number, counted from 0.
    """
    words = text("tokens")
    if min(ids) < 0:  # padding, for which this model has no token
        st.markdown(words["padding_none"])
        return
    values = table[list(ids), column].tolist()
    says = words["explained"]["row" if len(ids) == 1 else "pieces"]
    st.markdown(says.format(token=literal(token), ids=", ".join(map(str, ids)), count=len(ids), column=column))
    names = shortened([rf"E_{{{index},\,{column}}}" for index in ids])
    if len(ids) == 1:
        st.latex(f"{names} = {latex(values[0])}")
        return
    mean, numbers = latex(float(np.mean(values))), shortened([factor(value, DIGITS) for value in values])
    fractions = [rf"\frac{{{terms}}}{{{len(ids)}}}" for terms in (names, numbers)]
    # The result has a line of its own, because on a phone a long sum scrolls sideways.
    st.latex(aligned([f"& {fractions[0]}", f"&= {fractions[1]}", f"&= {mean}"]))


def explain_scaled(before: float, after: float, d_model: int) -> None:
    """Show that `after` is `before` multiplied by √d_model."""
    st.markdown(text("tokens")["explained"]["scaled"])
    root = rf"\sqrt{{{d_model}}}"
    st.latex(rf"{factor(before)} \cdot {root} = {factor(before)} \cdot {latex(d_model**0.5)} = {latex(after)}")


def explain_cosine(
    tokens: tuple[str, str], rows: tuple[Float[np.ndarray, " d_model"], Float[np.ndarray, " d_model"]], cosine: float
) -> None:
    """Show the cosine of the angle between the rows of two tokens: their dot product, divided by the product of their lengths.
    `cosine` is NaN if a row is zero."""
    words, (first, second) = text("tokens")["explained"], map(literal, tokens)
    a, b = (row.astype(np.float64) for row in rows)
    if np.isnan(cosine):
        st.markdown(words["no_cosine"].format(token=second if a.any() else first))
        return
    st.markdown(words["cosine"].format(first=first, second=second))
    st.latex(cosine_formula(a, b, cosine))
