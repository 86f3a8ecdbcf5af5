"""Weights of heads as a table to save, and how many values a cell of a reduced map stands for."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Bool, Float

from pages.ui.format import linked_token
from pages.ui.text import text


def weights_table(
    weights: Float[np.ndarray, "layer head query key"],
    allowed: Bool[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    first_layer: int = 1,
    first_head: int = 1,
) -> pd.DataFrame:
    """One row for each unmasked weight. Layers and heads are counted from 1, positions of tokens from 0."""
    layers, heads, rows, columns = np.nonzero(allowed)
    columns_by_name = {
        "layer": layers + first_layer,
        "head": heads + first_head,
        "query": [linked_token(position, queries[position]) for position in rows.tolist()],
        "key": [linked_token(position, keys[position]) for position in columns.tolist()],
        "weight": weights[allowed],
    }
    return pd.DataFrame(columns_by_name).rename_axis("number")


def say_cells(shape: Sequence[int], most: int) -> None:
    """Write how many values each cell of a map stands for, if the map was reduced to at most `most` cells on a side."""
    if max(shape) > most:
        rows, columns = (-(-count // most) for count in shape)
        st.caption(text("attention")["cells"].format(rows=rows, columns=columns))
