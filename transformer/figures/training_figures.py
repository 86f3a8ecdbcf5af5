"""Figures of the training of a model: values over steps, and one value for each part of the model."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.numbers import OWN_SCALE
from transformer.figures.theme import HUES, KIND_COLORS, LINE, built, escaped, finished

FIRST = 10  # steps; before this step, a logarithmic axis is nearly linear
BAR, AROUND = 18, 84  # px: height of a bar, and of the space around the bars
PANELS_APART, STACKED_APART = 0.08, 0.24  # space between two panels, as a share of the width, and of the height
PANEL = 240  # least width of a panel in px


class Series(NamedTuple):
    """One line of `step_lines`.

    Attributes:
        name: name of the line, in the legend and in the text under the pointer.
        steps, values: the step and the value of each point.
        state: `first` for the main line and `other` for further lines: both are thick, in a colour of their own. `context` for
            a thin grey line without marks, below the others and not in the legend.
        dotted: whether the line is dotted.
    """

    name: str
    steps: Sequence[int]
    values: Sequence[float]
    state: str = "first"
    dotted: bool = False


def step_lines(
    series: Sequence[Series],
    title: str,
    axis: str,
    cursor: int | None = None,
    limits: tuple[float, float] | None = None,
    logarithmic: bool = True,
    points: bool = True,
    height: int = 320,
) -> go.Figure:
    """Lines over the steps of a training. Lines with the state `context` are drawn first, so they are below the other lines.

    Args:
        series: the lines; at least one of them has a point.
        title: title of the vertical axis.
        axis: title of the horizontal axis.
        cursor: a step to mark with a vertical line; None to mark no step.
        limits: limits of the vertical axis; by default it includes 0 and all values.
        logarithmic: whether later steps are closer together, as `place_of_step` places them.
        points: whether each point has a mark.
        height: height of the figure in px.
    """
    last = max(step for line in series for step in line.steps)
    figure, drawn = go.Figure(), 0
    for line in sorted(series, key=lambda line: line.state != "context"):
        context = line.state == "context"
        color = LINE if context else HUES[(1, 0, 2, 3, 4, 5)[drawn % 6]]
        drawn += not context
        figure.add_trace(
            go.Scatter(
                name=escaped(line.name),
                x=[place_of_step(step) if logarithmic else step for step in line.steps],
                y=np.asarray(line.values, np.float32),
                mode="lines+markers" if points and not context else "lines",
                line={"color": color, "width": 1 if context else 3, "dash": "dot" if line.dotted else "solid"},
                marker={"size": 8},
                opacity=0.45 if context else 1.0,
                showlegend=not context,
                customdata=list(line.steps),
                cliponaxis=False,  # a mark at a limit of the axis is drawn whole
                meta=OWN_SCALE,
                hovertemplate=f"{escaped(line.name)}<br>{escaped(axis)} %{{customdata}}<br>%{{y:.4g}}<extra></extra>",
            )
        )
    if cursor is not None:
        figure.add_vline(x=place_of_step(cursor) if logarithmic else cursor, line={"color": LINE, "width": 2, "dash": "dash"})
    if logarithmic:
        marks = _marks(last)
        figure.update_xaxes(
            tickmode="array", tickvals=[place_of_step(mark) for mark in marks], ticktext=[f"{mark:,}" for mark in marks]
        )
    figure.update_xaxes(title={"text": axis}, showgrid=False, zeroline=False)
    figure.update_yaxes(title={"text": title}, zerolinecolor=LINE)
    figure.update_yaxes(rangemode="tozero") if limits is None else figure.update_yaxes(range=list(limits))
    figure = finished(figure, height=height, hovermode="closest")
    return figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})


class Curve(NamedTuple):
    """A value over the steps of a training: one panel of `curve_panels`.

    Attributes:
        name: what the value is.
        line: (step, value) of each point of the line.
        most: the largest value that the vertical axis must include.
        written: a text in bold beside the name, such as the latest value.
        checks: (step, value) of each point with a mark instead of a line.
        ticks: format of the ticks of the vertical axis, as d3 reads it; `.0%` for a share.
    """

    name: str
    line: Sequence[tuple[float, float]]
    most: float
    written: str = ""
    checks: Sequence[tuple[float, float]] = ()
    ticks: str = ""


def curve_panels(
    curves: Sequence[Curve],
    last: int,
    axis: str,
    names: tuple[str, str] = ("", ""),
    logarithmic: bool = False,
    height: int = 220,
    stacked: bool = False,
) -> go.Figure:
    """Curves over the steps of a training, each in its own panel, side by side or one below another.

    Args:
        curves: the curves, in this order.
        last: the step at the right end.
        axis: title of the horizontal axes.
        names: names of the lines and of the marks, for a legend; empty to draw none.
        logarithmic: whether later steps are closer together, as `place_of_step` places them.
        height: height of the figure in px, or if stacked, of each panel.
        stacked: whether the panels are one below another, as on a phone.
    """
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": [], "hovermode": "closest"}
    apart = STACKED_APART if stacked else PANELS_APART
    size = (1 - apart * (len(curves) - 1)) / len(curves)
    place_of = place_of_step if logarithmic else float
    marks = _marks(last)
    ticks = {"tickmode": "array", "tickvals": [*map(place_of_step, marks)], "ticktext": [f"{mark:,}" for mark in marks]}
    for index, curve in enumerate(curves):
        number, before = str(index + 1) if index else "", index * (size + apart)
        left, top = (0.0, 1 - before) if stacked else (before, 1.0)
        across = {"domain": [left, 1.0 if stacked else left + size], "anchor": f"y{number}", "range": [0, place_of(last)]}
        layout[f"xaxis{number}"] = across | {"title": {"text": axis}} | (ticks if logarithmic else {"nticks": 4})
        layout[f"yaxis{number}"] = {
            "domain": [max(0.0, top - size) if stacked else 0.0, top],
            "anchor": f"x{number}",
            "range": [0, 1.05 * curve.most],
            "nticks": 4,
            "tickformat": curve.ticks,
            "exponentformat": "power",  # not 10μ
        }
        for name, points, marked in zip(names, (curve.line, curve.checks), (False, True), strict=True):
            steps = [step for step, _ in points]
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers" if marked or len(points) == 1 else "lines",
                    "x": np.asarray([place_of(step) for step in steps], np.float32),
                    "y": np.asarray([value for _, value in points], np.float32),
                    "xaxis": f"x{number}",
                    "yaxis": f"y{number}",
                    "name": escaped(name or curve.name),
                    "showlegend": bool(name) and not index,
                    "customdata": steps,
                    "cliponaxis": False,
                    "meta": OWN_SCALE,
                    "line": {"color": KIND_COLORS["encoder"], "width": 2},
                    "marker": {"color": KIND_COLORS["decoder" if marked else "encoder"], "size": 8},
                    "hovertemplate": f"{escaped(curve.name)}<br>{escaped(axis)} %{{customdata:,}}<br>%{{y:.4g}}<extra></extra>",
                }
            )
        text = f"{escaped(curve.name)}   <b>{escaped(curve.written)}</b>"
        place = {"x": left, "y": top, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        layout["annotations"].append({"text": text, "showarrow": False, "font": {"size": 14}, **place})
    rows = len(curves) if stacked else 1
    below = {"orientation": "h", "x": 0, "y": -0.42 / rows, "yanchor": "top"}
    legend = {"showlegend": True, "legend": below} if any(names) else {}
    meta = {"least_width": PANEL * (1 if stacked else len(curves))}
    shown = [trace for trace in traces if len(trace["x"])]
    return built(shown, layout, height * rows, margin={"t": 32}, meta=meta, **legend)


def _marks(last: int) -> list[int]:
    """The steps that are written on a logarithmic axis: 0, some powers of ten, and `last`."""
    return [0, *(10**power for power in range(1, 7) if 10**power < 0.4 * last), last]


def part_bars(names: Sequence[str], values: Float[np.ndarray, " part"], title: str) -> go.Figure:
    """A horizontal bar for each part of a model, from top to bottom in the order given.

    Args:
        names: names of the parts.
        values: value of each part, 0 or more.
        title: title of the axis.
    """
    figure = go.Figure(
        go.Bar(
            x=values.astype(np.float32),
            y=[escaped(name) for name in names],
            orientation="h",
            marker={"color": KIND_COLORS["encoder"]},
            text=[f"{value:.3g}" for value in values.tolist()],
            textposition="outside",
            constraintext="none",
            cliponaxis=False,
            hovertemplate="%{y}<br>%{x:.4g}<extra></extra>",
        )
    )
    figure.update_xaxes(title={"text": title}, range=[0, 1.2 * (float(values.max()) or 1.0)])
    figure.update_yaxes(autorange="reversed", type="category")
    return finished(figure, height=AROUND + BAR * len(names), bargap=0.25)


def place_of_step(step: int | float) -> float:
    """The place of a step on a logarithmic axis: log(1 + step / 10). Before step 10 (`FIRST`), the axis is nearly linear."""
    return math.log1p(step / FIRST)
