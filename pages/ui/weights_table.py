"""Weights of heads as a table to save."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from pages.ui.format import linked_tokens
from transformer.figures.theme import COUNTED, Positions


def weights_table(
    weights: Float[np.ndarray, "layer head query key"],
    allowed: Bool[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    first_layer: int = 1,
    first_head: int = 1,
    positions: Positions = COUNTED,
) -> pd.DataFrame:
    """A table with one row for each unmasked weight. Layers and heads are counted from 1, positions of tokens from 0.
    `first_layer` and `first_head` are the numbers of the first layer and head in `weights`. `positions` has the queries' and
    the keys' places in their texts, each a list or None for 0, 1, 2, …."""
    query_names, key_names = map(linked_tokens, (queries, keys), positions)
    layers, heads, rows, columns = np.nonzero(allowed)
    columns_by_name = {
        "layer": layers + first_layer,
        "head": heads + first_head,
        "query": [query_names[row] for row in rows.tolist()],
        "key": [key_names[column] for column in columns.tolist()],
        "weight": weights[allowed],
    }
    return pd.DataFrame(columns_by_name).rename_axis("number")
