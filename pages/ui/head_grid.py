"""Overview of all heads of one kind of attention: a small heatmap per layer and head. A click picks a head.

The grid is a canvas and not a Plotly chart. With 12 × 12 heads of 64 × 64 weights, a click that draws the grid anew takes 0.27
s on the page Attention, and 0.37 s with one Plotly heatmap with gaps (`benchmarks.repaint`). The canvas is also drawn without
a server, in the film of *Watch it learn* and in a saved view; and where a map has more cells than pixels, a pixel shows the
strongest of its cells.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from pages.ui.compat import no_callback
from pages.ui.component import is_index, mounted, packed, parcel, sent
from pages.ui.format import fixed, linked_tokens
from pages.ui.text import text
from transformer.figures.attention_figures import quantized
from transformer.figures.panels import shades
from transformer.figures.theme import COUNTED, LINE, MASKED, Positions

Tile = tuple[int, int]
MOST_SAID = 5  # most rows that the description of a map names

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
) -> None:
    """Draw a small heatmap (a tile) for each head, layers down and heads across.

    Hovering needs no rerun of the page; a click, or Enter on the tile reached with the arrow keys, starts a rerun. The page
    decides which head is selected: in `on_pick`, `picked(key)` returns the tile, and the values of widgets may still be set.
    The size of the picture does not depend on the number of tokens. If a tile has more cells than pixels, a pixel shows the
    largest weight among its cells, and hovering names the cell of that weight.

    Args:
        weights: 0 to 1. Sent as bytes, so the weight shown on hover is off by up to 0.002.
        allowed: False if a query may not attend to a key; such a cell is drawn hatched, whatever its weight.
        queries, keys: the tokens, shown as plain text.
        selected: (layer, head) of the tile that has a frame, counted from 0.
        color: colour of the frame.
        on_pick: called before the rerun at every pick, including a pick of the selected tile.
        order: the (layer, head) of the tiles to draw instead of the full grid, left to right and top to bottom.
        captions: one per tile of `order`, shown below the tile after its layer and head: "0.97" becomes "L2 H3 · 0.97".
    """
    data = grid_data(weights.shape, queries, keys, selected, color)
    if order is not None:
        words = text("head_grid")
        labels = [words["caption"].format(layer=layer + 1, head=head + 1) for layer, head in order]
        if captions is not None:
            pairs = zip(labels, captions, strict=True)
            labels = [words["captioned"].format(tile=tile, caption=caption) for tile, caption in pairs]
        data |= {"tiles": [list(tile) for tile in order], "captions": labels}
    levels = quantized(np.nan_to_num(weights, posinf=0, neginf=0), allowed)
    _mount(key=key, data=parcel(data, levels), on_pick_change=on_pick or no_callback)


def grid_data(shape: Sequence[int], queries: Sequence[str], keys: Sequence[str], selected: Tile, color: str) -> dict[str, Any]:
    """The data, besides the weights, with which `head_grid_view.js` draws a full grid. `shape` is [layer, head, query, key];
    `selected` is the framed (layer, head), from 0; `color` is the frame's colour."""
    return {
        "shape": [int(size) for size in shape],
        "queries": [str(token) for token in queries],
        "keys": [str(token) for token in keys],
        "selected": [int(index) for index in selected],
        "tiles": None,
        "captions": None,
        "colors": {"scale": weight_colors(), "masked": MASKED, "line": LINE, "frame": str(color)},
        "text": text("head_grid"),
    }


def row_words() -> dict[str, str]:
    """Name → template, for the sentences in which `strongest.js` describes a heatmap of weights."""
    words = text("head_grid")
    return {name: words[name] for name in ("row_says", "row_alike")}


def strongest_rows(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    positions: Positions = COUNTED,
) -> str:
    """A description of a heatmap for a person who does not see it: the queries with the largest weights, and for each of them
    the key of its largest weight. `positions` has the queries' and the keys' places in their texts, each a list or None for 0,
    1, 2, …."""
    words, seen = text("head_grid"), np.where(allowed, weights, -1.0)
    columns: list[int] = seen.argmax(-1).tolist()
    strongest: list[int] = np.argsort(-seen.max(-1), kind="stable")[:MOST_SAID].tolist()
    (rows, names), sentences = map(linked_tokens, (queries, keys), positions), []
    for row in (row for row in strongest if allowed[row].any()):
        weight = fixed(float(weights[row, columns[row]]), 2)
        alike = sum(fixed(value, 2) == weight for value in weights[row, allowed[row]].tolist()) - 1
        says = words["row_says"].format(query=rows[row], weight=weight, key=names[columns[row]])
        sentences.append(says + (words["row_alike"].format(count=alike) if alike else ""))
    return words["rows_say"].format(rows="; ".join(sentences)) if sentences else words["rows_masked"]


def picked(key: str) -> Tile | None:
    """The (layer, head) just picked in the `overview` with this key, counted from 0; None if nothing was just picked. For use
    in the `on_pick` of `overview`."""
    return _tile(sent(key, "pick"))


def _tile(pair: Any) -> Tile | None:
    """The (layer, head) if the pair is valid, otherwise None. Values from the browser are untrusted."""
    valid = isinstance(pair, (list, tuple)) and len(pair) == 2 and all(map(is_index, pair))
    return (pair[0], pair[1]) if valid else None


@cache
def weight_colors() -> str:
    """Red, green and blue, 0 to 255, for each level of a quantized weight (`quantized`), as base64 (`packed`)."""
    return packed(shades("weights"))
