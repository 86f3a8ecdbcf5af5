"""Attention as pictures: every head at once, and one head to be read."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float, UInt8
from plotly.colors import get_colorscale

from transformer.figures.theme import LINE, MASK_SIGN, MASKED, WEIGHTS, finished, numbered, token_axis

# A weight is sent as one byte: 0 to 254 for 0 to 1, and 255 for "masked".
LEVELS = 254
MASKED_LEVEL = 255
MOST_WRITTEN = 18  # tokens on the longer side up to which each cell carries its number
MOST_LABELLED = 32  # tokens of an axis up to which each is written; of more, every second or third
# px: the side of a cell with a number in it, of one with a label beside it, of others; and what stands beside the cells.
WRITTEN_CELL, LABELLED_CELL, SMALL_CELL, BESIDE = 27, 15, 9, 210
MOST_HATCHED = 32  # tokens on the longer side up to which masked cells are hatched, not only grey


def quantized(weights: Float[np.ndarray, "*any"], allowed: Bool[np.ndarray, "*any"]) -> UInt8[np.ndarray, "*any"]:
    """Weights as bytes: an eighth of the size of float64, and off by at most 0.002."""
    levels = np.rint(np.clip(weights, 0, 1) * LEVELS).astype(np.uint8)
    return np.where(allowed, levels, np.uint8(MASKED_LEVEL))


def tiled(tiles: UInt8[np.ndarray, "layer head query key"]) -> UInt8[np.ndarray, "rows columns"]:
    """All heads side by side: layers down, heads across."""
    layers, heads, queries, keys = tiles.shape
    return tiles.transpose(0, 2, 1, 3).reshape(layers * queries, heads * keys)


def mosaic(
    weights: Float[np.ndarray, "layer head query key"],
    allowed: Bool[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    selected: tuple[int, int],
    color: str,
) -> go.Figure:
    """Every layer × head in one heatmap; the selected one is framed.

    Args:
        weights: 0 to 1.
        allowed: False where a query may not look; drawn grey, whatever the weight.
        queries, keys: the tokens, for hovering.
        selected: (layer, head), counted from 0.
        color: of the frame.
    """
    layers, heads, rows, columns = weights.shape
    scale = get_colorscale(WEIGHTS)
    top = LEVELS / MASKED_LEVEL
    figure = go.Figure(
        go.Heatmap(
            z=tiled(quantized(weights, allowed)),
            x=[f"head {head + 1}, {key}" for head in range(heads) for key in numbered(keys)],
            y=[f"layer {layer + 1}, {query}" for layer in range(layers) for query in numbered(queries)],
            zmin=0,
            zmax=MASKED_LEVEL,
            # The last byte is not a weight but a sign, so the scale ends in a step.
            colorscale=[*([at * top, shade] for at, shade in scale), [top, MASKED], [1, MASKED]],
            colorbar={
                "title": {"text": "weight"},
                "tickvals": [0, LEVELS / 4, LEVELS / 2, 3 * LEVELS / 4, LEVELS],
                "ticktext": ["0", "0.25", "0.5", "0.75", "1"],
                "thickness": 12,
            },
            hovertemplate=f"%{{y}} (query)<br>%{{x}} (key)<br>weight %{{z}}/{LEVELS} ({MASKED_LEVEL}: masked)<extra></extra>",
        )
    )
    figure.update_xaxes(_tile_axis("head", heads, columns), side="top")
    figure.update_yaxes(_tile_axis("layer", layers, rows), autorange=False, range=[layers * rows - 0.5, -0.5])
    for line in (head * columns - 0.5 for head in range(heads + 1)):
        figure.add_shape(type="line", x0=line, x1=line, y0=-0.5, y1=layers * rows - 0.5, line={"color": LINE, "width": 2})
    for line in (layer * rows - 0.5 for layer in range(layers + 1)):
        figure.add_shape(type="line", y0=line, y1=line, x0=-0.5, x1=heads * columns - 0.5, line={"color": LINE, "width": 2})
    layer, head = selected
    figure.add_shape(
        type="rect",
        x0=head * columns - 0.5,
        x1=(head + 1) * columns - 0.5,
        y0=layer * rows - 0.5,
        y1=(layer + 1) * rows - 0.5,
        line={"color": color, "width": 5},
    )
    return finished(figure, height=70 + layers * int(np.clip(880 / heads, 90, 200)))


def head_map(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    wide: bool = False,
) -> go.Figure:
    """One head, to be read: tokens on both axes, the exact weight on hover, and in the cell where there is room.

    Args:
        weights: 0 to 1; each row sums to 1, or to 0 where nothing may be looked at.
        allowed: False where a query may not look; drawn grey and hatched.
        queries, keys: the tokens.
        wide: cells may be wider than high, for a map of few rows.
    """
    longer = max(weights.shape)
    figure = go.Figure()
    if not allowed.all():
        figure.add_trace(
            go.Heatmap(
                z=np.where(allowed, np.nan, 1).astype(np.float32),
                x=numbered(keys),
                y=numbered(queries),
                colorscale=[[0, MASKED], [1, MASKED]],
                showscale=False,
                texttemplate=MASK_SIGN if longer <= MOST_HATCHED else None,
                textfont={"color": LINE},
                hovertemplate="query %{y}<br>key %{x}<br>masked: may not be looked at<extra></extra>",
            )
        )
    figure.add_trace(
        go.Heatmap(
            z=np.where(allowed, weights, np.nan).astype(np.float32),
            x=numbered(keys),
            y=numbered(queries),
            zmin=0,
            zmax=1,
            colorscale=WEIGHTS,
            colorbar={"title": {"text": "weight"}, "thickness": 12},
            texttemplate="%{z:.2f}" if longer <= MOST_WRITTEN else None,
            hovertemplate="query %{y}<br>key %{x}<br>weight %{z:.6f}<extra></extra>",
            hoverongaps=False,
            xgap=int(longer <= MOST_HATCHED),
            ygap=int(longer <= MOST_HATCHED),
        )
    )
    return token_map(figure, queries, keys, wide)


def token_map(figure: go.Figure, queries: Sequence[str], keys: Sequence[str], wide: bool = False) -> go.Figure:
    """Tokens on both axes of a map of queries × keys, and cells that are square unless they may be `wide`."""
    longer = max(len(queries), len(keys))
    across = token_axis("key: what is looked at", keys, MOST_LABELLED, side="top", tickangle=-45 if longer > 8 else 0)
    figure.update_xaxes(across)
    figure.update_yaxes(token_axis("query: who is looking", queries, MOST_LABELLED))
    figure.update_yaxes(autorange="reversed")
    if wide:
        figure.update_yaxes(title=None)  # there is no room beside few rows, and they name themselves
    else:
        figure.update_yaxes(scaleanchor="x", constrain="domain")
        figure.update_xaxes(constrain="domain")
    finished(figure, height=150 + len(queries) * int(np.clip(460 / longer, 11, 46)))
    return figure.update_layout(margin={"t": 110}, meta=least_width(len(keys), longer))


def least_width(columns: int, longer: int) -> dict[str, int]:
    """What `meta` says of the px a map needs: numbers must fit into its cells, and labels beside one another."""
    cell = WRITTEN_CELL if longer <= MOST_WRITTEN else LABELLED_CELL if longer <= MOST_LABELLED else SMALL_CELL
    return {"least_width": BESIDE + columns * cell}


def _tile_axis(name: str, count: int, size: int) -> dict[str, object]:
    return {
        "type": "category",
        "tickmode": "array",
        "tickvals": [index * size + (size - 1) / 2 for index in range(count)],
        "ticktext": [f"{name} {index + 1}" for index in range(count)],
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }
