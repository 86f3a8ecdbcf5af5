"""One matrix of a computation, and the terms that add up to one of its numbers."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float
from plotly.colors import sample_colorscale

from transformer.figures.attention import MOST_HATCHED, MOST_WRITTEN
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

# The two ends of the signed scale, a step in from its darkest: what takes away, and what adds.
MINUS, PLUS = sample_colorscale(SIGNED, [0.2, 0.8])
MOST_TICKS = 16
Labels = Sequence[str] | None


def tensor_map(
    values: Float[np.ndarray, "row column"],
    rows: Labels,
    columns: Labels,
    row_title: str,
    column_title: str,
    signed: bool,
    selected_row: int | None = None,
    selected_cell: tuple[int, int] | None = None,
    hidden: Bool[np.ndarray, "row column"] | None = None,
    marked_columns: tuple[int, int] | None = None,
    color: str = ROLE_COLORS["query"],
) -> go.Figure:
    """A matrix as a heatmap.

    Args:
        values: any numbers; −∞ is drawn as masked.
        rows, columns: the tokens on each axis; None for dimensions, which are numbered from 0.
        row_title, column_title: what the axes are.
        signed: True for a diverging scale centred on zero; False for weights from 0 to 1.
        selected_row: framed.
        selected_cell: (row, column), framed.
        hidden: True where a mask hides the number: drawn grey and hatched, whatever it is, and told on hover.
        marked_columns: first column of a group, and the one after its last; bracketed.
        color: of the frame of the selected row.
    """
    masked = ~np.isfinite(values) if hidden is None else hidden | ~np.isfinite(values)
    x, y = _names(columns, values.shape[1]), _names(rows, values.shape[0])
    longer = max(values.shape)
    here = f"{row_title} %{{y}}<br>{column_title} %{{x}}<br>"
    traces = []
    if masked.any():
        traces.append(
            go.Heatmap(
                z=np.where(masked, 1, np.nan).astype(np.float32),
                x=x,
                y=y,
                colorscale=[[0, MASKED], [1, MASKED]],
                showscale=False,
                # Text rather than numbers: −∞ is no number of JSON.
                customdata=np.where(masked, _written(values), ""),
                texttemplate=MASK_SIGN if longer <= MOST_HATCHED else None,
                textfont={"color": LINE},
                hovertemplate=f"{here}masked: %{{customdata}}<extra></extra>",
                hoverongaps=False,
            )
        )
    shown = np.where(masked, np.nan, values).astype(np.float32)
    most = 1.0 if not signed or masked.all() else float(np.nanmax(np.abs(shown))) or 1.0
    gap = 1 if longer <= MOST_HATCHED else 0
    traces.append(
        go.Heatmap(
            z=shown,
            x=x,
            y=y,
            zmin=-most if signed else 0,
            zmax=most,
            colorscale=SIGNED if signed else WEIGHTS,
            colorbar={"thickness": 10, "len": 1, "nticks": 5},
            texttemplate="%{z:.2f}" if longer <= MOST_WRITTEN else None,
            hovertemplate=f"{here}%{{z:.8~g}}<extra></extra>",
            hoverongaps=False,
            xgap=gap,
            ygap=gap,
        )
    )
    height, width = values.shape
    shapes = []
    if marked_columns is not None:
        shapes.append(_frame(marked_columns[0], marked_columns[1], 0, height, LINE, 2))
    if selected_row is not None:
        shapes.append(_frame(0, width, selected_row, selected_row + 1, color, 3))
    if selected_cell is not None:
        row, column = selected_cell
        # Two lines, so that it stands out from dark and from light.
        shapes += [_frame(column, column + 1, row, row + 1, *line) for line in (("black", 3), ("white", 1))]
    # All at once: a figure that is updated piece by piece takes three times as long to build.
    layout = {
        "xaxis": _axis(column_title, columns, width) | {"side": "top", "tickangle": -45 if columns and width > 8 else 0},
        "yaxis": _axis(row_title, rows, height) | {"autorange": False, "range": [height - 0.5, -0.5]},
        "shapes": shapes,
    }
    figure = finished(go.Figure(traces, layout), height=110 + height * int(np.clip(340 / height, 10, 24)))
    figure.layout.margin.t = 90 if columns else 60
    return figure


def terms_bars(
    terms: Sequence[tuple[str, float, float, float]],
    result: float,
    color: str = ROLE_COLORS["value"],
    picked: int | None = None,
    total: str = "sum",
    told: str = "{left} × {right} = {value}",
) -> go.Figure:
    """Numbers that add up: each bar starts where the one before ended, and the last is the sum.

    Args:
        terms: (label, left, right, value) of each; value is what it adds, the others are told on hover.
        result: what they add up to.
        color: of the sum, and of the picked term.
        picked: a term that stands out from the others.
        total: what the last bar is called.
        told: what hovering over a term says, with places for its left, right and value.
    """
    values = np.array([value for *_, value in terms], dtype=float)
    ends = np.cumsum(values)
    names = [escaped(label) for label, *_ in terms]
    colors = [color if index == picked else PLUS if value >= 0 else MINUS for index, value in enumerate(values)]
    hover = [told.format(left=_number(left), right=_number(right), value=_number(value)) for _, left, right, value in terms]
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
    step = max(1, -(-len(names) // 40))
    shown = [*range(0, len(names), step), len(names)]
    figure.update_xaxes(
        type="category",
        tickmode="array",
        tickvals=shown,
        ticktext=[([*names, f"<b>{escaped(total)}</b>"])[index] for index in shown],
        tickangle=-60 if len(names) > 8 else 0,
        showgrid=False,
    )
    figure.update_yaxes(zeroline=False)
    return finished(figure, height=300).update_layout(bargap=0.15)


def _names(tokens: Labels, count: int) -> Sequence[str] | Sequence[int]:
    return list(range(count)) if tokens is None else numbered(tokens)


def _axis(title: str, tokens: Labels, count: int) -> dict[str, object]:
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


def _frame(left: int, right: int, top: int, bottom: int, color: str, width: int) -> dict[str, object]:
    """A rectangle around the cells from `left` to before `right` and from `top` to before `bottom`."""
    x0, x1, y0, y1 = (edge - 0.5 for edge in (left, right, top, bottom))
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"color": color, "width": width}}


def _written(values: Float[np.ndarray, "row column"]) -> np.ndarray:
    return np.array([[_number(value) for value in row] for row in values.tolist()], dtype=object)


def _number(value: float) -> str:
    if not np.isfinite(value):
        return "−∞" if value < 0 else "∞"
    return f"{value:.6g}".replace("-", "−")
