"""Figure of how one tensor is computed: inputs, operation and result, with cells of the same size."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from transformer.figures.arrangement import (
    LABELLED_ROW,
    LINE_HEIGHT,
    Arrangement,
    Length,
    Place,
    Size,
    arrange,
    gutters,
    heading_width,
    heads_across,
    names_tokens,
    placed,
    room,
)
from transformer.figures.attention_figures import unsigned_zero
from transformer.figures.labels import LABELS
from transformer.figures.mosaic import Mosaic, heatmaps, mosaic
from transformer.figures.panels import TensorView
from transformer.figures.theme import LINE, SIGNED, WEIGHTS, built, escaped

WIDTH = 720
MOST_TICKS, TICK = 4, 30  # most ticks on an axis of dimensions, and the least px from one to the next
LONGEST_TOKEN = 12  # most characters of a token beside a row
FRAME = ({"color": "white", "width": 4}, {"color": "black", "width": 2})
SMALL, WORDS = 11, 12  # px of tick labels, and of titles


def stop_figure(
    inputs: Sequence[TensorView],
    operation: str,
    result: TensorView,
    width: int = WIDTH,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """How one tensor is computed: its inputs, the operation and the result. All tensors are heatmaps with cells of one size.

    Axes have their names, sizes and tokens. Hovering shows a number with up to 8 significant digits. Masked cells are hatched.
    A tensor of more than 256 rows or columns is binned on that axis: each bin shows its number of greatest magnitude. To draw
    some columns without bins, pick them with `TensorView.columns`. `panels.in_one_scale` gives several tensors the same colour
    scale.

    Args:
        inputs: the inputs in the order of the formula; may be empty.
        operation: the name of the operation from the inputs to the result.
        result: the computed tensor.
        width: width of the figure in px. On a wider page, all cells are widened in the same proportion. Below 520 px, the
            result is below the inputs.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    views = [*inputs, result]
    chosen = arrange(views, width)
    parts = [mosaic(view, heads_across(view, chosen), gutters(view, chosen), labels) for view in views]
    colored = [index for index, view in enumerate(views) if _is_colored(view)]
    shared = len({(views[index].panel.scale, views[index].limit) for index in colored}) == 1
    bars = colored[-1:] if shared else colored  # tensors with a colour bar below them
    rooms = [room(part, chosen, index in bars) for index, part in enumerate(parts)]
    places, sign, size = placed(parts, rooms, chosen, width)
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": _operation(operation, sign, size, chosen.narrow), "hovermode": "closest"}
    for index, (part, place) in enumerate(zip(parts, places, strict=True)):
        number = str(index + 1) if index else ""
        left, top, right, bottom = place.box
        across = {"domain": [left / size[0], right / size[0]], "anchor": f"y{number}"}
        down = {"domain": [1 - bottom / size[1], 1 - top / size[1]], "anchor": f"x{number}"}
        layout[f"xaxis{number}"] = _axis(part, 2, chosen, labels) | across
        layout[f"yaxis{number}"] = _axis(part, 1, chosen, labels) | down
        axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        drawn = heatmaps(part, "coloraxis" if shared and index in colored else None, axes, labels)
        if index in bars and shared:
            layout["coloraxis"] = _coloraxis(part.view) | {"colorbar": _colorbar(part.view, place, size)}
        elif index in bars:
            drawn[1 if part.masked.any() else 0] |= {"showscale": True, "colorbar": _colorbar(part.view, place, size)}
        traces += drawn
        layout["annotations"] += _notes(part, place, size)
    about = {"least_width": int(size[0]), "path": result.path, "pictures": [view.path for view in views]}
    return built(traces, layout, int(size[1]), margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 4}, meta=about)


def number_at(views: Sequence[TensorView], width: int, index: int, x: int, y: int) -> tuple[int, int, int] | None:
    """(tile, row, column) in its tensor, counted from 0, of the number that a cell of `stop_figure` shows. A tile is the matrix
    of one head. A cell that stands for several numbers shows the one of greatest magnitude.

    Args:
        views: the inputs and, last, the result.
        width: width of the figure in px.
        index: index in `views` of the tensor that has the cell.
        x, y: the place of the cell on the axes of the heatmap, counted from 0.

    Returns:
        None if no number is there.
    """
    return _part(views, width, index).place(x, y)


def cell_frame(views: Sequence[TensorView], width: int, index: int, at: tuple[int, int, int]) -> list[dict[str, Any]]:
    """The frame of a number in `stop_figure`, as shapes of a Plotly layout: a black line on a wider white line, visible on dark
    and on light cells. `at` is (tile, row, column) of the number, as `number_at` returns it; a tile is the matrix of one head.
    `views` are the inputs and, last, the result, `index` that of the number's tensor in `views`, and `width` that of the figure
    in px. If a cell stands for several numbers, the frame is around that cell. Empty if there is no such number."""
    cell = _part(views, width, index).cell(*at)
    if cell is None:
        return []
    (x, y), number = cell, str(index + 1) if index else ""
    place = {"x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5, "xref": f"x{number}", "yref": f"y{number}"}
    return [{"type": "rect", **place, "line": line} for line in FRAME]


def _part(views: Sequence[TensorView], width: int, index: int) -> Mosaic:
    """One of the views as `stop_figure` draws it."""
    chosen, view = arrange(views, width), views[index]
    return mosaic(view, heads_across(view, chosen), gutters(view, chosen), LABELS)


# --- labels --------------------------------------------------------------------------------------------------------------


def _axis(part: Mosaic, axis: int, chosen: Arrangement, labels: Mapping[str, str]) -> dict[str, Any]:
    """An axis with its name and size, and a tick for each token, or for a few dimensions."""
    view, names = part.view, (part.rows, part.columns)[axis - 1]
    name, size = view.panel.axes[axis], view.panel.values.shape[axis]
    each, tokens = part.each[axis - 1], view.labels(axis)
    ticks: list[tuple[int, str]] = []
    if tokens and names_tokens(part, axis, chosen):
        step = -int(-LABELLED_ROW // chosen.cell[1]) if axis == 1 else 1
        spots = [spot for spot, label in enumerate(names) if label]
        words = [escaped(token if len(token) <= LONGEST_TOKEN else f"{token[: LONGEST_TOKEN - 1]}…") for token in tokens]
        ticks = [(spot, words[at % size]) for at, spot in enumerate(spots) if at % size % step == 0]
    elif len(view.panel.values) == 1 and name not in ("", "1", "id"):
        first = view.first_column if axis == 2 else 0
        fitting = chosen.cell[2 - axis] * each * len(names) / TICK
        step = max(1, -(-len(names) // max(1, min(MOST_TICKS, int(fitting)))))
        ticks = [(spot, str(spot * each + first)) for spot in range(0, len(names), step)]
    # Ticks are moved a little, because a tick exactly on a row would make hovering show its label instead of the row's name.
    nudge = 0.0003 * len(names)
    titled = name not in ("", "1", "id") and not (axis == 2 and view.panel.scale == "ids")
    title = {"text": _axis_title(view, axis, name, size, labels), "standoff": 2, "font": {"size": WORDS}}
    return {
        "range": [len(names) - 0.5, -0.5] if axis == 1 else [-0.5, len(names) - 0.5],
        "fixedrange": axis == 1,  # so that dragging always enlarges columns
        "tickmode": "array",
        "tickvals": [spot + nudge for spot, _ in ticks],
        "ticktext": [word for _, word in ticks],
        "tickangle": -90 if axis == 2 and tokens and names_tokens(part, 2, chosen) else 0,
        "tickfont": {"size": SMALL},
        "labelalias": {str(spot): label for spot, label in enumerate(names) if label},
        "title": title if titled else None,
        "automargin": False,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
    }


def _axis_title(view: TensorView, axis: int, name: str, size: int, labels: Mapping[str, str]) -> str:
    """The name of an axis with its size, or with the columns that are shown if not all are shown."""
    if axis == 2 and view.all_columns is not None:
        last = view.first_column + size - 1
        return labels["part_axis"].format(axis=name, first=view.first_column, last=last, size=view.all_columns)
    return labels["sized_axis"].format(axis=name, size=size)


def _notes(part: Mosaic, place: Place, size: Size) -> Iterator[dict[str, Any]]:
    """The name and shape of a tensor, and the number of each head."""
    left, top, right, bottom = place.box
    view, tiles = part.view, len(part.view.panel.values)
    heading = f"<b>{escaped(view.title)}</b><br>{escaped(view.shape)}"
    # A heading that is longer than the cells are wide begins beside them, above the labels of the rows.
    start = left if heading_width(view) <= right - left else place.corner[0]
    yield _note(heading, start, place.corner[1], size, xanchor="left", yanchor="top", align="left")
    rows, columns = part.heads.shape
    for tile in range(tiles if tiles > 1 else 0):
        cells = np.argwhere(part.heads == tile + 1)
        middle, first = cells.mean(0) + 0.5, cells.min(0)
        x, y = left + (right - left) * middle[1] / columns, top + (bottom - top) * middle[0] / rows
        number = str(tile + view.first_head)
        if part.across == 1:
            yield _note(number, right + 4, y, size, xanchor="left", yanchor="middle")
        else:
            yield _note(number, x, top + (bottom - top) * first[0] / rows, size, xanchor="center", yanchor="bottom")


def _note(text: str, x: Length, y: Length, size: Size, **more: Any) -> dict[str, Any]:
    place = {"x": x / size[0], "y": 1 - y / size[1], "xref": "paper", "yref": "paper", "showarrow": False, "borderpad": 0}
    return {"text": text, "font": {"size": WORDS}, **place, **more}


def _operation(operation: str, middle: Size, size: Size, narrow: bool) -> list[dict[str, Any]]:
    """The operation in a frame, and an arrow from the inputs to the result."""
    (x, y), frame = middle, {"bordercolor": LINE, "borderwidth": 2, "borderpad": 5, "xanchor": "center"}
    sign = _note(f"<b>{escaped(operation)}</b>", x, y, size, yanchor="middle" if narrow else "bottom", **frame)
    arrow = _note("", x, y + (40 if narrow else 14), size) | {"xshift": 0 if narrow else 42}
    arrow |= {"showarrow": True, "arrowhead": 2, "arrowwidth": 2, "arrowcolor": LINE}
    return [sign, arrow | ({"ax": 0, "ay": -22} if narrow else {"ax": -84, "ay": 0})]


# --- colours -------------------------------------------------------------------------------------------------------------


def _is_colored(view: TensorView) -> bool:
    return view.panel.scale in ("signed", "weights")


def _coloraxis(view: TensorView) -> dict[str, Any]:
    signed = view.panel.scale == "signed"
    return {"cmin": -view.limit if signed else 0, "cmax": view.limit, "colorscale": SIGNED if signed else WEIGHTS}


def _colorbar(view: TensorView, place: Place, size: Size) -> dict[str, Any]:
    """A colour bar below the labels of the columns, at the left edge of the cells, with numbers at its ends."""
    ends = [-view.limit, 0, view.limit] if view.panel.scale == "signed" else [0, view.limit]
    return {
        "orientation": "h",
        "thickness": 8,
        "lenmode": "pixels",
        "len": 110,
        "tickvals": ends,
        "ticktext": [unsigned_zero(f"{end:.2g}") for end in ends],
        "tickfont": {"size": SMALL},
        "x": place.box[0] / size[0],
        "xanchor": "left",
        "xpad": 0,
        "y": max(0.0, 1 - (place.floor - LINE_HEIGHT) / size[1]),
        "yref": "paper",  # with "container", each bar would take space from the whole figure
        "yanchor": "bottom",
        "ypad": 0,
    }
