"""Figures of a training: values over steps, and one value for each part of a model."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.numbers import OWN_SCALE
from transformer.figures.theme import HUES, KIND_COLORS, LINE, escaped, finished

FIRST = 10  # steps; before this step, a logarithmic axis is nearly linear
BAR, AROUND = 22, 90  # px: height of a bar, and of the space around the bars


class Series(NamedTuple):
    """One line of a figure.

    Attributes:
        name: name in the legend.
        steps, values: the step and the value of each point.
        state: `first` for the main line, `other` for a line to compare with it, `context` for a thin grey line.
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
) -> go.Figure:
    """Lines over the steps of a training. Lines of context are drawn first, so they are below the other lines.

    Args:
        series: the lines; at least one of them has a point.
        title: title of the vertical axis.
        axis: title of the horizontal axis.
        cursor: a step to mark with a vertical line.
        limits: limits of the vertical axis; by default it starts at 0.
        logarithmic: whether later steps are closer together.
        points: whether each point has a mark.
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
                x=[_place(step) if logarithmic else step for step in line.steps],
                y=np.asarray(line.values, np.float32),
                mode="lines+markers" if points and not context else "lines",
                line={"color": color, "width": 1 if context else 3, "dash": "dot" if line.dotted else "solid"},
                marker={"size": 8},
                opacity=0.45 if context else 1.0,
                showlegend=not context,
                customdata=list(line.steps),
                meta=OWN_SCALE,
                hovertemplate=f"{escaped(line.name)}<br>{escaped(axis)} %{{customdata}}<br>%{{y:.4g}}<extra></extra>",
            )
        )
    if cursor is not None:
        figure.add_vline(x=_place(cursor) if logarithmic else cursor, line={"color": LINE, "width": 2, "dash": "dash"})
    if logarithmic:
        marks = [0, *(10**power for power in range(1, 7) if 10**power < 0.4 * last), last]
        figure.update_xaxes(
            tickmode="array", tickvals=[_place(mark) for mark in marks], ticktext=[f"{mark:,}" for mark in marks]
        )
    figure.update_xaxes(title={"text": axis}, showgrid=False, zeroline=False)
    figure.update_yaxes(title={"text": title}, zerolinecolor=LINE)
    figure.update_yaxes(rangemode="tozero") if limits is None else figure.update_yaxes(range=list(limits))
    figure = finished(figure, height=320, hovermode="closest")
    return figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})


def part_bars(names: Sequence[str], values: Float[np.ndarray, " part"], title: str) -> go.Figure:
    """A bar for each part of a model, from top to bottom in the order given.

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
            cliponaxis=False,
            hovertemplate="%{y}<br>%{x:.4g}<extra></extra>",
        )
    )
    figure.update_xaxes(title={"text": title}, range=[0, 1.2 * (float(values.max()) or 1.0)])
    figure.update_yaxes(autorange="reversed", type="category")
    return finished(figure, height=AROUND + BAR * len(names), bargap=0.25)


def _place(step: int) -> float:
    return math.log1p(step / FIRST)
