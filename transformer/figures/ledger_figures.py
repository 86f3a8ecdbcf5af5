"""Figures of a model's costs, such as FLOPs: the share of each kind of work, and its growth with a size such as the length."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.colors import hex_to_rgb

from transformer.figures.labels import LABELS
from transformer.figures.theme import HUES, LINE, escaped, finished

# In the order of the colours. Work that grows with the square of the length has the most visible colour; work that is equal at
# every position has the next colours.
WORK_COLORS: dict[str, str] = dict(
    zip(
        ("feed-forward", "scores and weights", "projections", "embedding", "output", "masks", "add and norm"),
        HUES,
        strict=True,
    )
)
TOTAL = "all together"
# A bar of a smaller share has no space for a number.
LEAST_WRITTEN = 0.06
MOST_TICKS = 12


def shares(costs: Mapping[str, Mapping[str, int]], labels: Mapping[str, str] = LABELS) -> go.Figure:
    """One bar for each counted quantity, such as FLOPs, divided into the shares of each kind of work, such as projections.

    Args:
        costs: counted quantity → kind of work (a key of `WORK_COLORS`) → amount.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    names = list(costs)
    figure = go.Figure()
    for work, color in WORK_COLORS.items():
        amounts = [costs[name].get(work, 0) for name in names]
        if not any(amounts):
            continue
        parts = [amount / max(1, sum(costs[name].values())) for amount, name in zip(amounts, names, strict=True)]
        figure.add_trace(
            go.Bar(
                x=np.array(parts, dtype=np.float32),
                y=[escaped(name) for name in names],
                name=escaped(labels[work]),
                orientation="h",
                marker={"color": color, "line": {"width": 0}},
                text=[f"{part:.0%}" if part >= LEAST_WRITTEN else "" for part in parts],
                textposition="inside",
                textangle=0,
                insidetextanchor="middle",
                insidetextfont={"color": _readable(color)},
                customdata=[f"{amount:,}" for amount in amounts],
                hovertemplate=f"{escaped(labels[work])}<br>%{{customdata}} %{{y}}, %{{x:.2%}}<extra></extra>",
            )
        )
    figure.update_xaxes(range=[0, 1], tickformat=".0%", showgrid=False, zeroline=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="")
    figure = finished(figure, height=90 + 52 * len(names))
    return figure.update_layout(barmode="stack", bargap=0.25, **_legend())


def growth(
    sizes: Sequence[int],
    lines: Mapping[str, Float[np.ndarray, "*sizes"]],
    along: str,
    counted: str,
    present: int,
    logarithmic: bool,
    limit: tuple[int, str] | None = None,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """The cost of each kind of work as a line, plotted against one size, such as the length of the text. A dot on each line
    marks the present size.

    Args:
        sizes: values of the horizontal axis, in rising order.
        lines: kind of work → amount at each size. A kind whose amounts are all zero is left out. A line with the name `TOTAL`
            is dashed.
        along, counted: titles of the horizontal and the vertical axis.
        present: the size of the model and text at hand, one of `sizes`.
        logarithmic: whether both axes are logarithmic. A power of the size is then a straight line, and a higher power is a
            steeper line.
        limit: another size to mark, and its name; None to mark no other.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    # A line has a dot only at the present size.
    figure, marked = go.Figure(), np.array([size == present for size in sizes], dtype=np.float32)
    for name, values in lines.items():
        if not values.any():
            continue
        word = escaped(labels.get(name, name))
        color, axes = WORK_COLORS.get(name, LINE), f"{escaped(along)} %{{x:,}}<br>%{{customdata}} {escaped(counted)}"
        figure.add_trace(
            go.Scatter(
                x=list(sizes),
                y=values.astype(np.float32),
                name=word,
                mode="lines+markers",
                marker={"size": 11 * marked, "opacity": 1, "color": color, "line": {"color": "white", "width": 1.5 * marked}},
                line={"color": color, "width": 3, "dash": "dash" if name == TOTAL else "solid"},
                customdata=[f"{value:,.0f}" for value in values],
                hovertemplate=f"{word}<br>{axes}<extra></extra>",
            )
        )
    marks = [
        (present, labels["here"].format(size=f"{present:,}")),
        *([(limit[0], f"{limit[1]}: {limit[0]:,}")] if limit else []),
    ]
    for place, (size, note_text) in enumerate(marks):
        figure.add_vline(x=size, line={"color": LINE, "width": 1.5, "dash": "dot"})
        x = float(np.log10(size)) if logarithmic else size
        note = {"x": x, "y": 1, "yref": "paper", "yshift": -16 * place, "showarrow": False, "yanchor": "top", "xanchor": "left"}
        figure.add_annotation(text=f" {escaped(note_text)}", **note)
    scale: dict[str, Any] = {"type": "log"} if logarithmic else {"type": "linear", "rangemode": "tozero"}
    figure.update_xaxes(title={"text": escaped(along)}, zeroline=False, **scale, **(_ticks(sizes) if logarithmic else {}))
    figure.update_yaxes(title={"text": escaped(counted)}, zeroline=False, exponentformat="power", **scale)
    drawn = np.concatenate([values[values > 0] for values in lines.values()])
    if logarithmic and drawn.size and drawn.max() > 100 * drawn.min():
        figure.update_yaxes(dtick=1)  # ticks at powers of ten only
    return finished(figure, height=460, hovermode="closest", **_legend())


def _ticks(sizes: Sequence[int]) -> dict[str, Any]:
    """Tick labels of a logarithmic axis: every size if there are few sizes, otherwise 1, 2, 5, 10, 20, …"""
    few = list(sizes) if len(sizes) <= MOST_TICKS else []
    round_ones = [first * 10**power for power in range(8) for first in (1, 2, 5)]
    shown = few or [number for number in round_ones if sizes[0] <= number <= sizes[-1]]
    return {"tickmode": "array", "tickvals": shown, "ticktext": [f"{number:,}" for number in shown]}


def _legend() -> dict[str, Any]:
    # The legend is below the chart, because above it the chart's buttons would cover the legend on a phone.
    place = {"x": 0, "y": 0, "yref": "container", "yanchor": "bottom"}
    return {"showlegend": True, "legend": {"orientation": "h", "traceorder": "normal", **place}}


def _readable(color: str) -> str:
    """Black or white: the one with more contrast to the colour."""
    red, green, blue = hex_to_rgb(color)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "white"
