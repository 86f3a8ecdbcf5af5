"""Figure of a whole layer: every tensor with its name and shape, all to one scale, and lines from each tensor to those computed
from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.arrangement import LETTER, Box, Length, Size
from transformer.figures.labels import LABELS
from transformer.figures.mosaic import hatch
from transformer.figures.panels import Panel, TensorView, strongest
from transformer.figures.theme import KIND_COLORS, LINE, MASKED, ROLE_COLORS, SIGNED, WEIGHTS, built, escaped

# All lengths are in px of a figure of the given width. The axes of the figure have the same unit.
WIDTH, TILES_WIDTH = 720, 960
WIDEST, HIGHEST, LEAST = 200, 110, 7  # most width, most height and least size of the area of a tensor's cells
CAPTION, PART, SPACE, EDGE = 38, 28, 30, 10  # space for name and shape, for a part's title, between tensors, in a frame
WORDS = 12
# Space beside the tensors: to the left for the residual connection, to the right for lines around other tensors.
LEFT, RIGHT = 30, 24
SOURCE, FALL, TURN = 38, 36, 22  # height of a source; space between two rows, and between two lines of a chain
APART, HEAD = 5, 4  # between parallel lines; half the width of an arrowhead


class Source(NamedTuple):
    """A tensor of another part that a part is computed from: its path, its role for this part, and its title."""

    path: str
    role: str
    title: str


@dataclass(frozen=True)
class Part:
    """A part of a layer as a flow of tensors.

    Attributes:
        title: the title of the part; empty to draw none.
        sources: the tensors of other parts that this part is computed from.
        rows: rows from top to bottom, of chains side by side. In a chain, each tensor is computed from the one before it.
        lines: the paths of two tensors, the second of which is computed from the first, except within a chain.
        residual: the same for the residual connections around the part.
    """

    title: str
    sources: Sequence[Source]
    rows: Sequence[Sequence[Sequence[TensorView]]]
    lines: Sequence[tuple[str, str]] = ()
    residual: Sequence[tuple[str, str]] = ()

    @property
    def views(self) -> list[TensorView]:
        return [view for row in self.rows for chain in row for view in chain]


class _Spot(NamedTuple):
    """Position of a tensor's cells: left, top, width and height; and the row of its part that they are in."""

    view: TensorView
    left: Length
    top: Length
    wide: Length
    high: Length
    row: int = 0


def layer_figure(
    parts: Sequence[Part], width: int = WIDTH, labels: Mapping[str, str] = LABELS, selected: str | None = None
) -> go.Figure:
    """Every tensor of a layer as a heatmap, all to one scale, with lines from each tensor to those computed from it.

    The branches of queries, keys and values each have a frame in their own colour. Heads are stacked vertically. If a pixel
    covers several numbers, it shows the number of greatest magnitude. Each tensor has its own colour scale. A tensor is at
    least 7 px wide and 7 px high. The `meta` of each heatmap is the path of its tensor.

    Args:
        parts: the parts of the layer in order.
        width: width of the figure in px. On a wider page, all of it is stretched equally.
        labels: words of the figure.
        selected: path of a tensor with a frame.
    """
    sheet = _Sheet(width, labels, _scale([view for part in parts for view in part.views], LEAST))
    for part in parts:
        sheet.draw(part, selected)
    return sheet.figure()


def tiles_figure(rows: Mapping[str, Sequence[TensorView]], cell: int, labels: Mapping[str, str] = LABELS) -> go.Figure:
    """Tensors as heatmaps, all to one scale, in rows that have titles.

    Args:
        rows: title → the tensors of a row, which wraps.
        cell: px of a cell if there is enough space; otherwise cells are smaller.
        labels: words of the figure.
    """
    sheet = _Sheet(TILES_WIDTH, labels, _scale([view for row in rows.values() for view in row], cell))
    for title, row in rows.items():
        sheet.title(title)
        _, sheet.top = sheet.chain(row, (1.0, sheet.top), TILES_WIDTH)
    return sheet.figure()


def _scale(views: Sequence[TensorView], cell: int) -> Size:
    """Width and height of a cell with which the widest and the highest tensor still fit."""
    rows, columns = zip(*(_extent(view) for view in views), strict=True)
    return min(1.0 * cell, WIDEST / max(columns)), min(1.0 * cell, HIGHEST / max(rows))


def _extent(view: TensorView) -> tuple[int, int]:
    """The number of rows and columns of a tensor when all its heads are drawn."""
    tiles, rows, columns = view.panel.values.shape
    return (rows, tiles * columns) if view.panel.strip else (tiles * rows, columns)


class _Sheet:
    """A figure that grows from top to bottom."""

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
            self.notes.append(_note(f"<b>{escaped(title)}</b>", 0, self.top, "top", 14))
            self.top += PART

    # --- a part of a layer ------------------------------------------------------------------------------------------------

    def draw(self, part: Part, selected: str | None) -> None:
        """Draw a part below what is drawn, with its lines."""
        self.title(part.title)
        boxes: dict[str, Box] = {}  # path → the frame that its lines begin at
        rows: dict[str, int] = {}  # path → number of its row; −1 for a source
        middles: dict[str, Length] = {}  # path → middle of its cells, where its lines end
        self._sources(part.sources, boxes)
        for path, box in boxes.items():
            rows[path], middles[path] = -1, (box[0] + box[2]) / 2
        for index, row in enumerate(part.rows):
            branches = any(view.branch for chain in row for view in chain)
            inner = self.width - LEFT - RIGHT
            column = (inner - EDGE * (len(row) - 1)) / len(row)
            bottom = self.top
            frames: list[tuple[Sequence[TensorView], Length]] = []
            for place, chain in enumerate(row):
                left = LEFT + place * (column + EDGE)
                inside = (left + EDGE, self.top + WORDS + 2 * EDGE) if branches else (left, self.top)
                spots, end = self.chain(chain, inside, left + column - EDGE * branches)
                bottom = max(bottom, end)
                frames.append((chain, left))
                for spot in spots:
                    path = spot.view.path
                    boxes[path] = (spot.left, spot.top, spot.left + self._room(spot.view), spot.top + spot.high + CAPTION)
                    rows[path], middles[path] = index, spot.left + spot.wide / 2
                    if path == selected:
                        around = (spot.left - 3, spot.top - 3, spot.left + spot.wide + 3, spot.top + spot.high + 3)
                        self.shapes.append(_frame(around, KIND_COLORS["decoder"], 3))
            for chain, left in frames if branches else ():
                branch, box = chain[0].branch or "query", (left, self.top, left + column, bottom)
                self.shapes.append(_frame(box, ROLE_COLORS[branch], 2))
                name = f"<b>{escaped(self.labels[f'branch_{branch}'])}</b>"
                self.notes.append(_note(name, left + 6, self.top + 4, "top", WORDS))
                for view in chain:
                    boxes[view.path], middles[view.path] = box, left + column / 2
            self.top = bottom + FALL
        self._lines(part, boxes, rows, middles)
        self.top += EDGE - FALL

    def _sources(self, sources: Sequence[Source], boxes: dict[str, Box]) -> None:
        """Draw the sources of a part, each as a heatmap of one cell, so that it can be pointed at."""
        left: Length = LEFT
        for source in sources:
            wide = LETTER * max(len(source.role), len(source.title)) + 2 * EDGE
            box = (left, self.top, left + wide, self.top + SOURCE)
            boxes[source.path] = box
            grid = {"x0": left + wide / 2, "dx": wide, "y0": self.top + SOURCE / 2, "dy": SOURCE, "z": [[0]]}
            scale = {"colorscale": [[0, MASKED], [1, MASKED]], "showscale": False}
            hover = f"<b>{escaped(source.role)}</b><br>{escaped(source.title)}<extra></extra>"
            self.traces.append({"type": "heatmap", "meta": source.path, "hovertemplate": hover, **grid, **scale})
            words = f"<b>{escaped(source.role)}</b><br>{escaped(source.title)}"
            self.notes.append(_note(words, left + EDGE, self.top + SOURCE / 2, "middle", WORDS))
            left += wide + SPACE
        if sources:
            self.top += SOURCE + FALL

    def _lines(
        self,
        part: Part,
        boxes: Mapping[str, Box],
        rows: Mapping[str, int],
        middles: Mapping[str, Length],
    ) -> None:
        branches = {view.path: view.branch for view in part.views}
        for line in part.lines:
            start, end = line
            meeting = [other for other in part.lines if other[1] == end]
            offset = (meeting.index(line) - (len(meeting) - 1) / 2) * 2 * APART
            begins = list(dict.fromkeys(first for first, _ in part.lines)).index(start)
            x, top = middles[end] + offset, boxes[end][1]
            lane = top - FALL / 2 + (begins % 3 - 1) * APART
            right, bottom = boxes[start][2:]
            if rows[end] == rows[start] + 1:  # nothing is between the two
                points = [(middles[start], bottom), (middles[start], lane), (x, lane), (x, top)]
            else:
                aside = self.width - RIGHT / 2
                middle = (boxes[start][1] + bottom) / 2
                points = [(right, middle), (aside, middle), (aside, lane), (x, lane), (x, top)]
            branch = branches.get(start)
            self._arrow(points, ROLE_COLORS[branch] if branch else LINE, 2)
        for start, end in part.residual:
            (left, top, _, bottom), (x, above, _, _) = boxes[start], boxes[end]
            self._arrow(
                [(left, (top + bottom) / 2), (LEFT / 3, (top + bottom) / 2), (LEFT / 3, above + 8), (x, above + 8)], LINE, 4
            )

    def _arrow(self, points: Sequence[Size], color: str, width: int) -> None:
        """A line with an arrowhead at its end."""
        (x, y), (before, above) = points[-1], points[-2]
        down = x == before
        path = " L ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        line = {"color": color, "width": width}
        self.shapes.append({"type": "path", "path": f"M {path}", "line": line})
        back = (y - 2 * HEAD if y > above else y + 2 * HEAD) if down else (x - 2 * HEAD if x > before else x + 2 * HEAD)
        sides = [(x - HEAD, back), (x + HEAD, back)] if down else [(back, y - HEAD), (back, y + HEAD)]
        corners = " L ".join(f"{x:.1f},{y:.1f}" for x, y in [(x, y), *sides])
        self.shapes.append({"type": "path", "path": f"M {corners} Z", "line": {"width": 0}, "fillcolor": color})

    # --- tensors ----------------------------------------------------------------------------------------------------------

    def chain(self, views: Sequence[TensorView], corner: Size, end: Length) -> tuple[list[_Spot], Length]:
        """Draw tensors side by side, each with its caption; returns their positions and the bottom of the lowest.

        Args:
            corner: left and top.
            end: where the next tensor goes into the next line.
        """
        (start, top), spots = corner, list[_Spot]()
        left, lowest = start, top
        for view in views:
            wide, high = self._size(view)
            if left > start and left + self._room(view) > end:
                left, top = start, lowest + TURN
            spots.append(_Spot(view, left, top, wide, high))
            lowest = max(lowest, top + high + CAPTION)
            left += self._room(view) + SPACE
        for spot in spots:
            self.traces += _drawn(spot, self.labels)
            self.shapes.append(_frame((spot.left, spot.top, spot.left + spot.wide, spot.top + spot.high), LINE, 1))
            caption = f"{escaped(spot.view.title)}<br>{escaped(spot.view.shape)}"
            self.notes.append(_note(caption, spot.left, spot.top + spot.high + 2, "top", WORDS))
        for before, after in pairwise(spots):
            if after.left > before.left:
                self.notes.append(_note("→", after.left - SPACE / 2, after.top + 12, "middle", 16) | {"xanchor": "center"})
            else:
                self.notes.append(_note("↓", after.left, after.top - TURN / 2, "middle", 16))
        return spots, lowest

    def _size(self, view: TensorView) -> Size:
        """Width and height of all cells of a tensor."""
        rows, columns = _extent(view)
        return max(LEAST, columns * self.scale[0]), max(LEAST, rows * self.scale[1])

    def _room(self, view: TensorView) -> Length:
        """The width of a tensor with its caption."""
        return max(self._size(view)[0], LETTER * max(len(view.title), len(view.shape)))


def _drawn(spot: _Spot, labels: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A hatched layer of the masked cells, if there are any, then the layer of numbers."""
    view, panel = spot.view, spot.view.panel
    rows, columns = max(1, int(spot.high)), max(1, int(spot.wide))
    hidden = ~np.isfinite(panel.values) if panel.hidden is None else panel.hidden | ~np.isfinite(panel.values)
    values = strongest(_flat(panel, np.where(hidden, 0, panel.values).astype(np.float32)), rows, columns)
    masked = strongest(_flat(panel, (~hidden).astype(np.float32)), rows, columns) == 0
    down, across = spot.high / len(values), spot.wide / values.shape[1]
    grid = {"type": "heatmap", "x0": spot.left + across / 2, "dx": across, "y0": spot.top + down / 2, "dy": down}
    grid |= {"showscale": False, "hoverongaps": False, "meta": view.path}
    name = f"<b>{escaped(view.title)}</b><br>{escaped(view.shape)}"
    if masked.any():
        clear = {"colorscale": [[0, "rgba(0, 0, 0, 0)"], [1, MASKED]], "zmin": 0, "zmax": 1}
        yield grid | clear | {"z": masked.astype(np.uint8), "hovertemplate": f"{name}<br>{labels['masked']}<extra></extra>"}
    shown = {"z": np.where(masked, np.float32(np.nan), values)}
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


def _flat(panel: Panel, values: Float[np.ndarray, "tile row column"]) -> Float[np.ndarray, "down across"]:
    """One matrix of all heads: stacked vertically, or side by side if a vector was split into heads."""
    tiles, rows, columns = values.shape
    if panel.strip:
        return values.transpose(1, 0, 2).reshape(rows, tiles * columns)
    return values.reshape(tiles * rows, columns)


def _frame(box: Box, color: str, width: int) -> dict[str, Any]:
    left, top, right, bottom = box
    return {"type": "rect", "x0": left, "x1": right, "y0": top, "y1": bottom, "line": {"color": color, "width": width}}


def _note(text: str, x: Length, y: Length, anchor: str, size: int) -> dict[str, Any]:
    place = {"x": x, "y": y, "xref": "x", "yref": "y", "xanchor": "left", "yanchor": anchor}
    return {"text": text, "showarrow": False, "align": "left", "borderpad": 0, "font": {"size": size}, **place}
