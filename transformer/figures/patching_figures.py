"""Heatmaps of activation patching: what each patched place, such as a head, carries of the difference between two runs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.attention_figures import MOST_LABELLED, MOST_WRITTEN, in_cells, unsigned_zero
from transformer.figures.labels import LABELS
from transformer.figures.theme import SIGNED, built, escaped, numbered, token_axis

MOST_HEADS_WRITTEN = 8
# px: height of a row of cells with numbers and of other rows; height above the cells with tokens and without; width beside the
# cells with tokens; width of the names of the rows; least width of a cell of maps of tokens, and of maps of heads.
WRITTEN_ROW, ROW, ABOVE, TITLE, BESIDE, NAMES, CELL, HEAD_CELL = 24, 12, 78, 34, 110, 70, 30, 26
LEAST_HEIGHT = 120  # px of maps side by side, so that a thumb finds the cells of a few layers
BAR = 90  # px below the maps, for the colour bar
BETWEEN = 40  # px between two maps side by side
STACKED_GAP, TOKENS_GAP = 80, 96  # px between two maps of heads, and of tokens, one below the other
INSET = 0.45  # distance from the middle of a cell to its frame, in cells
POSITIVE = [[round(2 * place - 1, 3), color] for place, color in SIGNED if place >= 0.5]
REVERSED = [[1 - place, color] for place, color in reversed(SIGNED)]
LEAST_SCALE = 0.1  # the least end of the colour scale, so that rounding errors have pale colours
FAR = 1.2  # a scale that reaches this far from its white has labels at its ends


class Grid(NamedTuple):
    """One heatmap of `patch_grids`, with one number for each patched place, such as a head or a layer at one token.

    Attributes:
        name: the kind of attention whose places are in the heatmap; for tensors of whole layers, `encoder` or `decoder`.
        title: the title of the heatmap.
        values: a row for each layer, or for each head of each layer; a column for each head, or for each token. Infinite values
            have the colour of the end of the scale.
        rows: the names of the rows.
        columns: the names of the columns: heads, or tokens.
    """

    name: str
    title: str
    values: Float[np.ndarray, "row column"]
    rows: Sequence[str]
    columns: Sequence[str]

    @classmethod
    def of(
        cls,
        name: str,
        values: Float[np.ndarray, "layer head position"],
        title: str,
        columns: Sequence[str] | None = None,
        layer: str = "layer {layer}",
        head: str = "",
        first: int = 0,
    ) -> "Grid":
        """The Grid of an array with the axes layer, head and position.

        Args:
            values: the array; one head if the places are whole layers, one position if all tokens were patched together.
            columns: names of the tokens, one column each; None if the values are for all tokens together.
            layer: template for the name of a row for a layer.
            head: template for the name of a row for a head; empty if the places are whole layers. If the values are for all
                tokens together, heads are columns.
            first: the number of the first layer and of the first head in the names.
        """
        layers, heads, positions = values.shape
        if columns is None and head:
            names = [layer.format(layer=first + index) for index in range(layers)]
            return cls(name, title, values[..., 0], names, [str(first + index) for index in range(heads)])
        pairs = ((index, of) for index in range(layers) for of in range(heads))
        names = [(head or layer).format(layer=first + index, head=first + of) for index, of in pairs]
        return cls(name, title, values.reshape(-1, positions), names, [""] if columns is None else columns)


def patch_grids(
    grids: Sequence[Grid],
    ends: tuple[str, str] | None,
    value: str,
    tokens: bool = False,
    picked: tuple[str, int, int] | None = None,
    labels: Mapping[str, str] = LABELS,
    reverse: bool = False,
    percent: bool = False,
    stacked: bool = False,
    from_zero: bool = False,
) -> go.Figure:
    """Heatmaps of patching results on one colour scale: side by side if the columns are heads, one below the other if they are
    tokens.

    Args:
        grids: the heatmaps, at least one. NaN stands for a place that has not been patched.
        ends: the names of the values 0 and 1 on the colour bar, for values that are shares; None for other values.
        value: what the values are, such as `share`; the title of the colour bar.
        tokens: whether the columns are tokens.
        picked: (name of a grid, row, column) of the cell that is framed, counted from 0; None for no frame.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        reverse: whether white is 1 instead of 0, and 0 is blue, for values that are 1 if patching a place changes nothing.
        percent: whether numbers are written as percentages even if `ends` is None.
        stacked: whether heatmaps of heads, too, are one below the other, for a narrow page.
        from_zero: whether no value can be negative, so that the scale starts at 0.
    """
    base = 1.0 if reverse else 0.0
    far = [np.abs(grid.values[np.isfinite(grid.values)] - base).max(initial=0) for grid in grids]
    most = float(max(1.0 if ends else LEAST_SCALE, *far))
    scale = Scale(base - most, base + most, REVERSED if reverse else SIGNED)
    if from_zero:
        scale = Scale(0.0, most, POSITIVE)
    longest = max(len(grid.columns) for grid in grids)
    written = longest <= (MOST_WRITTEN if tokens else MOST_HEADS_WRITTEN)
    row = WRITTEN_ROW if written else ROW
    layout: dict[str, Any] = {"coloraxis": _color_axis(scale, ends, value, percent), "annotations": [], "shapes": []}
    heights = [max(row * len(grid.rows), 2 * WRITTEN_ROW) for grid in grids]
    gap = (TOKENS_GAP if tokens else STACKED_GAP) if tokens or stacked else 0
    height = sum(heights) + (len(grids) - 1) * gap if gap else max(LEAST_HEIGHT, *heights)
    traces = []
    for place, grid in enumerate(grids):
        axes = {"xaxis": f"x{place + 1}", "yaxis": f"y{place + 1}"}
        form = "{:.0%}" if percent or ends else "{:.2f}"
        traces.append(_cells(grid, axes, form if written else "", scale, value, tokens, labels))
        across, down = _domains(place, heights, height, gap)
        layout |= _axes(grid, place + 1, across, down, tokens, labels)
        layout["annotations"].append(_title(grid.title, across, down, tokens))
        if picked and picked[0] == grid.name:
            layout["shapes"] += _frame(picked[1], picked[2], axes)
    width = BESIDE + CELL * longest if tokens else side_by_side_width([grids[0]] if stacked else grids)
    meta = {"least_width": width, "axes": {"x": "column", "y": "row"}}
    above = ABOVE if tokens else TITLE
    return built(traces, layout, height + above + BAR + 50, meta=meta, margin={"t": above, "l": NAMES, "b": BAR})


def side_by_side_width(grids: Sequence[Grid]) -> int:
    """The least width in px of a figure with these heatmaps of heads side by side."""
    return NAMES + len(grids) * (HEAD_CELL * max(len(grid.columns) for grid in grids) + BETWEEN)


class Scale(NamedTuple):
    """A colour scale: the values at its two ends, and its colours as pairs [place from 0 to 1, colour]."""

    low: float
    high: float
    colors: list[Any]


def _cells(
    grid: Grid, axes: dict[str, str], form: str, scale: Scale, value: str, tokens: bool, labels: Mapping[str, str]
) -> dict[str, Any]:
    """The heatmap trace of a Grid. `form` is the format of the numbers in its cells; empty for no numbers."""
    column = labels["token"] if tokens else labels["head_axis"]
    number = "%{z:.1%}" if form.endswith("%}") else "%{z:.4f}"
    hover = f"<b>{escaped(grid.title)}</b><br>%{{y}}<br>{column} %{{x}}<br>{value} {number}<extra></extra>"
    return {
        "type": "heatmap",
        "z": np.asarray(grid.values, np.float32),
        "x": numbered(grid.columns) if tokens else list(grid.columns),
        "y": list(grid.rows),
        "coloraxis": "coloraxis",
        "hoverongaps": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": hover,
        **axes,
        **(in_cells(np.asarray(grid.values), form, scale.colors, scale.low, scale.high) if form else {}),
    }


def _color_axis(scale: Scale, ends: tuple[str, str] | None, value: str, percent: bool) -> dict[str, Any]:
    """The colour scale of all maps. 0 and 1 have names if the values are shares. The bar is always below the maps, because a
    chart that stays on a page cannot turn its bar: Plotly keeps the numbers and the margins of the former bar."""
    place = {"orientation": "h", "len": 1, "yref": "container", "y": 0, "yanchor": "bottom"}
    bar: dict[str, Any] = {"thickness": 12, "title": {"text": value, "side": "bottom"}, **place}
    if percent:
        bar["tickformat"] = ".0%"
    if ends:
        # The names stand at 0 and 1; the ends of the scale have their numbers if they lie further out.
        outer = [scale.low, scale.high] if scale.high - scale.low >= 2 * FAR else []
        written = [unsigned_zero(f"{end:.0%}") for end in outer]
        names = [escaped(end).replace(": ", ":<br>", 1) for end in ends]  # narrow below the maps
        bar |= {"tickvals": [*outer, 0, 1], "ticktext": [*written, *names]}
    return {"cmin": scale.low, "cmax": scale.high, "colorscale": scale.colors, "colorbar": bar}


def _domains(place: int, heights: Sequence[int], height: int, gap: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """The part of the figure's width and the part of its height that the heatmap with the index `place` takes, as (start, end)
    from 0 to 1. `gap` is the space in px between two heatmaps, one below the other; 0 if they are side by side."""
    if not gap:
        beside, count = 0.07, len(heights)
        each = (1 - beside * (count - 1)) / count
        return (place * (each + beside), place * (each + beside) + each), (0.0, 1.0)
    top = sum(heights[:place]) + place * gap
    return (0.0, 1.0), (1 - (top + heights[place]) / height, 1 - top / height)


def _axes(
    grid: Grid,
    number: int,
    across: tuple[float, float],
    down: tuple[float, float],
    tokens: bool,
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """Both axes of a map."""
    shared = {"type": "category", "showgrid": False, "zeroline": False}
    if tokens:
        x = token_axis("", grid.columns, MOST_LABELLED, side="top", tickangle=-45 if len(grid.columns) > 8 else 0)
    else:
        x = shared | {"title": {"text": labels["head_axis"] if len(grid.columns) > 1 else ""}, "side": "bottom"}
    y = shared | {"autorange": "reversed", "automargin": True}
    if len(grid.rows) > MOST_LABELLED:
        step = -(-len(grid.rows) // MOST_LABELLED)
        y |= {"tickmode": "array", "tickvals": list(grid.rows[::step])}
    names = {
        "xaxis": x | {"domain": list(across), "anchor": f"y{number}"},
        "yaxis": y | {"domain": list(down), "anchor": f"x{number}"},
    }
    return {f"{name}{'' if number == 1 else number}": axis for name, axis in names.items()}


def _title(title: str, across: tuple[float, float], down: tuple[float, float], tokens: bool) -> dict[str, Any]:
    """The title of a map: above its middle, or above the labels of its tokens."""
    place = {"x": sum(across) / 2, "xanchor": "center"} if not tokens else {"x": 0, "xanchor": "left"}
    shift = 44 if tokens else 4
    return {
        "text": f"<b>{escaped(title)}</b>",
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "y": down[1],
        "yanchor": "bottom",
        "yshift": shift,
        **place,
    }


def _frame(row: int, column: int, axes: dict[str, str]) -> list[dict[str, Any]]:
    """The frame of a cell: a black line on a wider white one, visible on every colour."""
    corners = {"x0": column - INSET, "x1": column + INSET, "y0": row - INSET, "y1": row + INSET}
    refs = {"xref": axes["xaxis"], "yref": axes["yaxis"]}
    return [
        {"type": "rect", **corners, **refs, "line": {"color": color, "width": width}}
        for color, width in (("white", 6), ("black", 3))
    ]
