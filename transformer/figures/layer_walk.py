"""Figure of a whole layer: every tensor in order, with its name and shape, and cells of the same size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.arrangement import LETTER, Box, Length, Size
from transformer.figures.labels import LABELS
from transformer.figures.mosaic import hatch
from transformer.figures.panels import TensorView, strongest
from transformer.figures.theme import LINE, MASKED, ROLE_COLORS, SIGNED, WEIGHTS, escaped, finished

# All lengths are in px of a figure of the given width. The axes of the figure have the same unit.
WIDTH = 960
WIDEST, HIGHEST, LEAST = 280, 110, 8  # most width, most height and least size of the area of a tensor's cells
CAPTION, PART, SPACE, EDGE = 38, 28, 30, 10  # space for name and shape, for a part's title, between tensors, in a frame
WORDS = 12


@dataclass(frozen=True)
class _Spot:
    """Position of a tensor's cells in the figure: left, top, width and height."""

    view: TensorView
    left: Length
    top: Length
    wide: Length
    high: Length


def layer_figure(
    parts: Mapping[str, Sequence[TensorView]],
    width: int = WIDTH,
    labels: Mapping[str, str] = LABELS,
    cell: int = LEAST,
    arrows: bool = True,
) -> go.Figure:
    """Every tensor of a layer as a heatmap, in order, with cells of the same size in all of them.

    The branches of queries, keys and values each have a frame in their own colour. Heads are stacked vertically. If a pixel
    covers several numbers, it shows the number of greatest magnitude. Each tensor has its own colour scale. A tensor is at
    least 8 px wide and 8 px high.

    Args:
        parts: title of a sub-layer → its tensors in order.
        width: width of the figure in px.
        labels: words of the figure.
        cell: px of a cell if there is enough space; otherwise cells are smaller.
        arrows: whether to draw arrows between tensors, because each is computed from the tensor before it.
    """
    views = [view for part in parts.values() for view in part]
    rows, columns = zip(*(_extent(view) for view in views), strict=True)
    scale = min(1.0 * cell, WIDEST / max(columns)), min(1.0 * cell, HIGHEST / max(rows))
    traces: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    top = 0.0
    for title, part in parts.items():
        notes.append(_note(f"<b>{escaped(title)}</b>", 0, top, "top", 14))
        top += PART if title else 0
        spots, frames, top = _placed(part, scale, top, width)
        for branch, box in frames:
            shapes.append(_frame(box, ROLE_COLORS[branch], 2))
            notes.append(_note(f"<b>{escaped(labels[f'branch_{branch}'])}</b>", box[0] + 4, box[1] + 2, "top", WORDS))
        for spot in spots:
            traces += _drawn(spot, labels)
            shapes.append(_frame((spot.left, spot.top, spot.left + spot.wide, spot.top + spot.high), LINE, 1))
            caption = f"{escaped(spot.view.title)}<br>{escaped(spot.view.shape)}"
            notes.append(_note(caption, spot.left, spot.top + spot.high + 2, "top", WORDS))
        for before, after in pairwise(spots) if arrows else ():
            if before.view.branch == after.view.branch and after.left > before.left:
                notes.append(_note("→", after.left - SPACE / 2, after.top + 12, "middle", 16) | {"xanchor": "center"})
    axis = {"visible": False, "showgrid": False, "zeroline": False, "automargin": False}
    layout = {
        "xaxis": {**axis, "range": [0, width]},
        "yaxis": {**axis, "range": [top, 0]},
        "shapes": shapes,
        "annotations": notes,
        "hovermode": "closest",
    }
    figure = finished(go.Figure(traces, layout), height=int(top))
    return figure.update_layout(margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0}, meta={"least_width": width})


def _extent(view: TensorView) -> tuple[int, int]:
    """The number of rows and columns of a tensor when all its heads are drawn."""
    tiles, rows, columns = view.panel.values.shape
    return (rows, tiles * columns) if view.panel.strip else (tiles * rows, columns)


def _size(view: TensorView, scale: Size) -> tuple[Length, Length, Length]:
    """Width and height of all cells of a tensor, and its width including the caption."""
    rows, columns = _extent(view)
    wide, high = max(LEAST, columns * scale[0]), max(LEAST, rows * scale[1])
    return wide, high, max(wide, LETTER * max(len(view.title), len(view.shape)))


Branches = list[tuple[str, Box]]


def _placed(part: Sequence[TensorView], scale: Size, top: Length, width: int) -> tuple[list[_Spot], Branches, Length]:
    """The positions of a part's tensors, the frames of its branches, and the lower end of the part."""
    spots: list[_Spot] = []
    frames: Branches = []
    left, tallest = 1.0, 0.0  # next position in the present line, and the line's height so far
    for branch, group in groupby(part, lambda view: view.branch):
        # A branch stays on one line; other tensors wrap to the next line one by one.
        for views in [list(group)] if branch else [[view] for view in group]:
            sizes = [_size(view, scale) for view in views]
            wide = sum(room for _, _, room in sizes) + SPACE * (len(views) - 1)
            high = max(high for _, high, _ in sizes) + CAPTION
            if left > 1 and (left + wide > width or (branch is None and len(frames) and spots[-1].view.branch)):
                left, top, tallest = 1.0, top + tallest + EDGE, 0.0
            inside, head = (left + EDGE, top + WORDS + EDGE) if branch else (left, top)
            for view, (cells, height, room) in zip(views, sizes, strict=True):
                spots.append(_Spot(view, inside, head, cells, height))
                inside += room + SPACE
            end = inside - SPACE + (EDGE if branch else 0)
            if branch:
                frames.append((branch, (left, top, end, head + high)))
            left, tallest = end + (EDGE if branch else SPACE), max(tallest, head - top + high)
    return spots, frames, top + tallest + EDGE


def _drawn(spot: _Spot, labels: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A hatched layer of the masked cells, if there are any, then the layer of numbers."""
    view, panel = spot.view, spot.view.panel
    rows, columns = max(1, int(spot.high)), max(1, int(spot.wide))
    hidden = ~np.isfinite(panel.values) if panel.hidden is None else panel.hidden | ~np.isfinite(panel.values)
    values = strongest(_flat(view, np.where(hidden, 0, panel.values).astype(np.float32)), rows, columns)
    masked = strongest(_flat(view, (~hidden).astype(np.float32)), rows, columns) == 0
    down, across = spot.high / len(values), spot.wide / values.shape[1]
    grid = {"type": "heatmap", "x0": spot.left + across / 2, "dx": across, "y0": spot.top + down / 2, "dy": down}
    grid |= {"showscale": False, "hoverongaps": False}
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


def _flat(view: TensorView, values: Float[np.ndarray, "tile row column"]) -> Float[np.ndarray, "down across"]:
    """One matrix of all heads: stacked vertically, or side by side if a vector was split into heads."""
    tiles, rows, columns = values.shape
    if view.panel.strip:
        return values.transpose(1, 0, 2).reshape(rows, tiles * columns)
    return values.reshape(tiles * rows, columns)


def _frame(box: Box, color: str, width: int) -> dict[str, Any]:
    left, top, right, bottom = box
    return {"type": "rect", "x0": left, "x1": right, "y0": top, "y1": bottom, "line": {"color": color, "width": width}}


def _note(text: str, x: Length, y: Length, anchor: str, size: int) -> dict[str, Any]:
    place = {"x": x, "y": y, "xref": "x", "yref": "y", "xanchor": "left", "yanchor": anchor}
    return {"text": text, "showarrow": False, "align": "left", "borderpad": 0, "font": {"size": size}, **place}
