"""Figures of one matrix of a computation, and of a sum of terms that gives one number of such a matrix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float
from plotly.colors import sample_colorscale

from transformer.figures.attention_figures import MOST_HATCHED, MOST_WRITTEN, in_cells, least_width
from transformer.figures.labels import LABELS
from transformer.figures.theme import (
    LINE,
    MASK_SIGN,
    MASKED,
    ROLE_COLORS,
    SIGNED,
    WEIGHTS,
    escaped,
    finished,
    numbered,
    token_axis,
)

# Colours of negative and positive terms: near the two ends of the signed scale, but not the darkest colours.
MINUS, PLUS = sample_colorscale(SIGNED, [0.2, 0.8])
MOST_TICKS = 16
MAPS_ACROSS, MAP_HEIGHT, MAP_TITLE, MAP_WIDTH = 4, 130, 62, 186
Labels = Sequence[str] | None


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix for `tensor_map` and `tensor_maps`, with its labels, its colour scale and the cells that have frames.

    Attributes:
        values: any numbers; a number that is not finite is drawn as masked.
        rows, columns: the tokens on each axis; None for dimensions, which are numbered from 0.
        row_title, column_title: names of the two axes.
        signed: True for a diverging scale centred on zero; False for weights from 0 to 1.
        title: name of the matrix; written only if several matrices are side by side.
        selected_row: index of a row with a frame; None for no frame.
        selected_cell: (row, column), counted from 0, of a cell with a frame; None for no frame.
        hidden: True where a mask hides the number; None if nothing is masked. The cell is grey, with the number on hover.
        marked_columns: (first, end) of a frame around the columns from `first` up to, but not including, `end`; None for no
            frame.
        color: colour of the frame of the selected row.
    """

    values: Float[np.ndarray, "row column"]
    rows: Labels
    columns: Labels
    row_title: str
    column_title: str
    signed: bool
    title: str = ""
    selected_row: int | None = None
    selected_cell: tuple[int, int] | None = None
    hidden: Bool[np.ndarray, "row column"] | None = None
    marked_columns: tuple[int, int] | None = None
    color: str = ROLE_COLORS["query"]

    @property
    def masked(self) -> Bool[np.ndarray, "row column"]:
        """True where a mask hides the number, or where the number is not finite. Such cells are drawn grey."""
        infinite = ~np.isfinite(self.values)
        return infinite if self.hidden is None else infinite | self.hidden


def tensor_map(matrix: Matrix, labels: Mapping[str, str] = LABELS, least_row: int = 10) -> go.Figure:
    """A matrix as a heatmap. The number of a cell is shown on hover and, in a matrix of at most 18 rows and columns, in the
    cell.

    Args:
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        least_row: least height of a row in px.
    """
    height, width = matrix.values.shape
    longer, written = max(height, width), max(height, width) <= MOST_WRITTEN
    # The layout is built at once, because updating a figure piece by piece takes several times as long.
    layout = {
        "xaxis": matrix_axis(matrix.column_title, matrix.columns, width)
        | {"side": "top", "tickangle": -45 if matrix.columns and width > 8 else 0},
        "yaxis": matrix_axis(matrix.row_title, matrix.rows, height) | {"autorange": False, "range": [height - 0.5, -0.5]},
        "shapes": _frames(matrix),
    }
    heatmaps = _heatmaps(matrix, longer <= MOST_HATCHED, labels)
    heatmaps[-1] |= {"colorbar": {"thickness": 10, "len": 1, "nticks": 5}, "showscale": True}
    if written:
        top = heatmaps[-1]
        heatmaps[-1] = top | in_cells(top["z"], "{:.2f}", top["colorscale"], float(top["zmin"]), float(top["zmax"]))
    figure = finished(go.Figure(heatmaps, layout), height=110 + height * int(np.clip(280 / height, least_row, 24)))
    figure.update_layout(margin={"t": 90 if matrix.columns else 60})
    return figure.update_layout(meta=least_width(width, longer)) if matrix.columns or written else figure


def tensor_maps(matrices: Sequence[Matrix], across: int = MAPS_ACROSS, labels: Mapping[str, str] = LABELS) -> go.Figure:
    """Several matrices in one figure, from left to right and top to bottom, `across` of them side by side, each with its own
    scale. Tokens are shown only on hover. A page draws one such figure ten times as fast as ten figures."""
    pitch = MAP_HEIGHT + MAP_TITLE
    lines = -(-len(matrices) // across)
    heatmaps: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"shapes": [], "annotations": []}
    for index, matrix in enumerate(matrices):
        line, place = divmod(index, across)
        left, bottom = place / across, (lines - line - 1) / lines
        top = bottom + MAP_HEIGHT / pitch / lines
        number = str(index + 1) if index else ""
        x, y = {"anchor": f"y{number}", "domain": [left, left + 0.92 / across]}, {"domain": [bottom, top]}
        height, width = matrix.values.shape
        bare = {"showticklabels": False, "ticks": "", "title": None}
        layout[f"xaxis{number}"] = matrix_axis("", matrix.columns, width) | bare | x
        upside_down = {"autorange": False, "range": [height - 0.5, -0.5], "anchor": f"x{number}"}
        layout[f"yaxis{number}"] = matrix_axis("", matrix.rows, height) | bare | y | upside_down
        parts = _heatmaps(matrix, max(height, width) <= MOST_WRITTEN, labels)
        heatmaps += [part | {"xaxis": f"x{number}", "yaxis": f"y{number}"} for part in parts]
        layout["shapes"] += [frame | {"xref": f"x{number}", "yref": f"y{number}"} for frame in _frames(matrix)]
        layout["annotations"].append(_heading(matrix, left, top))
    least = {"least_width": across * MAP_WIDTH}
    return finished(go.Figure(heatmaps, layout), height=lines * pitch, margin={"t": 0, "b": 0}, meta=least)


def _heading(matrix: Matrix, x: float, y: float) -> dict[str, Any]:
    title = f"<b>{escaped(matrix.title)}</b><br>{escaped(matrix.row_title)} × {escaped(matrix.column_title)}"
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": title, "showarrow": False, "align": "left"} | place


def _heatmaps(matrix: Matrix, hatched: bool, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """The traces of a matrix: a heatmap of the masked cells, if there are any, then the heatmap of the numbers."""
    masked, values = matrix.masked, matrix.values
    height, width = values.shape
    x, y = matrix_names(matrix.columns, width), matrix_names(matrix.rows, height)
    cell = f"{escaped(matrix.row_title)} %{{y}}<br>{escaped(matrix.column_title)} %{{x}}<br>"
    shared = {"type": "heatmap", "x": x, "y": y, "hoverongaps": False, "showscale": False}
    shown = np.where(masked, np.nan, values).astype(np.float32)
    most = 1.0 if not matrix.signed or masked.all() else float(np.nanmax(np.abs(shown))) or 1.0
    heatmaps: list[dict[str, Any]] = []
    if masked.any():
        heatmaps.append(
            shared
            | {
                "z": np.where(masked, 1, np.nan).astype(np.float32),
                "colorscale": [[0, MASKED], [1, MASKED]],
                # Text instead of numbers, because JSON has no −∞.
                "customdata": np.where(masked, _written(values), ""),
                "text": np.where(masked, MASK_SIGN, "") if hatched else None,  # not in other cells; see `masked_cells`
                "texttemplate": "%{text}" if hatched else None,
                "textfont": {"color": LINE},
                "hovertemplate": f"{cell}{labels['masked_value']}<extra></extra>".replace("{value}", "%{customdata}"),
            }
        )
    heatmaps.append(
        shared
        | {
            "z": shown,
            "zmin": -most if matrix.signed else 0,
            "zmax": most,
            "colorscale": SIGNED if matrix.signed else WEIGHTS,
            "hovertemplate": f"{cell}%{{z:.8~g}}<extra></extra>",
            "xgap": int(hatched),
            "ygap": int(hatched),
        }
    )
    return heatmaps


def _frames(matrix: Matrix) -> list[dict[str, Any]]:
    """Rectangles around marked and selected cells; the last one is drawn on top."""
    (height, width), frames = matrix.values.shape, []
    if matrix.marked_columns is not None:
        frames.append(_frame(*matrix.marked_columns, 0, height, LINE, 2))
    if matrix.selected_row is not None:
        frames.append(_frame(0, width, matrix.selected_row, matrix.selected_row + 1, matrix.color, 3))
    if matrix.selected_cell is not None:
        row, column = matrix.selected_cell
        # Two lines, so that the frame is visible on dark and on light colours.
        frames += [_frame(column, column + 1, row, row + 1, *line) for line in (("black", 3), ("white", 1))]
    return frames


def terms_bars(
    terms: Sequence[tuple[str, float, float, float]],
    result: float,
    color: str = ROLE_COLORS["value"],
    picked: int | None = None,
    total: str | None = None,
    value: str = "",
    hover_text: str = "{left} × {right} = {value}",
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """A waterfall chart of a sum: each bar starts at the end of the bar before it, and the last bar is the sum.

    Args:
        terms: (label, left, right, value) of each term. The value is added to the sum; left and right are shown on hover, such
            as the two factors of a product.
        result: the sum.
        color: colour of the sum and of the picked term.
        picked: index of a term to highlight; None to highlight no term.
        total: label of the last bar; by default the word for a sum in `labels`.
        value: what the values are, as the title of the vertical axis.
        hover_text: a template for the hover text of a term, with `{left}`, `{right}` and `{value}`.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    total = labels["sum"] if total is None else total
    values = np.array([term for *_, term in terms], dtype=float)
    ends = np.cumsum(values)
    names = [escaped(label) for label, *_ in terms]
    colors = [color if index == picked else PLUS if term >= 0 else MINUS for index, term in enumerate(values)]
    hover = [hover_text.format(left=_number(left), right=_number(right), value=_number(term)) for _, left, right, term in terms]
    figure = go.Figure(
        go.Bar(
            x=[*names, escaped(total)],
            y=np.array([*values, result], dtype=np.float32),
            base=np.array([*(ends - values), 0], dtype=np.float32),
            marker={"color": [*colors, color], "line": {"width": 0}},
            customdata=[*hover, _number(result)],
            hovertemplate="%{x}<br>%{customdata}<extra></extra>",
        )
    )
    figure.add_hline(y=0, line={"color": LINE, "width": 1})
    step = max(1, -(-len(names) // MOST_TICKS))
    shown = [*range(0, len(names), step), len(names)]
    figure.update_xaxes(
        type="category",
        tickmode="array",
        tickvals=shown,
        ticktext=[([*names, f"<b>{escaped(total)}</b>"])[index] for index in shown],
        tickangle=-60 if len(names) > 8 else 0,
        showgrid=False,
    )
    figure.update_yaxes(title={"text": escaped(value)}, zeroline=False)
    return finished(figure, height=260, bargap=0.15)


def matrix_names(tokens: Labels, count: int) -> Sequence[str] | Sequence[int]:
    """The names of the `count` rows or columns of a matrix: its tokens, numbered, or indices from 0 if `tokens` is None."""
    return list(range(count)) if tokens is None else numbered(tokens)


def matrix_axis(title: str, tokens: Labels, count: int) -> dict[str, Any]:
    """The layout of a Plotly axis with labels of tokens, or of some of its `count` dimensions if `tokens` is None."""
    if tokens is not None:
        return token_axis(title, tokens)
    return {
        "title": {"text": escaped(title)},
        "type": "linear",
        "tickmode": "array",
        "tickvals": list(range(0, count, -(-count // MOST_TICKS))),
        "range": [-0.5, count - 0.5],
        "showgrid": False,
        "zeroline": False,
    }


def _frame(left: int, right: int, top: int, bottom: int, color: str, width: int) -> dict[str, Any]:
    """A rectangle around the cells from column `left` up to, but not including, `right`, and from row `top` up to, but not
    including, `bottom`."""
    x0, x1, y0, y1 = (edge - 0.5 for edge in (left, right, top, bottom))
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"color": color, "width": width}}


def _written(values: Float[np.ndarray, "row column"]) -> np.ndarray:
    return np.array([[_number(value) for value in row] for row in values.tolist()], dtype=object)


def _number(value: float) -> str:
    if np.isnan(value):
        return "NaN"
    if not np.isfinite(value):
        return "−∞" if value < 0 else "∞"
    return f"{value + 0.0:.6g}".replace("-", "−")
