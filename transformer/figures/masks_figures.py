"""Figures of masks: which query may attend to which key."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool

from transformer.figures.attention_figures import MOST_HATCHED, hover
from transformer.figures.labels import LABELS
from transformer.figures.theme import LINE, MASK_SIGN, MASKED, built, numbered, token_axis

MOST_TICKS = 20  # most tokens written on an axis of a picture that is a third of the page wide
MOST_SLANTED = 8  # most tokens for which slanted labels do not overlap
PICTURE_HEIGHT = 410


def mask_picture(
    keep: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    color: str,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """A mask as a heatmap. A cell is coloured if its query may attend to its key; otherwise it is grey and, in a small map,
    hatched.

    Args:
        keep: True where a query may attend to a key.
        queries, keys: the token of each row and of each column.
        color: colour of cells that may be attended to.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    # The layout is built at once, because updating a figure piece by piece takes several times as long.
    layout = {
        "xaxis": token_axis(labels["key_axis"], keys, MOST_TICKS, side="top", tickangle=slant(keys)),
        "yaxis": token_axis(labels["query_axis"], queries, MOST_TICKS, autorange="reversed"),
    }
    states = labels["may_look"], labels["may_not_look"]
    traces = two_states(keep, queries, keys, color, states, labels)
    return built(traces, layout, height=PICTURE_HEIGHT, margin={"t": 104})


def slant(tokens: Sequence[str]) -> int:
    """The angle in degrees at which the labels of these tokens above a narrow picture do not overlap: 0, −45 or −90."""
    if max(map(len, tokens), default=0) <= 2:
        return 0
    return -90 if len(tokens) > MOST_SLANTED else -45


def two_states(
    keep: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    color: str,
    states: tuple[str, str],
    labels: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Two heatmap traces of a mask: the hidden cells (`keep` is False) in grey, then the other cells in `color`. `states` are
    the hover texts of a cell that is not hidden and of a hidden cell."""
    shared = cells(queries, keys)
    hatched = max(keep.shape) <= MOST_HATCHED
    hatch = {"texttemplate": MASK_SIGN if hatched else None, "textfont": {"color": LINE}}
    return [
        shared | flat(~keep, MASKED) | hatch | {"hovertemplate": hover(labels, states[1])},
        shared | flat(keep, color) | {"hovertemplate": hover(labels, states[0])},
    ]


def cells(queries: Sequence[str], keys: Sequence[str]) -> dict[str, Any]:
    """The properties that all heatmaps of a mask share: names of rows and columns, gaps, no hover on empty cells."""
    gap = int(max(len(queries), len(keys)) <= MOST_HATCHED)
    names = {"x": numbered(keys), "y": numbered(queries)}
    return {"type": "heatmap", "showscale": False, "hoverongaps": False, "xgap": gap, "ygap": gap} | names


def flat(where: Bool[np.ndarray, "row column"], color: str) -> dict[str, Any]:
    """Properties of a heatmap trace with one colour in the cells where `where` is True, and nothing in the other cells."""
    return {"z": np.where(where, 1, np.nan).astype(np.float32), "colorscale": [[0, color], [1, color]]}
