"""The cells of a figure that a person can click on: the names of their axes, and the shapes that mark a cell."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from transformer.figures.numbers import axes_of

RING = 8  # px: radius of the ring around a point
BAR_GAP = 0.2  # the share of its place that a group of bars leaves empty, as in Plotly


def axis_names(figure: go.Figure) -> tuple[str, str]:
    """The names of the row and of the column of a cell in events of clicks on the figure: by default `y` and `x`, or the names
    of these axes in the dict `layout.meta.axes`. If `layout.meta.turned` is True, the x axis counts the rows, so its name comes
    first."""
    names = {"x": "x", "y": "y", **_meta(figure).get("axes", {})}
    return (names["x"], names["y"]) if _is_turned(figure) else (names["y"], names["x"])


def cell_marks(figure: go.Figure, trace: int, row: int, column: int) -> list[dict[str, Any]] | None:
    """Plotly shapes that mark a cell of a figure: a frame around a cell of a heatmap or a part of a stacked bar, or a ring
    around a point of a line or the end of a bar. None if the figure has no such cell, or its trace does not react to the
    pointer.

    The cell is also framed in other heatmaps with the same columns: those on the same x axis, and those whose trace indices are
    listed with its own in `layout.meta.together`. If `layout.meta.layers` is True, all traces draw the same cells, and the last
    one is used, whatever `trace` is.

    Args:
        trace: the index of the trace in the figure, counted from 0.
        row, column: the row and the column of the cell in the trace, counted from 0. Points of lines and bars have no row: pass
            `trace` as `row`, and their index as `column`. If `layout.meta.turned` is True, a heatmap draws its rows side by
            side.
    """
    traces: list[Any] = list(figure.data)
    trace = len(traces) - 1 if _meta(figure).get("layers") else trace
    if trace >= len(traces) or traces[trace].hoverinfo == "skip":
        return None
    drawn = traces[trace]
    if drawn.type == "heatmap":
        down, across = (column, row) if _is_turned(figure) else (row, column)
        height, width = np.shape(drawn.z)
        pairs = _axes_with(figure, trace)
        return [shape for axes in pairs for shape in framed(down, across, axes)] if down < height and across < width else None
    if row != trace or column >= len(drawn.x):
        return None
    return _mark_of_bar(figure, drawn, column) if drawn.type == "bar" else _ring(*_place(drawn, column), axes_of(drawn))


def framed(row: int, column: int, axes: tuple[int, int] = (1, 1)) -> list[dict[str, Any]]:
    """A frame around a cell of a heatmap, as two Plotly shapes: a white line on a wider black line, visible on dark and on
    light colours. `row` and `column` count from 0; `axes` are the numbers of the x axis and of the y axis, which Plotly counts
    from 1."""
    place = {"type": "rect", "x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5, **_on(axes)}
    return [place | {"line": {"color": color, "width": width}} for color, width in (("black", 3), ("white", 1))]


def _meta(figure: go.Figure) -> dict[str, Any]:
    layout: Any = figure.layout
    return layout.meta or {}


def _is_turned(figure: go.Figure) -> bool:
    return bool(_meta(figure).get("turned"))


def _axes_with(figure: go.Figure, trace: int) -> list[tuple[int, int]]:
    """The x and y axes of all heatmaps that frame a cell of the heatmap `trace`: its own, and those of heatmaps with the same
    columns."""
    together = _meta(figure).get("together", ())
    traces: list[Any] = list(figure.data)
    across, _ = axes_of(traces[trace])
    alike = [
        axes_of(other)
        for index, other in enumerate(traces)
        if other.type == "heatmap" and (axes_of(other)[0] == across or (trace in together and index in together))
    ]
    return list(dict.fromkeys(alike))


def _on(axes: tuple[int, int]) -> dict[str, str]:
    """The fields `xref` and `yref` of a Plotly shape, for the numbers of an x axis and a y axis."""
    return {f"{letter}ref": f"{letter}{number if number > 1 else ''}" for letter, number in zip("xy", axes, strict=True)}


def _place(drawn: Any, index: int) -> tuple[float, float]:
    """The x and y of a point or of the end of a bar, in units of the axes. If the axis has categories, it is `index`."""
    across, up = (index if isinstance(value, str) else float(value) for value in (drawn.x[index], drawn.y[index]))
    return across, up


def _mark_of_bar(figure: go.Figure, bar: Any, index: int) -> list[dict[str, Any]]:
    """A frame around a part of a stacked bar, or a ring around the end of a bar, which can be one of a group."""
    layout: Any = figure.layout
    traces: list[Any] = list(figure.data)
    bars = [other for other in traces if other.type == "bar" and axes_of(other) == axes_of(bar)]
    number, lies = next(number for number, other in enumerate(bars) if other is bar), bar.orientation == "h"
    if layout.barmode == "stack":
        first, last = (sum(float((other.x if lies else other.y)[index]) for other in bars[: number + more]) for more in (0, 1))
        ends = {"x0": first, "x1": last} if lies else {"y0": first, "y1": last}
        return [shape | ends for shape in framed(index, index, axes_of(bar))]
    gap = BAR_GAP if layout.bargap is None else layout.bargap
    aside = (number - (len(bars) - 1) / 2) * (1 - gap) / len(bars)
    across, up = _place(bar, index)
    return _ring(across + aside * (not lies), up + aside * lies, axes_of(bar))


def _ring(x: float, y: float, axes: tuple[int, int]) -> list[dict[str, Any]]:
    """A ring around a point, as two Plotly shapes; `axes` are the numbers of the x axis and of the y axis, from 1. Empty if `x`
    or `y` is NaN or infinite."""
    if not np.isfinite([x, y]).all():
        return []
    place = {"type": "circle", "xanchor": x, "yanchor": y, "xsizemode": "pixel", "ysizemode": "pixel", **_on(axes)}
    place |= {"x0": -RING, "x1": RING, "y0": -RING, "y1": RING}
    return [place | {"line": {"color": color, "width": width}} for color, width in (("black", 4), ("white", 2))]
