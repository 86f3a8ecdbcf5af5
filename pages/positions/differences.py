"""Differences that are 0 apart from rounding. They are drawn so that a rounding error does not look like a result."""

import streamlit as st

from pages.ui.format import number
from pages.ui.text import text

# A difference below this share of the largest number is rounding: single precision keeps about seven digits, and sums of many
# numbers lose one or two of them.
ROUNDING = 1e-5


def is_rounding(value: float, size: float) -> bool:
    """Whether a difference, 0 or above, can be rounding alone. `size`: the largest of the compared numbers."""
    return value <= ROUNDING * size


def show_difference(label: str, value: float, size: float, digits: int, help: str) -> None:
    """Draw a difference as a metric. If it is only rounding, draw `≈ 0` with the value below.

    Args:
        value: the difference, 0 or above.
        size: the largest of the compared numbers.
        digits: the number of significant digits.
    """
    if not value or not is_rounding(value, size):
        st.metric(label, number(value, digits), help=help)
        return
    words = text("positions")
    rounding = words["rounding"].format(value=number(value, digits))
    st.metric(label, words["about_zero"], rounding, help=help, delta_color="off", delta_arrow="off")
