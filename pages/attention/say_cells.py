"""How many values a cell of a reduced map stands for."""

from collections.abc import Sequence

import streamlit as st

from pages.ui.text import text


def say_cells(shape: Sequence[int], most: int) -> None:
    """Write how many values each cell of a map stands for, if the map was reduced to at most `most` cells on a side."""
    if max(shape) > most:
        rows, columns = (-(-count // most) for count in shape)
        st.caption(text("attention")["cells"].format(rows=rows, columns=columns))
