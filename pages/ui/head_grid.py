"""Overview of all heads of one kind of attention: a small heatmap per layer and head on one canvas, to pick a head from."""

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
from pages.ui.format import fixed, linked_token
from pages.ui.text import text
from transformer.figures.attention import LEVELS, MASKED_LEVEL, quantized
from transformer.figures.theme import LINE, MASKED, WEIGHTS

Tile = tuple[int, int]
MOST_SAID = 5  # rows of a map that its description names

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
    """Draw a small heatmap per head, layers down and heads across; returns the tile picked in this run, or None.

    Hovering needs no rerun; a click, or Enter on the tile reached with the arrow keys, starts one. The page decides which
    head is selected: in `on_pick`, `picked(key)` returns the tile, and the values of widgets may still be set.
    The size of the picture does not depend on the number of tokens: where cells outnumber pixels, a pixel shows the largest
    weight among its cells, and hovering names that cell.

    Args:
        weights: 0 to 1. Sent as bytes, so the weight shown on hover is off by up to 0.002.
        allowed: False where a query may not attend; drawn hatched, whatever the weight.
        queries, keys: the tokens, shown as plain text.
        selected: (layer, head), counted from 0; drawn with a frame.
        color: of the frame.
        key: of the widget.
        on_pick: called before the rerun at every pick, including a pick of the selected tile.
        order: the tiles to draw, left to right and top to bottom, instead of the full grid; may leave some out.
        captions: one per tile of `order`, shown below it after its layer and head: "0.97" becomes "L2 H3 · 0.97".

    Raises:
        ValueError: the shapes, tokens, order or captions do not match.
    """
    shape = (*weights.shape[:2], len(queries), len(keys))
    if not weights.shape == allowed.shape == shape:
        raise ValueError(
            f"weights {weights.shape} and allowed {allowed.shape} must both be [layer, head, query, key] = {shape}"
        )
    tiles = [_tile(pair, shape) for pair in order or ()]
    if None in tiles:
        raise ValueError(f"order names a tile that is not among {shape[0]} layers × {shape[1]} heads: {order}")
    if captions is not None and len(captions) != len(tiles):
        raise ValueError(f"{len(captions)} captions for {len(tiles)} tiles of an order")
    tiles = [tile for tile in tiles if tile]
    words = text("head_grid")
    labels = [words["caption"].format(layer=layer + 1, head=head + 1) for layer, head in tiles]
    if captions is not None:
        labels = [words["captioned"].format(tile=tile, caption=caption) for tile, caption in zip(labels, captions, strict=True)]
    data = grid_data(shape, queries, keys, selected, color)
    if order is not None:
        data |= {"tiles": [list(tile) for tile in tiles], "captions": labels}
    levels = quantized(np.nan_to_num(weights, posinf=0, neginf=0), allowed)
    result = _mount(key=key, data=parcel(data, levels), on_pick_change=on_pick or no_callback)
    return _tile(result.get("pick"), shape)


def grid_data(shape: Sequence[int], queries: Sequence[str], keys: Sequence[str], selected: Tile, color: str) -> dict[str, Any]:
    """What `head_grid_view.js` needs beside the levels to draw a full grid. Arguments as for `overview`; `shape` is that of the
    weights."""
    return {
        "shape": [int(size) for size in shape],
        "queries": [str(token) for token in queries],
        "keys": [str(token) for token in keys],
        "selected": [int(index) for index in selected],
        "tiles": None,
        "captions": None,
        "colors": {"scale": _scale(), "masked": MASKED, "line": LINE, "frame": str(color)},
        "top": LEVELS,
        "masked_level": MASKED_LEVEL,
        "text": text("head_grid"),
    }


def row_words() -> dict[str, str]:
    """The words in which `strongest.js` says what a map shows."""
    words = text("head_grid")
    return {name: words[name] for name in ("row_says", "row_alike")}


def strongest_rows(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
) -> str:
    """What a map shows, for a person who does not see it: the rows with the largest weights, and on which token each lies."""
    words, seen = text("head_grid"), np.where(allowed, weights, -1.0)
    columns: list[int] = seen.argmax(-1).tolist()
    strongest: list[int] = np.argsort(-seen.max(-1), kind="stable")[:MOST_SAID].tolist()
    sentences = []
    for row in (row for row in strongest if allowed[row].any()):
        weight = fixed(float(weights[row, columns[row]]), 2)
        alike = sum(fixed(value, 2) == weight for value in weights[row, allowed[row]].tolist()) - 1
        says = words["row_says"].format(
            query=linked_token(row, queries[row]), weight=weight, key=linked_token(columns[row], keys[columns[row]])
        )
        sentences.append(says + (words["row_alike"].format(count=alike) if alike else ""))
    return words["rows_say"].format(rows="; ".join(sentences)) if sentences else words["rows_masked"]


def picked(key: str) -> Tile | None:
    """The (layer, head) just picked in the overview with this key, counted from 0; for use in its `on_pick`, otherwise None."""
    sent = st.session_state.get(key)
    return _tile(sent.get("pick")) if isinstance(sent, dict) else None


def _tile(pair: Any, shape: Sequence[int] | None = None) -> Tile | None:
    """The (layer, head) if the pair is valid, otherwise None. Values from the browser are untrusted."""
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        return None
    if any(isinstance(index, bool) or not isinstance(index, (int, np.integer)) or index < 0 for index in pair):
        return None
    if shape is not None and not (pair[0] < shape[0] and pair[1] < shape[1]):
        return None
    return int(pair[0]), int(pair[1])


@cache
def _scale() -> str:
    """Red, green and blue of each level, from the colour scale that all attention figures share."""
    shades = sample_colorscale(WEIGHTS, np.linspace(0, 1, LEVELS + 1), colortype="tuple")
    return packed(np.rint(np.array(shades) * 255).astype(np.uint8))
