"""The numbers of a figure as a table."""

import html
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

# The `meta` of a trace whose horizontal values are in `customdata`, because its axis has a scale that Plotly does not have.
OWN_SCALE = {"values": "customdata"}
DRAWN = ("heatmap", "bar", "scatter", "scattergl")


def has_numbers(figure: go.Figure) -> bool:
    """Whether a figure has a trace whose numbers `numbers` can read: a heatmap, bars, lines or points."""
    return any(trace.type in DRAWN for trace in traces(figure))


def numbers(figure: go.Figure) -> pd.DataFrame:
    """The numbers of a figure as a table, in the precision in which they are drawn.

    One heatmap, or several on the same axes, become a matrix as drawn: rows down, columns across, and masked cells empty. All
    other figures become a table with one row for each cell, bar or point. Columns `picture` and `series` name the subplot and
    the series of each row, if these have names. In figures without heatmaps, the columns of the numbers have the titles of the
    axes, or `x` and `y` if the axes have no titles.
    """
    drawn = traces(figure)
    heatmaps = [trace for trace in drawn if trace.type == "heatmap"]
    if heatmaps and len(heatmaps) == len(drawn) and len({axes_of(trace) for trace in heatmaps}) == 1:
        return _matrix(heatmaps[-1])
    names = picture_names(figure)
    lines: list[tuple[Any, ...]] = []
    for trace in drawn:
        if trace.type not in DRAWN or is_mask(trace, heatmaps):
            continue
        picture = names.get(axes_of(trace), "")
        if trace.type == "heatmap":
            table = _matrix(trace).stack().dropna().reset_index()
            lines += [(picture, "", row, column, value) for row, column, value in table.itertuples(index=False)]
        else:
            lines += [(picture, plain(trace.name or ""), x, "", y) for x, y in points(trace)]
    frame = pd.DataFrame(lines, columns=["picture", "series", "row", "column", "value"])
    frame = frame.loc[:, (frame != "").any()].rename_axis("number")
    if heatmaps:
        return frame
    across, up = _title(figure, "x"), _title(figure, "y")
    return frame.rename(columns={"row": across, "value": up} if across != up else {"row": "x", "value": "y"})


def _title(figure: go.Figure, axis: str) -> str:
    """The title that all axes of a direction, `x` or `y`, share; the letter of the direction if they have no title, or
    several."""
    titles = {plain(each.title.text) for each in getattr(figure, f"select_{axis}axes")() if each.title.text}
    (title,) = titles if len(titles) == 1 else (axis,)
    return title if title not in ("picture", "series", "column") else axis


def traces(figure: go.Figure) -> list[Any]:
    """The traces of a figure that draw numbers, in the order in which they are drawn. Traces of text only are left out, and
    marks that do not react to the pointer, such as rings around points of other traces."""
    drawn: list[Any] = list(figure.data)
    return [trace for trace in drawn if trace.type != "scatter" or not _only_marks(trace)]


def _only_marks(trace: Any) -> bool:
    """Whether a scatter trace has only text, or marks that do not react to the pointer."""
    return trace.mode == "text" or (trace.hoverinfo == "skip" and "lines" not in (trace.mode or "lines"))


def _matrix(trace: Any) -> pd.DataFrame:
    values = np.asarray(trace.z)
    rows, columns = (
        range(count) if names is None else [plain(name) for name in names]
        for names, count in zip((trace.y, trace.x), values.shape, strict=True)
    )
    return pd.DataFrame(values, pd.Index(rows), pd.Index(columns))


def points(trace: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (x, y) of each point or bar of a trace. If x or y is missing, the index from 0 takes its place. If `trace.meta` is
    `OWN_SCALE`, x is the value in `customdata`, not the place on the axis."""
    horizontal = trace.customdata if trace.meta == OWN_SCALE else trace.x
    across, up = ([] if side is None else list(side) for side in (horizontal, trace.y))
    for x, y in zip(across or range(len(up)), up or range(len(across)), strict=False):
        yield plain(x), plain(y)


def is_mask(trace: Any, heatmaps: list[Any]) -> bool:
    """Whether a trace is a heatmap that only marks masked cells: another of `heatmaps` on the same axes is drawn after it."""
    return trace.type == "heatmap" and [other for other in heatmaps if axes_of(other) == axes_of(trace)][-1] is not trace


def axes_of(trace: Any) -> tuple[int, int]:
    """The numbers of the x axis and of the y axis of a trace: (2, 3) for `x2` and `y3`. Subplots can share an axis."""
    horizontal, vertical = (int((axis or "x")[1:] or 1) for axis in (trace.xaxis, trace.yaxis))
    return horizontal, vertical


def picture_names(figure: go.Figure) -> dict[tuple[int, int], str]:
    """(x axis, y axis) of each subplot, as `axes_of` numbers them → the title of the subplot. Titles are annotations without an
    arrow, in the order of the axes. If there is not one title for each subplot, the subplots are numbered from 1. Empty for a
    figure with a single subplot."""
    layout: Any = figure.layout
    titles = [plain(note.text) for note in layout.annotations if note.text and not note.showarrow]
    axes = sorted({axes_of(trace) for trace in traces(figure) if trace.type in DRAWN})
    if len(titles) != len(axes):
        titles = [str(index + 1) for index in range(len(axes))]
    return dict(zip(axes, titles, strict=True)) if len(axes) > 1 else {}


def plain(text: Any) -> Any:
    """A label without Plotly's markup. A value that is not a text is returned unchanged."""
    return html.unescape(re.sub(r"<br>", " ", re.sub(r"</?(b|i|sub|sup)>", "", text))) if isinstance(text, str) else text
