"""All heads of a tensor as one matrix, with gaps (gutters) between heads, so that Plotly draws one heatmap for all heads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, UInt8

from transformer.figures.panels import MOST_COLUMNS, TensorView, strongest_place
from transformer.figures.theme import LABEL, LINE, MASKED, SIGNED, WEIGHTS, escaped

CLEAR = "rgba(0, 0, 0, 0)"


@dataclass(frozen=True, eq=False)
class Mosaic:
    """All heads of a tensor as one matrix, with empty rows and columns (gutters) between heads. The matrix of a head is a tile.

    Attributes:
        view: the tensor.
        values: the numbers; NaN in gutters and in masked cells.
        masked: True for cells that a mask hides, or whose number is not finite.
        heads: the head of each cell, counted from 1; 0 in gutters.
        rows, columns: name of each row and column in the hover text; empty in gutters.
        across: number of heads side by side.
        each: number of rows and of columns of the tensor that one cell stands for. A cell for several numbers is a bin.
    """

    view: TensorView
    values: Float[np.ndarray, "row column"]
    masked: Bool[np.ndarray, "row column"]
    heads: UInt8[np.ndarray, "row column"]
    rows: list[str]
    columns: list[str]
    across: int
    each: tuple[int, int]

    def place(self, x: int, y: int) -> tuple[int, int, int] | None:
        """(tile, row, column) in the tensor, from 0, of the number that the cell in column `x` and row `y` shows. A tile is the
        matrix of one head. A bin, which stands for several numbers, shows the one of greatest magnitude. None for a cell
        between heads, or outside the matrix."""
        rows, columns = self.heads.shape
        if not (0 <= x < columns and 0 <= y < rows) or not self.heads[y, x]:
            return None
        tile = int(self.heads[y, x]) - 1
        top, left = self._corner(tile)
        found = strongest_place(_shown(self.view)[tile], (y - top, x - left), self.each)
        return None if found is None else (tile, *found)

    def cell(self, tile: int, row: int, column: int) -> tuple[int, int] | None:
        """(x, y), column and row counted from 0, of the cell that stands for one number of the tensor. The number is in a tile
        (the matrix of one head), row and column, counted from 0. None if there is no such number."""
        sizes = self.view.panel.values.shape
        if not all(0 <= place < size for place, size in zip((tile, row, column), sizes, strict=True)):
            return None
        top, left = self._corner(tile)
        return left + column // self.each[1], top + row // self.each[0]

    def _corner(self, tile: int) -> tuple[int, int]:
        """The y and the x of the first cell of a tile (the matrix of one head)."""
        y, x = np.argwhere(self.heads == tile + 1).min(0)
        return int(y), int(x)


def mosaic(view: TensorView, across: int, gutters: tuple[int, int], labels: Mapping[str, str]) -> Mosaic:
    """The heads of a tensor as one matrix: `across` heads side by side. `gutters` are the numbers of empty rows and of empty
    columns between heads; `labels` are the fixed texts for names of rows and columns."""
    values, masked, each = _binned(view)
    tiles, height, width = values.shape
    lines = -(-tiles // across)
    down, right = height + gutters[0], width + gutters[1]
    shape = (lines * down - gutters[0], across * right - gutters[1])
    parts = np.full(shape, np.nan, np.float32), np.zeros(shape, bool), np.zeros(shape, np.uint8)
    for tile in range(tiles):
        line, place = divmod(tile, across)
        area = slice(line * down, line * down + height), slice(place * right, place * right + width)
        for part, content in zip(parts, (values[tile], masked[tile], tile + 1), strict=True):
            part[area] = content
    names = [_names(view, axis, each[axis - 1], labels) for axis in (1, 2)]
    rows = [*(names[0] + [""] * gutters[0]) * lines][: shape[0]]
    columns = [*(names[1] + [""] * gutters[1]) * across][: shape[1]]
    return Mosaic(view, *parts, rows, columns, across, each)


def _binned(view: TensorView) -> tuple[Float[np.ndarray, "tile down across"], Bool[np.ndarray, "..."], tuple[int, int]]:
    """Binned numbers (NaN for masked bins), the mask, and the number of rows and of columns in a bin."""
    shown = _shown(view)
    masked = np.isnan(shown)
    tiles, height, width = shown.shape
    each = -(-height // MOST_COLUMNS), -(-width // MOST_COLUMNS)
    if each == (1, 1):
        return shown, masked, each
    padding = ((0, 0), (0, -height % each[0]), (0, -width % each[1]))
    bins = np.pad(shown, padding, constant_values=np.nan)
    down, across = bins.shape[1] // each[0], bins.shape[2] // each[1]
    bins = bins.reshape(tiles, down, each[0], across, each[1]).swapaxes(2, 3).reshape(tiles, down, across, -1)
    strongest = np.where(np.isnan(bins), -1, np.abs(bins)).argmax(-1)[..., None]
    best = np.take_along_axis(bins, strongest, -1)[..., 0]
    return best, np.isnan(best), each


def _shown(view: TensorView) -> Float[np.ndarray, "tile row column"]:
    """The numbers of a view, with NaN in place of those that a mask hides or that are not finite."""
    return np.where(view.panel.masked, np.float32(np.nan), view.panel.values)


def _names(view: TensorView, axis: int, each: int, labels: Mapping[str, str]) -> list[str]:
    """The name of each row or column of a tile (the matrix of one head), such as `query 3: cat` or `d_ff 8`; for a bin, such as
    `d_ff 8–15`."""
    name, tokens = view.panel.axes[axis], view.labels(axis)
    count, first = view.panel.values.shape[axis], view.first_column if axis == 2 else 0
    if name in ("", "1"):
        return [""] * -(-count // each)
    if each > 1:
        ends = [(start, min(start + each, count) - 1) for start in range(0, count, each)]
        return [labels["bin"].format(axis=name, first=a + first, last=b + first, count=b - a + 1) for a, b in ends]
    if tokens is None:
        return [f"{name} {index + first}" for index in range(count)]
    return [f"{name} {index + first}: {escaped(token)}" for index, token in enumerate(tokens)]


def heatmaps(part: Mosaic, coloraxis: str | None, axes: dict[str, str], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The Plotly traces of a tensor, the lowest first: a grey heatmap of masked cells, the numbers, and the hatch over masked
    cells. Without masked cells, the numbers alone. `coloraxis` names a colour scale shared with other tensors; None for a scale
    of its own. `axes` has the names of the x and y axes."""
    view, panel = part.view, part.view.panel
    several = panel.values.shape[0] > 1
    lines = [f"<b>{escaped(view.title)}</b>", labels["head"].format(number="%{customdata}") if several else "", "%{y}", "%{x}"]
    if not part.rows[0]:
        lines.remove("%{y}")
    if not part.columns[0] or panel.scale == "ids":
        lines.remove("%{x}")
    place = "<br>".join(filter(None, lines))
    shared: dict[str, Any] = {"type": "heatmap", "showscale": False, "hoverongaps": False, **axes}
    if several:
        # `heads` counts from 1.
        shared["customdata"] = part.heads if view.first_head == 1 else part.heads.astype(np.int16) + (view.first_head - 1)
    traces: list[dict[str, Any]] = []
    if part.masked.any():
        value = labels["hidden"] if panel.scale == "mask" else labels["masked_value"].format(value=_masked_value(part))
        traces.append(
            shared
            | {
                "z": part.masked.astype(np.uint8),
                "colorscale": [[0, CLEAR], [1, MASKED]],
                "zmin": 0,
                "zmax": 1,
                "hovertemplate": f"{place}<br>{value}<extra></extra>",
            }
        )
    shown: dict[str, Any] = {"z": part.values, "hovertemplate": f"{place}<br>%{{z:.8~g}}<extra></extra>"}
    if panel.scale == "mask":
        open_cells = np.where(part.masked | (part.heads == 0), np.float32(np.nan), np.float32(1))
        shown |= {"z": open_cells, "colorscale": [[0, view.color], [1, view.color]]}
        shown["hovertemplate"] = f"{place}<br>{labels['open']}<extra></extra>"
    elif panel.scale == "ids":
        shown |= {"colorscale": [[0, LABEL], [1, LABEL]], "texttemplate": "%{z}", "xgap": 1, "ygap": 1}
        shown["textfont"] = {"color": "black"}
    elif coloraxis:
        shown["coloraxis"] = coloraxis
    else:
        signed = panel.scale == "signed"
        shown |= {"zmin": -view.limit if signed else 0, "zmax": view.limit, "colorscale": SIGNED if signed else WEIGHTS}
    traces.append(shared | shown)
    if part.masked.any():
        traces.append(hatch(part.masked) | axes)
    return traces


def _masked_value(part: Mosaic) -> str:
    """The number in the masked cells, as text. It is the same in all, because a mask fills all cells with one number."""
    panel = part.view.panel
    value = float(panel.values[panel.masked][0])
    return ("−∞" if value < 0 else "∞") if not np.isfinite(value) else f"{value:.8g}".replace("-", "−")


def hatch(masked: Bool[np.ndarray, "row column"]) -> dict[str, Any]:
    """A Plotly trace that hatches the cells where `masked` is True: one polygon with a fill pattern. Text in each cell would be
    a hundred times slower."""
    across: list[float | None] = []
    down: list[float | None] = []
    for top, bottom, left, right in _rectangles(masked):
        across += [left - 0.5, right - 0.5, right - 0.5, left - 0.5, None]
        down += [top - 0.5, top - 0.5, bottom - 0.5, bottom - 0.5, None]
    pattern = {"shape": "/", "size": 6, "solidity": 0.2, "fgcolor": LINE, "bgcolor": CLEAR, "fillmode": "replace"}
    return {
        "type": "scatter",
        "x": np.array(across, np.float32),
        "y": np.array(down, np.float32),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillpattern": pattern,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _rectangles(masked: Bool[np.ndarray, "row column"]) -> Sequence[tuple[int, int, int, int]]:
    """The masked cells as rectangles (top, bottom, left, right). Each is a run of cells within a row, merged with equal runs
    directly below it."""
    rectangles: list[tuple[int, int, int, int]] = []
    open_runs: dict[tuple[int, int], int] = {}
    for row in range(len(masked) + 1):
        edges = np.flatnonzero(np.diff(masked[row].astype(np.int8), prepend=0, append=0)) if row < len(masked) else []
        runs = {(int(left), int(right)) for left, right in zip(edges[::2], edges[1::2], strict=True)}
        ended = [run for run in open_runs if run not in runs]
        rectangles += [(open_runs.pop(run), row, *run) for run in ended]
        for run in runs:
            open_runs.setdefault(run, row)
    return rectangles
