"""Figures of the residual stream, one line per token over all layers, and of the hidden units of a feed-forward network."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.labels import LABELS
from transformer.figures.theme import KIND_COLORS, LINE, ROLE_COLORS, escaped, finished

# Six hues that colour-blind readers can distinguish too. The next six tokens have the same hues with another line style.
HUES = (*KIND_COLORS.values(), *ROLE_COLORS.values())
MOST_LEGEND = 120  # px: most height of the legend below the lines; a higher legend scrolls
STROKES = ("solid", "dash", "dot", "dashdot")


def token_lines(
    values: Float[np.ndarray, "point position"],
    points: Sequence[str],
    tokens: Sequence[str],
    title: str,
    followed: int | None = None,
    limits: tuple[float, float] | None = None,
) -> go.Figure:
    """A measure of the residual stream, such as its length, as a line for each token. A click on a name in the legend hides or
    shows its line.

    Args:
        values: a number for each token at each point of the stream.
        points: names of the points, the labels of the horizontal axis.
        tokens: names of the lines.
        title: title of the vertical axis.
        followed: index of the token whose line is highlighted; None for no highlight.
        limits: limits of the vertical axis; by default it includes 0 and all values.
    """
    lines = []
    for index in range(len(tokens)):
        name = f"{index} · {escaped(tokens[index])}"
        stroke = STROKES[index // len(HUES) % len(STROKES)]
        lines.append(
            go.Scatter(
                x=list(range(len(points))),
                y=values[:, index].astype(np.float32),
                name=name,
                zorder=int(index == followed),  # on top of the others
                mode="lines+markers",
                line={"color": HUES[index % len(HUES)], "width": 5 if index == followed else 2, "dash": stroke},
                marker={"size": 9 if index == followed else 5},
                opacity=1.0 if followed in (None, index) else 0.45,
                hovertemplate=f"{name}<br>%{{x}}<br>%{{y:.4g}}<extra></extra>",
            )
        )
    figure = go.Figure(lines)
    figure.update_xaxes(
        tickmode="array",
        tickvals=list(range(len(points))),
        ticktext=[escaped(point) for point in points],
        tickangle=-45,
        range=[-0.3, len(points) - 0.7],
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(title={"text": title}, zerolinecolor=LINE)
    if limits is None:
        figure.update_yaxes(rangemode="tozero")
    else:
        figure.update_yaxes(range=list(limits))
    # The legend is below the lines, because beside them it would take half of a phone's width.
    legend = {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom", "maxheight": MOST_LEGEND}
    return finished(figure, height=520, showlegend=True, legend=legend, hovermode="closest")


def unit_bars(
    units: Sequence[int], values: Float[np.ndarray, " unit"], title: str, labels: Mapping[str, str] = LABELS
) -> go.Figure:
    """A bar for each of some hidden units of a feed-forward network, in the order given. `units` are their indices, counted
    from 0. `title` is the title of the axis with the units."""
    names = [str(unit) for unit in units]
    figure = go.Figure(
        go.Bar(
            x=names,
            y=values.astype(np.float32),
            marker={"color": ROLE_COLORS["value"]},
            hovertemplate=f"{labels['unit']} %{{x}}: %{{y:.4g}}<extra></extra>",
        )
    )
    figure.update_xaxes(type="category", title={"text": title}, showgrid=False)
    return finished(figure, height=260, bargap=0.25)
