"""Masks as pictures: who may look at whom."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool

from transformer.figures.attention import MOST_HATCHED
from transformer.figures.theme import LINE, MASK_SIGN, MASKED, finished, numbered, token_axis

MOST_TICKS = 20  # tokens written on an axis of a picture a third of a page wide
MOST_SLANTED = 8  # tokens up to which slanted labels stay apart
PICTURE_HEIGHT = 410
# What hovering says of a cell that may be looked at, and of one that may not.
SAID = ("may look", "hidden")


def mask_picture(keep: Bool[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], color: str) -> go.Figure:
    """Who may look at whom: coloured where a query may look at a key, grey and hatched where it may not.

    Args:
        keep: True = may look.
        queries, keys: the tokens.
        color: of what may be looked at.
    """
    # All at once: a figure that is updated piece by piece takes several times as long to build.
    layout = {
        "xaxis": token_axis("key: what is looked at", keys, MOST_TICKS, side="top", tickangle=slant(keys)),
        "yaxis": token_axis("query: who is looking", queries, MOST_TICKS, autorange="reversed"),
    }
    figure = finished(go.Figure(two_states(keep, queries, keys, color, SAID), layout), height=PICTURE_HEIGHT)
    return figure.update_layout(margin={"t": 104})


def slant(tokens: Sequence[str]) -> int:
    """Degrees by which labels above a narrow picture are turned so that they do not run into one another."""
    if max(map(len, tokens), default=0) <= 2:
        return 0
    return -90 if len(tokens) > MOST_SLANTED else -45


def two_states(
    keep: Bool[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], color: str, said: tuple[str, str]
) -> list[dict[str, Any]]:
    """What is hidden, then what may be looked at; `said` tells the second and the first on hover."""
    shared = cells(queries, keys)
    hatched = max(keep.shape) <= MOST_HATCHED
    hover = "query %{{y}}<br>key %{{x}}<br>{}<extra></extra>"
    hatch = {"texttemplate": MASK_SIGN if hatched else None, "textfont": {"color": LINE}}
    return [
        shared | flat(~keep, MASKED) | hatch | {"hovertemplate": hover.format(said[1])},
        shared | flat(keep, color) | {"hovertemplate": hover.format(said[0])},
    ]


def cells(queries: Sequence[str], keys: Sequence[str]) -> dict[str, Any]:
    gap = int(max(len(queries), len(keys)) <= MOST_HATCHED)
    names = {"x": numbered(keys), "y": numbered(queries)}
    return {"type": "heatmap", "showscale": False, "hoverongaps": False, "xgap": gap, "ygap": gap} | names


def flat(where: Bool[np.ndarray, "row column"], color: str) -> dict[str, Any]:
    """One colour where it is True, nothing elsewhere."""
    return {"z": np.where(where, 1, np.nan).astype(np.float32), "colorscale": [[0, color], [1, color]]}
