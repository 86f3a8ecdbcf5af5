"""The heatmap of one head, and weights as bytes for the overview of every head."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float, UInt8
from plotly.colors import sample_colorscale

from transformer.figures.labels import LABELS
from transformer.figures.theme import LINE, MASK_SIGN, MASKED, WEIGHTS, finished, numbered, token_axis

# A weight is sent as one byte: 0 to 254 for 0 to 1, and 255 for "masked".
LEVELS = 254
MASKED_LEVEL = 255
MOST_WRITTEN = 18  # most tokens on the longer side for which each cell has its number
MOST_LABELLED = 32  # most tokens on an axis for which each is written; of more, every second or third
# px: the side of a cell with a number in it, of one with a label beside it, of others; the space beside the cells, and how much
# of it is the title of the rows.
WRITTEN_CELL, LABELLED_CELL, SMALL_CELL, BESIDE, TITLE = 27, 15, 9, 210, 28
LONG_CELL = 28  # px: the width of a cell with a number of five characters in it
# Of the small map: most tokens labelled on an axis; px of the cells at most and of the labels above them; its margins.
SMALL_LABELLED, SMALL_HEIGHT, SMALL_ABOVE = 18, 260, 80
SMALL_MARGIN = {"t": 75, "b": 5, "l": 70, "r": 5}
# Weight of red, green and blue in relative luminance, and the luminance with equal contrast to black and to white (WCAG 2).
LUMINANCE, EVEN = np.array([0.2126, 0.7152, 0.0722]), 0.179
SHORT, NUMBER_SIZE = 4, 11  # characters of a number that fits into every cell, and px of numbers in cells
BLACK = '<span style="color:black">{}</span>'
INSET = 0.45  # of a cell, from its middle to the frame of a mark
WEIGHTS_SCALE = {"zmin": 0, "zmax": 1, "colorscale": WEIGHTS}
MOST_HATCHED = 32  # most tokens on the longer side for which masked cells are hatched, not only grey


def quantized(weights: Float[np.ndarray, "*any"], allowed: Bool[np.ndarray, "*any"]) -> UInt8[np.ndarray, "*any"]:
    """Weights as bytes: an eighth of the size of float64, with an error of at most 0.002."""
    levels = np.rint(np.clip(weights, 0, 1) * LEVELS).astype(np.uint8)
    return np.where(allowed, levels, np.uint8(MASKED_LEVEL))


def head_map(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    wide: bool = False,
    labels: Mapping[str, str] = LABELS,
    marks: Sequence[tuple[int, int]] = (),
    earlier_marks: Sequence[tuple[int, int]] = (),
) -> go.Figure:
    """One head as a heatmap with tokens on both axes; the exact weight is shown on hover, and in the cell if there is room.

    Args:
        weights: 0 to 1; each row sums to 1, or to 0 if the query may attend to no key.
        allowed: False where a query may not attend; drawn grey and hatched.
        queries, keys: the tokens.
        wide: cells may be wider than high, for a map of few rows.
        labels: words of the figure.
        marks, earlier_marks: (query, key) of cells that are framed, those marked earlier with dashes.
    """
    values = np.where(allowed, weights, np.nan)
    written = in_cells(values, "{:.2f}", WEIGHTS) if max(weights.shape) <= MOST_WRITTEN else {}
    bar = {"title": {"text": labels["weight"]}, "thickness": 12}
    figure = pair_cells(values, allowed, queries, keys, _weight_hover(labels), labels, WEIGHTS_SCALE | written, colorbar=bar)
    marked = ((earlier_marks, "dot"), (marks, "solid"))
    frames = [line for cells, dash in marked for cell in cells for line in _frame(*cell, dash)]
    # Without marks the layout has no shapes, so it is not larger to send.
    return token_map(figure, queries, keys, wide, labels).update_layout(shapes=frames or None)


def _frame(query: int, key: int, dash: str) -> list[dict[str, Any]]:
    """The frame of a cell, which is seen on dark and on light cells: a black line on a white one."""
    corners = {"x0": key - INSET, "x1": key + INSET, "y0": query - INSET, "y1": query + INSET}
    lines = ({"color": "white", "width": 6}, {"color": "black", "width": 3, "dash": dash})
    return [{"type": "rect", **corners, "line": line} for line in lines]


def small_head_map(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """One head as a heatmap that stands beside the grid of all heads: no numbers in its cells, no bar of colours.

    Arguments as for `head_map`.
    """
    values = np.where(allowed, weights, np.nan)
    figure = pair_cells(values, allowed, queries, keys, _weight_hover(labels), labels, WEIGHTS_SCALE, showscale=False)
    across = token_axis("", keys, SMALL_LABELLED, side="top", tickangle=-90, constrain="domain")
    down = token_axis("", queries, SMALL_LABELLED, autorange="reversed", scaleanchor="x", constrain="domain")
    height = SMALL_ABOVE + int(np.clip(SMALL_HEIGHT, 11 * len(queries), 34 * len(queries)))
    return finished(figure, height=min(height, SMALL_ABOVE + SMALL_HEIGHT), xaxis=across, yaxis=down, margin=SMALL_MARGIN)


def pair_cells(
    values: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    hover_text: str,
    labels: Mapping[str, str],
    scale: Mapping[str, Any],
    **more: Any,
) -> go.Figure:
    """A figure without a layout: a number for each query and key as a heatmap, above a layer with the masked cells, if any.

    Args:
        values: NaN where a query may not attend.
        allowed: False there.
        queries, keys: the tokens.
        hover_text: a template of Plotly.
        labels: words of the figure.
        scale, more: other arguments of `go.Heatmap`.
    """
    figure = go.Figure()
    if not allowed.all():
        figure.add_trace(masked_cells(allowed, queries, keys, labels))
    gap = int(max(values.shape) <= MOST_HATCHED)
    return figure.add_trace(
        go.Heatmap(
            z=values.astype(np.float32),
            x=numbered(keys),
            y=numbered(queries),
            hovertemplate=hover_text,
            hoverongaps=False,
            xgap=gap,
            ygap=gap,
            **scale,
            **more,
        )
    )


def _weight_hover(labels: Mapping[str, str]) -> str:
    return hover(labels, f"{labels['weight']} %{{z:.6f}}")


def hover(labels: Mapping[str, str], value: str) -> str:
    """The template of the hover text for a query and a key."""
    return f"{labels['query']} %{{y}}<br>{labels['key']} %{{x}}<br>{value}<extra></extra>"


def masked_cells(
    allowed: Bool[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], labels: Mapping[str, str] = LABELS
) -> go.Heatmap:
    """The layer below a map that marks masked cells: grey, and hatched unless the cells are too small."""
    return go.Heatmap(
        # As a list it is a third shorter to send than in single precision.
        z=[[None if may else 1 for may in row] for row in allowed.tolist()],
        x=numbered(keys),
        y=numbered(queries),
        colorscale=[[0, MASKED], [1, MASKED]],
        showscale=False,
        texttemplate=MASK_SIGN if max(allowed.shape) <= MOST_HATCHED else None,
        textfont={"color": LINE},
        hovertemplate=hover(labels, labels["masked_cell"]),
        # Cells that are not masked need no hover text of this layer.
        hoverongaps=False,
    )


def in_cells(
    values: Float[np.ndarray, "row column"], form: str, scale: str | list[Any], low: float = 0.0, high: float = 1.0
) -> dict[str, object]:
    """The number in each cell, as arguments of `go.Heatmap`; short ones are black where black has more contrast than white.

    Plotly's own choice is dark grey, only on light colours, which is hard to read on the greens in the middle. But Plotly
    counts markup as letters when it fits numbers into cells, so only numbers that certainly fit can have markup.

    Args:
        values: of the cells; NaN leaves a cell empty.
        form: how a number is written, as for `str.format`; a zero never has a sign.
        scale, low, high: the colours of the heatmap, by name or as places with colours, and the values at their two ends.
    """
    written = [["" if np.isnan(value) else unsigned_zero(form.format(value)) for value in row] for row in values.tolist()]
    if max((len(cell) for row in written for cell in row), default=0) > SHORT:
        return {"text": written, "texttemplate": "%{text}"}
    places = np.nan_to_num((np.clip(values, low, high) - low) / (high - low)).astype(float)
    shades = np.array(sample_colorscale(scale, places.ravel().tolist(), colortype="tuple")).reshape(*values.shape, 3)
    linear = np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)
    black = linear @ LUMINANCE > EVEN
    text = [
        [BLACK.format(cell) if cell and dark else cell for cell, dark in zip(*pair, strict=True)]
        for pair in zip(written, black, strict=True)
    ]
    return {"text": text, "texttemplate": "%{text}", "textfont": {"size": NUMBER_SIZE}}


def unsigned_zero(written: str) -> str:
    """A written number; a zero loses its sign."""
    return written.replace("-", "−") if written.strip("+-0.") else written.lstrip("+-")


def token_map(
    figure: go.Figure,
    queries: Sequence[str],
    keys: Sequence[str],
    wide: bool = False,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """The figure with tokens on both axes of a map of queries × keys; its cells are square unless `wide`."""
    longer = max(len(queries), len(keys))
    across = token_axis(labels["key_axis"], keys, MOST_LABELLED, side="top", tickangle=-45 if longer > 8 else 0)
    down = token_axis(labels["query_axis"], queries, MOST_LABELLED, autorange="reversed")
    if wide:
        del down["title"]  # beside few rows there is no room for a title, and their labels suffice
    else:
        down |= {"scaleanchor": "x", "constrain": "domain"}
        across["constrain"] = "domain"
    return finished(
        figure,
        height=150 + len(queries) * int(np.clip(460 / longer, 11, 46)),
        xaxis=across,
        yaxis=down,
        margin={"t": 110},
        meta=least_width(len(keys), longer, BESIDE - TITLE if wide else BESIDE),
    )


def least_width(columns: int, longer: int, beside: int = BESIDE) -> dict[str, int]:
    """The least width of a map in px, for the figure's `meta`: numbers fit into cells, and labels do not overlap."""
    cell = WRITTEN_CELL if longer <= MOST_WRITTEN else LABELLED_CELL if longer <= MOST_LABELLED else SMALL_CELL
    return {"least_width": beside + columns * cell}
