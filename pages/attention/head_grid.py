"""Every layer × head of one kind of attention on one canvas: to be pointed at, and to pick a head from."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from jaxtyping import Bool, Float
from plotly.colors import sample_colorscale

from pages.ui.compat import no_callback
from pages.ui.component import mounted, packed, parcel
from pages.ui.text import text
from transformer.figures.attention import LEVELS, MASKED_LEVEL, quantized
from transformer.figures.theme import LINE, MASKED, WEIGHTS

Tile = tuple[int, int]

_mount = mounted(Path(__file__).with_suffix(""))


def overview(
    weights: Float[np.ndarray, "layer head query key"],
    allowed: Bool[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    selected: Tile,
    color: str,
    key: str,
    on_pick: Callable[[], None] | None = None,
    order: Sequence[Tile] | None = None,
    captions: Sequence[str] | None = None,
) -> Tile | None:
    """Draw a small heatmap for each head, layers down and heads across, and return the tile picked in this run, if any.

    Pointing happens in the browser alone. A click, or Enter on the tile the arrow keys led to, starts a rerun. Which head is
    selected is the page's to say: in `on_pick`, `picked(key)` tells what was picked, and widgets may still be written to.
    The picture keeps its size whatever the number of tokens: where there are more cells than pixels, a pixel shows the
    strongest of its cells, and pointing names that one.

    Args:
        weights: 0 to 1. Sent as bytes: what hovering shows is off by up to 0.002.
        allowed: False where a query may not look; drawn hatched, whatever the weight.
        queries, keys: the tokens, shown as they are.
        selected: (layer, head), counted from 0; framed.
        color: of the frame.
        key: of the widget.
        on_pick: called before the rerun, at every pick, also of the tile that is selected already.
        order: the tiles in an order of their own, left to right and top to bottom, instead of the grid; may leave some out.
        captions: what stands under each tile of `order` after its layer and head: "0.97" is shown as "L2 H3 · 0.97".

    Raises:
        ValueError: arrays, tokens, order or captions do not fit one another.
    """
    shape = (*weights.shape[:2], len(queries), len(keys))
    if not weights.shape == allowed.shape == shape:
        raise ValueError(
            f"weights {weights.shape} and allowed {allowed.shape} must both be [layer, head, query, key] = {shape}"
        )
    words = text("head_grid")
    tiles = [_tile(pair, shape) for pair in order or ()]
    if None in tiles:
        raise ValueError(f"order names a tile that is not among {shape[0]} layers × {shape[1]} heads: {order}")
    if captions is not None and len(captions) != len(tiles):
        raise ValueError(f"{len(captions)} captions for {len(tiles)} tiles of an order")
    tiles = [tile for tile in tiles if tile]
    labels = [words["caption"].format(layer=layer + 1, head=head + 1) for layer, head in tiles]
    if captions is not None:
        labels = [words["captioned"].format(tile=tile, caption=caption) for tile, caption in zip(labels, captions, strict=True)]
    data = {
        "shape": [int(size) for size in shape],
        "queries": [str(token) for token in queries],
        "keys": [str(token) for token in keys],
        "selected": [int(index) for index in selected],
        "tiles": None if order is None else [list(tile) for tile in tiles],
        "captions": None if order is None else labels,
        "colors": {"scale": _scale(), "masked": MASKED, "line": LINE, "frame": str(color)},
        "top": LEVELS,
        "masked_level": MASKED_LEVEL,
        "text": words,
    }
    levels = quantized(np.nan_to_num(weights, posinf=0, neginf=0), allowed)
    result = _mount(key=key, data=parcel(data, levels), on_pick_change=on_pick or no_callback)
    return _tile(result.get("pick"), shape)


def picked(key: str) -> Tile | None:
    """The (layer, head) just picked in the overview of that key, counted from 0; for its `on_pick`. Outside that: None."""
    sent = st.session_state.get(key)
    return _tile(sent.get("pick")) if isinstance(sent, dict) else None


def _tile(pair: Any, shape: Sequence[int] | None = None) -> Tile | None:
    """A layer and a head, if that is what it is: nothing that comes from a browser is to be trusted."""
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        return None
    if any(isinstance(index, bool) or not isinstance(index, (int, np.integer)) or index < 0 for index in pair):
        return None
    if shape is not None and not (pair[0] < shape[0] and pair[1] < shape[1]):
        return None
    return int(pair[0]), int(pair[1])


@cache
def _scale() -> str:
    """Red, green and blue of each level, from the one place that says what colour a weight has."""
    shades = sample_colorscale(WEIGHTS, np.linspace(0, 1, LEVELS + 1), colortype="tuple")
    return packed(np.rint(np.array(shades) * 255).astype(np.uint8))
