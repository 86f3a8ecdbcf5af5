"""The heatmap of one attention head, and attention weights as bytes for the overview of all heads."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float, UInt8
from plotly.colors import sample_colorscale

from transformer.figures.labels import LABELS
from transformer.figures.theme import COUNTED, LINE, MASK_SIGN, MASKED, SIGNED, WEIGHTS, Positions, built, numbered, token_axis

# A weight is sent as one byte: 0 to 254 for a weight from 0 to 1, and 255 for a masked cell.
LEVELS = 254
MASKED_LEVEL = 255
MOST_WRITTEN = 18  # a map with up to this many tokens on its longer side has numbers in its cells
# Smaller weights would be written as 0.00. Most weights of a trained head are that small, and larger weights are found more
# easily without them.
LEAST_WRITTEN = 0.005
MOST_LABELLED = 32  # an axis with up to this many tokens has a label for each; a longer one for every second, third, … token
# px: side of a cell with a number in it, of a cell with a label beside it, of other cells; space beside the cells, and the part
# of this space for the title of the rows.
WRITTEN_CELL, LABELLED_CELL, SMALL_CELL, BESIDE, TITLE = 27, 15, 9, 210, 28
NO_BAR = 80  # px of the space beside the cells that a map without a colour bar does not need
LONG_CELL = 28  # px: the width of a cell with a number of five characters in it
# The small map: most labels on an axis; most height of the cells in px, and height of the labels above them; margins.
SMALL_LABELLED, SMALL_HEIGHT, SMALL_ABOVE = 18, 260, 80
SMALL_MARGIN = {"t": 75, "b": 5, "r": 5}
SMALL_LETTER, SMALL_BESIDE = 6, (70, 130)  # px: width of a letter; least and most space to the left of the cells
PERCENT_CELL = 15  # px: the width of a cell with two digits in it
# Weight of red, green and blue in relative luminance, and the luminance with equal contrast to black and to white (WCAG 2).
LUMINANCE, EVEN = np.array([0.2126, 0.7152, 0.0722]), 0.179
SHORT, NUMBER_SIZE = 4, 11  # most characters of a number that fits into every cell; px of numbers in cells
BLACK = '<span style="color:black">{}</span>'
INSET = 0.45  # distance from the middle of a cell to the frame of a mark, in cells
WEIGHTS_SCALE = {"zmin": 0, "zmax": 1, "colorscale": WEIGHTS}
# The `meta` of a map's layout: the names of its axes in events of clicks, and that all its traces draw the same cells.
MAP = {"axes": {"x": "key", "y": "query"}, "layers": True}
MOST_HATCHED = 32  # in a map with up to this many tokens on its longer side, masked cells are hatched, not only grey


def quantized(weights: Float[np.ndarray, "*any"], allowed: Bool[np.ndarray, "*any"]) -> UInt8[np.ndarray, "*any"]:
    """Weights as bytes: 0 to 254 (`LEVELS`) for a weight from 0 to 1, with an error of at most 0.002; 255 (`MASKED_LEVEL`)
    where `allowed` is False."""
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
    row: int | None = None,
    least: float = 0.0,
    positions: Positions = COUNTED,
) -> go.Figure:
    """The attention weights of one head as a heatmap, with tokens on both axes. Hovering over a cell shows its weight with six
    decimals. A map of at most 18 tokens (`MOST_WRITTEN`) a side has rounded weights in its cells instead of a colour bar.

    Args:
        weights: 0 to 1; each row sums to 1, or to 0 if the query may attend to no key. May be nested lists.
        allowed: False where a query may not attend to a key. Such cells are grey; in a map of at most 32 tokens a side, also
            hatched.
        queries, keys: the token of each row and of each column.
        wide: whether cells may be wider than high, for a map of few rows.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        marks, earlier_marks: (query, key), counted from 0, of the cells with a frame. Frames of `earlier_marks` are dotted.
        row: index of a query whose row gets a frame; None for no frame.
        least: cells with a smaller weight have no number. The figure does not say so.
        positions: the positions of the queries and of the keys in their texts, for a map that leaves tokens out; None counts
            from 0.
    """
    weights, allowed = np.asarray(weights), np.asarray(allowed, bool)
    values = np.where(allowed, weights, np.nan)
    written = in_cells(values, "{:.2f}", WEIGHTS, least=least) if has_numbers(*weights.shape) else {}
    bar = {"showscale": False} if written else {"colorbar": {"title": {"text": labels["weight"]}, "thickness": 12}}
    scale, hover_text = WEIGHTS_SCALE | written, _weight_hover(labels)
    layers = pair_cells(values, allowed, queries, keys, hover_text, labels, scale, positions, **bar)
    frames = _frames(marks, earlier_marks, row, len(keys))
    return token_map(layers, queries, keys, wide, labels, bool(written), frames, positions)


def has_numbers(queries: int, keys: int) -> bool:
    """Whether a heatmap with this many queries and keys is small enough for a number in each cell."""
    return max(queries, keys) <= MOST_WRITTEN


def signed_scale(*values: Float[np.ndarray, "row column"], least: float = 0.0) -> dict[str, Any]:
    """One diverging colour scale, centred on zero, for all these matrices, as arguments of `go.Heatmap`. It ends at the largest
    magnitude of their finite numbers, or at `least` if that is larger; at 1 if both are 0."""
    sizes = (np.abs(matrix, where=np.isfinite(matrix), out=np.zeros(matrix.shape)) for matrix in values)
    most = max(least, *(float(each.max(initial=0)) for each in sizes))
    return {"zmin": -(most or 1.0), "zmax": most or 1.0, "colorscale": SIGNED}


def _frames(
    marks: Sequence[tuple[int, int]], earlier_marks: Sequence[tuple[int, int]], row: int | None, keys: int
) -> list[dict[str, Any]]:
    """The frames of marked cells and of a row, as shapes of a layout."""
    marked = ((earlier_marks, "dot"), (marks, "solid"))
    cells = [line for cells, dash in marked for query, key in cells for line in _frame(query, key, key, dash)]
    return ([] if row is None else _frame(row, 0, keys - 1, "solid")) + cells


def _frame(query: int, first: int, last: int, dash: str) -> list[dict[str, Any]]:
    """The frame of the cells of a query from one key to another: a black line on a wider white line, so that it is visible on
    dark and on light cells."""
    corners = {"x0": first - INSET, "x1": last + INSET, "y0": query - INSET, "y1": query + INSET}
    lines = ({"color": "white", "width": 6}, {"color": "black", "width": 3, "dash": dash})
    return [{"type": "rect", **corners, "line": line} for line in lines]


def small_head_map(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    labels: Mapping[str, str] = LABELS,
    marks: Sequence[tuple[int, int]] = (),
    earlier_marks: Sequence[tuple[int, int]] = (),
    row: int | None = None,
    positions: Positions = COUNTED,
    percent: bool = False,
) -> go.Figure:
    """The attention weights of one head as a heatmap for a narrow space, without a colour bar. Its cells have no numbers; if
    `percent` is True, they have the weights in %. `marks` and `earlier_marks` are cells (query, key) that get a frame, and
    `row` is a query whose row gets one, all counted from 0. `head_map` explains the other arguments."""
    weights, allowed = np.asarray(weights), np.asarray(allowed, bool)
    values = np.where(allowed, weights, np.nan)
    hover_text = _weight_hover(labels)
    scale = WEIGHTS_SCALE | (in_cells(100 * values, "{:.0f}", WEIGHTS, high=100.0) if percent else {})
    layers = pair_cells(values, allowed, queries, keys, hover_text, labels, scale, positions, showscale=False)
    return small_token_map(layers, queries, keys, _frames(marks, earlier_marks, row, len(keys)), positions)


def small_token_map(
    layers: Sequence[dict[str, Any]],
    queries: Sequence[str],
    keys: Sequence[str],
    frames: Sequence[dict[str, Any]] = (),
    positions: Positions = COUNTED,
) -> go.Figure:
    """A figure with a heatmap of queries × keys for a narrow space, with tokens on both axes. `layers` are the traces of the
    heatmap, as `pair_cells` returns them; `frames` are shapes of a Plotly layout, drawn above it; `positions` is as for
    `head_map`."""
    rows, columns = positions
    across = token_axis("", keys, SMALL_LABELLED, columns, side="top", tickangle=-90, constrain="domain")
    down = token_axis("", queries, SMALL_LABELLED, rows, autorange="reversed", scaleanchor="x", constrain="domain")
    height = SMALL_ABOVE + int(np.clip(SMALL_HEIGHT, 11 * len(queries), 34 * len(queries)))
    height = min(height, SMALL_ABOVE + SMALL_HEIGHT)
    margin = SMALL_MARGIN | {"l": _small_beside(queries)}
    return built(layers, _framed(frames), height, xaxis=across, yaxis=down, margin=margin, meta=MAP)


def _small_beside(queries: Sequence[str]) -> int:
    """The space in px to the left of the cells of a small map."""
    return int(np.clip(SMALL_LETTER * max(map(len, queries), default=0), *SMALL_BESIDE))


def percent_width(queries: Sequence[str], keys: Sequence[str]) -> int:
    """The least width in px of a figure of `small_head_map` in which weights in % fit into the cells."""
    return _small_beside(queries) + len(keys) * PERCENT_CELL + SMALL_MARGIN["r"]


def _framed(frames: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A layout with these frames as its `shapes`. Empty if there are none, because an empty list would also be sent to the
    browser."""
    return {"shapes": [*frames]} if frames else {}


def pair_cells(
    values: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    hover_text: str,
    labels: Mapping[str, str],
    scale: Mapping[str, Any],
    positions: Positions = COUNTED,
    **more: Any,
) -> list[dict[str, Any]]:
    """The Plotly traces of a heatmap of queries × keys, in drawing order: first, if cells are masked, a heatmap that marks
    these cells; then the heatmap of the numbers, above it. The traces are plain dictionaries for `theme.built`, because checks
    by Plotly would take half of the time to draw a map, and the map is new for every text and head.

    Args:
        values: the numbers; NaN if a query may not attend to a key.
        allowed: False if a query may not attend to a key.
        queries, keys: the token of each row and of each column.
        hover_text: a Plotly template for the hover text of a number.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        scale, more: other arguments of `go.Heatmap` for the numbers. Those in `more` take precedence.
        positions: the positions of the queries and of the keys in their texts; None counts from 0.
    """
    gap = int(max(values.shape) <= MOST_HATCHED)
    numbers = {
        "type": "heatmap",
        "z": values.astype(np.float32),
        "x": numbered(keys, positions[1]),
        "y": numbered(queries, positions[0]),
        "hovertemplate": hover_text,
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        **scale,
        **more,
    }
    return [numbers] if allowed.all() else [masked_cells(allowed, queries, keys, labels, positions), numbers]


def _weight_hover(labels: Mapping[str, str]) -> str:
    return hover(labels, f"{labels['weight']} %{{z:.6f}}")


def hover(labels: Mapping[str, str], value: str) -> str:
    """A Plotly template for the hover text of a cell: its query, its key, and `value`, which is a template too, such as
    `%{z:.2f}`."""
    return f"{labels['query']} %{{y}}<br>{labels['key']} %{{x}}<br>{value}<extra></extra>"


def masked_cells(
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    labels: Mapping[str, str] = LABELS,
    positions: Positions = COUNTED,
) -> dict[str, Any]:
    """A heatmap trace that marks the cells where `allowed` is False: grey, and hatched if the map has at most 32 tokens a side.
    It is drawn below the heatmap of the numbers. `queries` and `keys` are the tokens, `labels` the texts of the figure;
    `positions` has the positions of the queries and of the keys, or None to count from 0."""
    # Only masked cells have a sign: in another cell it would be hidden below the map, and take as long to draw as a number.
    signs = [["" if may else MASK_SIGN for may in row] for row in allowed.tolist()]
    hatch = {"text": signs, "texttemplate": "%{text}"} if max(allowed.shape) <= MOST_HATCHED else {}
    return hatch | {
        "type": "heatmap",
        # A list instead of an array in single precision, because its JSON is a third shorter.
        "z": [[None if may else 1 for may in row] for row in allowed.tolist()],
        "x": numbered(keys, positions[1]),
        "y": numbered(queries, positions[0]),
        "colorscale": [[0, MASKED], [1, MASKED]],
        "showscale": False,
        "textfont": {"color": LINE},
        "hovertemplate": hover(labels, labels["masked_cell"]),
        # Hovering over a cell that is not masked must not show this layer's text.
        "hoverongaps": False,
    }


def in_cells(
    values: Float[np.ndarray, "row column"],
    form: str,
    scale: str | list[Any],
    low: float = 0.0,
    high: float = 1.0,
    least: float = 0.0,
) -> dict[str, object]:
    """Arguments of `go.Heatmap` that write the number of each cell into it.

    Args:
        values: the numbers; NaN leaves a cell empty.
        form: how a number is written, as a template for `str.format`: `{:.2f}`. A number that rounds to zero has no sign.
        scale, low, high: the heatmap's colour scale, by name or as pairs (place from 0 to 1, colour), and the values at its
            ends.
        least: cells with a smaller magnitude stay empty.
    """
    written = [[unsigned_zero(form.format(value)) if abs(value) >= least else "" for value in row] for row in values.tolist()]
    if max((len(cell) for row in written for cell in row), default=0) > SHORT:
        return {"text": written, "texttemplate": "%{text}"}  # Plotly leaves out those that do not fit
    return legible(written, values, scale, low, high)


def legible(
    texts: Sequence[Sequence[str]],
    values: Float[np.ndarray, "row column"],
    scale: str | list[Any],
    low: float,
    high: float,
    size: int = NUMBER_SIZE,
) -> dict[str, object]:
    """Arguments of `go.Heatmap` that write a text into each cell: in black if black has more contrast with the cell than white.

    By default, Plotly writes dark grey on light colours, which is hard to read on the greens in the middle of the scale. So the
    black texts have markup that sets their colour. Plotly draws texts of a given size in full, even if they do not fit into
    their cells.

    Args:
        texts: the text of each cell.
        values: the number that colours each cell.
        scale, low, high: the colour scale of the heatmap, by name or as pairs (place from 0 to 1, colour), and the values at
            its two ends.
        size: height of the letters in px.
    """
    places = np.nan_to_num((np.clip(values, low, high) - low) / (high - low)).astype(float)
    shades = np.array(sample_colorscale(scale, places.ravel().tolist(), colortype="tuple")).reshape(*values.shape, 3)
    linear = np.where(shades <= 0.04045, shades / 12.92, ((shades + 0.055) / 1.055) ** 2.4)
    black = linear @ LUMINANCE > EVEN
    shown = [
        [BLACK.format(text) if text and dark else text for text, dark in zip(*pair, strict=True)]
        for pair in zip(texts, black, strict=True)
    ]
    return {"text": shown, "texttemplate": "%{text}", "textfont": {"size": size}}


def unsigned_zero(written: str) -> str:
    """The number `written` as text, with U+2212 (−) as its minus sign. A zero has no sign: `-0.00` becomes `0.00`."""
    return written.replace("-", "−") if written.strip("+-0.%") else written.lstrip("+-")


def token_map(
    layers: Sequence[dict[str, Any]],
    queries: Sequence[str],
    keys: Sequence[str],
    wide: bool = False,
    labels: Mapping[str, str] = LABELS,
    no_bar: bool = False,
    frames: Sequence[dict[str, Any]] = (),
    positions: Positions = COUNTED,
) -> go.Figure:
    """A figure with a heatmap of queries × keys, with tokens on both axes. The cells are square unless `wide` is True. If
    `no_bar` is True, there is no space for a colour bar.

    Args:
        layers: the traces of the heatmap, as `pair_cells` returns them.
        queries, keys: the token of each row and of each column.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        frames: shapes of a Plotly layout, drawn above the heatmap.
        positions: the positions of the queries and of the keys in their texts; None counts from 0.
    """
    rows, columns = positions
    longer = max(len(queries), len(keys))
    across = token_axis(labels["key_axis"], keys, MOST_LABELLED, columns, side="top", tickangle=-45 if longer > 8 else 0)
    down = token_axis(labels["query_axis"], queries, MOST_LABELLED, rows, autorange="reversed")
    if wide:
        del down["title"]  # there is no space for a title beside few rows, and their labels suffice
    else:
        down |= {"scaleanchor": "x", "constrain": "domain"}
        across["constrain"] = "domain"
    return built(
        layers,
        _framed(frames),
        height=150 + len(queries) * int(np.clip(460 / longer, 11, 46)),
        xaxis=across,
        yaxis=down,
        margin={"t": 110, "r": 10} if no_bar else {"t": 110},
        meta=least_width(len(keys), longer, BESIDE - TITLE * wide - NO_BAR * no_bar) | MAP,
    )


def least_width(columns: int, longer: int, beside: int = BESIDE) -> dict[str, Any]:
    """An entry for the `meta` of a heatmap's layout: the least width of the figure in px at which numbers fit into the cells
    and labels do not overlap. `longer` is the number of tokens on the longer side, and `beside` the px beside the cells."""
    cell = WRITTEN_CELL if longer <= MOST_WRITTEN else LABELLED_CELL if longer <= MOST_LABELLED else SMALL_CELL
    return {"least_width": beside + columns * cell}
