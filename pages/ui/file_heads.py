"""Attention weights read from a file: pickers of a head, a grid of all heads to pick one from, and the map of one head."""

from collections.abc import Sequence

import streamlit as st
from jaxtyping import Bool, Float
from numpy import ndarray

from pages.ui.charts import Chart, passing_chart, show
from pages.ui.head_grid import overview, picked, strongest_rows
from pages.ui.pickers import pick
from pages.ui.text import text
from transformer.figures import KIND_COLORS
from transformer.figures.attention_figures import head_map, small_head_map

NUMBERS = 9  # up to this many tokens, the cells of a map in half of the page have numbers


def pick_head(
    name: str,
    weights: Float[ndarray, "layer head query key"],
    allowed: Bool[ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
) -> tuple[int, int]:
    """Draw pickers of layer and head, and a grid of small maps of all heads. Returns the picked (layer, head), counted from 0.
    The pickers have the keys `{name}_layer` and `{name}_head`, the grid has `{name}_heads`."""
    words, (layers, heads) = text("attention"), weights.shape[:2]
    with st.container(horizontal=True):
        layer = pick(words["layer"], range(1, layers + 1), f"{name}_layer") - 1 if layers > 1 else 0
        head = pick(words["head"], range(1, heads + 1), f"{name}_head") - 1

    def act() -> None:
        if tile := picked(f"{name}_heads"):
            st.session_state[f"{name}_layer"], st.session_state[f"{name}_head"] = tile[0] + 1, tile[1] + 1

    overview(weights, allowed, queries, keys, (layer, head), KIND_COLORS["encoder"], f"{name}_heads", act)
    return layer, head


def head_chart(
    weights: Float[ndarray, "query key"], allowed: Bool[ndarray, "query key"], queries: Sequence[str], keys: Sequence[str]
) -> tuple[Chart, str]:
    """A heatmap of one head for half of the page, with numbers if there are few tokens; and its largest weights in words."""
    draw = head_map if max(weights.shape) <= NUMBERS else small_head_map
    figure = passing_chart(draw, weights, allowed, queries, keys)
    return figure, strongest_rows(weights, allowed, queries, keys)


def show_head(
    name: str,
    weights: Float[ndarray, "query key"],
    allowed: Bool[ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    alt: str,
) -> None:
    """Draw a heatmap of one head in half of the page. `name` is the chart's key, `alt` its name for screen readers."""
    figure, says = head_chart(weights, allowed, queries, keys)
    show(figure, name, f"{alt} {says}", tells=True)
