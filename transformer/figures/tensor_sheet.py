"""Figures of tensors as heatmaps, all with cells of one size, each with its name, shape and axes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.arrangement import LETTER, Box, Length, Size
from transformer.figures.labels import LABELS
from transformer.figures.mosaic import hatch
from transformer.figures.panels import Panel, TensorView, strongest, strongest_place
from transformer.figures.theme import LINE, MASKED, SIGNED, WEIGHTS, built, escaped

# All lengths are in px of a figure of the given width. The axes of the figure have the same unit.
TILES_WIDTH = 960
WIDEST, HIGHEST, LEAST = 200, 110, 7  # most width, most height and least size of the area of a tensor's cells
CAPTION, TITLE = 53, 28  # space for the name, shape and axes of a tensor; for a title
SPACE, TURN = 30, 22  # between tensors; between their lines
WORDS = 12  # px: size of the letters


class Spot(NamedTuple):
    """The area of a tensor's cells in a figure: left, top, width and height in px."""

    view: TensorView
    left: Length
    top: Length
    wide: Length
    high: Length


def tiles_figure(rows: Mapping[str, Sequence[TensorView]], cell: int, labels: Mapping[str, str] = LABELS) -> go.Figure:
    """Tensors as heatmaps with cells of one size, in rows that have titles.

    Args:
        rows: title → the tensors of a row. A row wider than 960 px continues below.
        cell: width and height of a cell in px if there is enough space; otherwise cells are smaller.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    sheet = Sheet(TILES_WIDTH, labels, scale_of([view for row in rows.values() for view in row], cell))
    for title, row in rows.items():
        sheet.title(title)
        _, sheet.top = sheet.chain(row, (1.0, sheet.top), TILES_WIDTH)
    return sheet.figure()


def scale_of(views: Sequence[TensorView], cell: int) -> Size:
    """Width and height of a cell in px, at most `cell`, with which no tensor is wider than 200 px or higher than 110 px."""
    rows, columns = zip(*(_extent(view) for view in views), strict=True)
    return min(1.0 * cell, WIDEST / max(columns)), min(1.0 * cell, HIGHEST / max(rows))


def _extent(view: TensorView) -> tuple[int, int]:
    """The number of rows and columns of a tensor when all its heads are drawn."""
    tiles, rows, columns = view.panel.values.shape
    return (rows, tiles * columns) if view.panel.strip else (tiles * rows, columns)


class Sheet:
    """A figure that grows from top to bottom: `top` is its height so far, `scale` the width and height of a cell, all in px."""

    def __init__(self, width: int, labels: Mapping[str, str], scale: Size) -> None:
        self.width, self.labels, self.scale = width, labels, scale
        self.top: Length = 0.0
        self.traces: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []

    def figure(self) -> go.Figure:
        axis = {"visible": False, "showgrid": False, "zeroline": False, "automargin": False, "fixedrange": True}
        layout = {
            "xaxis": {**axis, "range": [0, self.width]},
            "yaxis": {**axis, "range": [self.top, 0]},
            "shapes": self.shapes,
            "annotations": self.notes,
            "hovermode": "closest",
        }
        margin = {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0}
        return built(self.traces, layout, int(self.top), margin=margin, meta={"least_width": self.width})

    def title(self, title: str) -> None:
        if title:
            self.notes.append(note(f"<b>{escaped(title)}</b>", 0, self.top, "top", 14))
            self.top += TITLE

    def chain(self, views: Sequence[TensorView], corner: Size, end: Length) -> tuple[list[Spot], Length]:
        """Draw tensors side by side, each with its caption; returns their positions and the bottom of the lowest caption, in
        px.

        Args:
            corner: left and top of the first tensor.
            end: right end of a line. A tensor that would extend beyond it is drawn in the next line.
        """
        (start, top), spots = corner, list[Spot]()
        left, lowest = start, top
        for view in views:
            wide, high = self._size(view)
            if left > start and left + self.room(view) > end:
                left, top = start, lowest + TURN
            spots.append(Spot(view, left, top, wide, high))
            lowest = max(lowest, top + high + CAPTION)
            left += self.room(view) + SPACE
        for spot in spots:
            self.traces += _drawn(spot, self.labels)
            self.shapes.append(frame((spot.left, spot.top, spot.left + spot.wide, spot.top + spot.high), LINE, 1))
            caption = "<br>".join(map(escaped, _caption(spot.view)))
            self.notes.append(note(caption, spot.left, spot.top + spot.high + 2, "top", WORDS))
        for before, after in pairwise(spots):
            if after.left > before.left:
                self.notes.append(note("→", after.left - SPACE / 2, after.top + 12, "middle", 16) | {"xanchor": "center"})
            else:
                self.notes.append(note("↓", after.left, after.top - TURN / 2, "middle", 16))
        return spots, lowest

    def _size(self, view: TensorView) -> Size:
        """Width and height of all cells of a tensor."""
        rows, columns = _extent(view)
        return max(LEAST, columns * self.scale[0]), max(LEAST, rows * self.scale[1])

    def room(self, view: TensorView) -> Length:
        """The width in px of a tensor with its caption."""
        return max(self._size(view)[0], LETTER * max(map(len, _caption(view))))


def _caption(view: TensorView) -> list[str]:
    """The lines below a tensor: its title, its shape, and which axis goes down and which goes across."""
    _, rows, columns = view.panel.axes
    named = ((rows, "↓"), (columns, "→"))
    return [view.title, view.shape, " ".join(f"{name} {sign}" for name, sign in named if name not in ("", "1", "id"))]


def _drawn(spot: Spot, labels: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the traces of a tensor, the lowest first: a grey heatmap of masked cells, the numbers, and the hatch over masked
    cells. Without masked cells, the numbers alone."""
    view, panel = spot.view, spot.view.panel
    rows, columns = max(1, int(spot.high)), max(1, int(spot.wide))
    hidden = panel.masked
    values = strongest(_flat(panel, np.where(hidden, 0, panel.values).astype(np.float32)), rows, columns)
    masked = strongest(_flat(panel, (~hidden).astype(np.float32)), rows, columns) == 0
    down, across = spot.high / len(values), spot.wide / values.shape[1]
    grid = {"type": "heatmap", "x0": spot.left + across / 2, "dx": across, "y0": spot.top + down / 2, "dy": down}
    grid |= {"showscale": False, "hoverongaps": False, "meta": view.path}
    name = f"<b>{escaped(view.title)}</b><br>{escaped(view.shape)}"
    if masked.any():
        clear = {"colorscale": [[0, "rgba(0, 0, 0, 0)"], [1, MASKED]], "zmin": 0, "zmax": 1}
        yield grid | clear | {"z": masked.astype(np.uint8), "hovertemplate": f"{name}<br>{labels['masked']}<extra></extra>"}
    shown: dict[str, Any] = {"z": np.where(masked, np.float32(np.nan), values)}
    if names := _row_names(view, len(values), labels):
        shown["customdata"] = [[row] * values.shape[1] for row in names]
        name += "<br>%{customdata}"
    if panel.scale in ("signed", "weights"):
        signed = panel.scale == "signed"
        shown |= {"zmin": -view.limit if signed else 0, "zmax": view.limit, "colorscale": SIGNED if signed else WEIGHTS}
        shown["hovertemplate"] = f"{name}<br>%{{z:.8~g}}<extra></extra>"
    else:
        color = view.color if panel.scale == "mask" else MASKED
        value = labels["open"] if panel.scale == "mask" else "%{z}"
        shown |= {"colorscale": [[0, color], [1, color]], "hovertemplate": f"{name}<br>{value}<extra></extra>"}
    yield grid | shown
    if masked.any():
        strokes = hatch(masked)
        strokes["x"] = spot.left + (strokes["x"] + 0.5) * across
        strokes["y"] = spot.top + (strokes["y"] + 0.5) * down
        yield strokes


def number_of_cell(
    figure: go.Figure, views: Iterable[TensorView], trace: int, row: int, column: int
) -> tuple[TensorView, tuple[int, int, int]] | None:
    """The number that a heatmap cell shows in a figure of tensors. A cell of a reduced tensor stands for several numbers and
    shows the number of greatest magnitude.

    Args:
        figure: a figure that `tiles_figure` or `layer_figure` returned.
        views: the tensors in the figure.
        trace, row, column: index of the Plotly trace (a heatmap) that has the cell, and the cell's row and column, from 0.

    Returns:
        The tensor, and (head, row, column) of the number in it, counted from 0; None if the cell shows no number of `views`.
    """
    heatmaps: Any = figure.data
    if not 0 <= trace < len(heatmaps):
        return None
    heatmap = heatmaps[trace]
    view = next((view for view in views if view.path == heatmap.meta), None)
    if view is None:
        return None
    flat = _flat(view.panel, np.where(view.panel.masked, np.float32(np.nan), view.panel.values))
    # A tensor of so many rows that are drawn as so many cells has this many rows in a cell (`strongest`); columns likewise.
    each = -(-flat.shape[0] // len(heatmap.z)), -(-flat.shape[1] // len(heatmap.z[0]))
    place = strongest_place(flat, (row, column), each)
    if place is None:
        return None
    _, rows, columns = view.panel.values.shape
    tile = place[1] // columns if view.panel.strip else place[0] // rows
    return view, (tile, place[0] % rows, place[1] % columns)


def frame_of_cell(figure: go.Figure, trace: int, row: int, column: int) -> list[dict[str, Any]]:
    """A frame around a heatmap cell, as shapes of a Plotly layout: a black line on a wider white line. `trace` is the index of
    the Plotly trace (a heatmap) with the cell; all three numbers count from 0."""
    heatmap: Any = figure.data[trace]
    left, top = heatmap.x0 + (column - 0.5) * heatmap.dx, heatmap.y0 + (row - 0.5) * heatmap.dy
    box = (left, top, left + heatmap.dx, top + heatmap.dy)
    return [frame(box, color, width) for color, width in (("white", 4), ("black", 2))]


def _row_names(view: TensorView, count: int, labels: Mapping[str, str]) -> list[str]:
    """A name for each row that is drawn, such as `head 2, query 3: cat`. Empty if the rows have no names, or if a row that is
    drawn stands for several rows."""
    tiles, rows, _ = view.panel.values.shape
    axis, tokens = view.panel.axes[1], view.labels(1) or [""] * rows
    stacked = 1 if view.panel.strip else tiles
    if count != stacked * rows or axis in ("", "1"):
        return []
    names = [f"{axis} {row}{token and ': '}{escaped(token)}" for row, token in enumerate(tokens)]
    heads = [f"{labels['head'].format(number=head + view.first_head)}, " if stacked > 1 else "" for head in range(stacked)]
    return [head + name for head in heads for name in names]


def _flat(panel: Panel, values: Float[np.ndarray, "tile row column"]) -> Float[np.ndarray, "down across"]:
    """One matrix of all heads: stacked vertically, or side by side if a vector was split into heads."""
    tiles, rows, columns = values.shape
    if panel.strip:
        return values.transpose(1, 0, 2).reshape(rows, tiles * columns)
    return values.reshape(tiles * rows, columns)


def frame(box: Box, color: str, width: int) -> dict[str, Any]:
    left, top, right, bottom = box
    return {"type": "rect", "x0": left, "x1": right, "y0": top, "y1": bottom, "line": {"color": color, "width": width}}


def note(text: str, x: Length, y: Length, anchor: str, size: int) -> dict[str, Any]:
    place = {"x": x, "y": y, "xref": "x", "yref": "y", "xanchor": "left", "yanchor": anchor}
    return {"text": text, "showarrow": False, "align": "left", "borderpad": 0, "font": {"size": size}, **place}
