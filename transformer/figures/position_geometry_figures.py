"""Figures of a table of positional encodings (numbers, waves, products, rotation) and of a sentence with two words swapped."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.attention_figures import LONG_CELL, legible, unsigned_zero
from transformer.figures.cells import framed
from transformer.figures.labels import LABELS
from transformer.figures.theme import HUES, KIND_COLORS, LEGEND_ABOVE, LINE, SIGNED, built, escaped, finished, numbered

MOST_MARKED = 160  # a wave with up to this many positions has a dot at each position
LEAST, MOST = 260, 560  # px: least and most size of a picture of many positions
BESIDE_MATRIX = 46  # px: the axis beside the matrix of a rotation


def position_map(
    table: Float[np.ndarray, "position d_model"], picked: tuple[int, int] | None = None, labels: Mapping[str, str] = LABELS
) -> go.Figure:
    """A table of positional encodings as a heatmap: positions from top to bottom, dimensions from left to right. The cell
    `picked` (position, dimension), counted from 0, is framed; None for no frame."""
    height, width = table.shape
    most = float(np.abs(table).max()) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=table.astype(np.float32),
            zmin=-most,
            zmax=most,
            colorscale=SIGNED,
            colorbar={"thickness": 10, "nticks": 5},
            hovertemplate=f"{labels['position']} %{{y}}<br>{labels['dimension']} %{{x}}<br>%{{z:.6~g}}<extra></extra>",
        )
    )
    figure.update_xaxes(title={"text": labels["dimension"]}, range=[-0.5, width - 0.5], showgrid=False, zeroline=False)
    figure.update_yaxes(title={"text": labels["position"]}, range=[height - 0.5, -0.5], showgrid=False, zeroline=False)
    if picked is not None:
        figure.update_layout(shapes=framed(*picked))
    return finished(figure, height=int(np.clip(60 + 8 * height, LEAST, MOST)))


def waves(
    dimensions: Sequence[int],
    values: Float[np.ndarray, "position dimension"],
    curves: Float[np.ndarray, "step dimension"] | None,
    names: Sequence[str],
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """Columns of a table of positional encodings as lines, plotted against the position.

    Args:
        dimensions: indices of the columns, counted from 0.
        values: the value of each column at every position.
        curves: values of each column in equal steps from the first position to the last, also between the positions. They are
            drawn as lines, with a dot for each position if there are at most `MOST_MARKED` positions. If None, lines join the
            `values`.
        names: names of the columns.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    positions = len(values)
    figure = go.Figure()
    for index, dimension in enumerate(dimensions):
        color = HUES[index % len(HUES)]
        if curves is not None:
            figure.add_trace(
                go.Scatter(
                    x=np.linspace(0, positions - 1, len(curves), dtype=np.float32),
                    y=curves[:, index].astype(np.float32),
                    mode="lines",
                    line={"color": color, "width": 1.5},
                    legendgroup=str(dimension),
                    showlegend=False,
                    hoverinfo="skip",
                )
            )
        figure.add_trace(
            go.Scatter(
                name=escaped(names[index]),
                x=np.arange(positions, dtype=np.int16),
                y=values[:, index].astype(np.float32),
                mode="markers" if curves is not None and positions <= MOST_MARKED else "lines",
                marker={"color": color, "size": 5},
                line={"color": color, "width": 1.5},
                legendgroup=str(dimension),
                hovertemplate=f"{escaped(names[index])}<br>{labels['position']} %{{x}}<br>%{{y:.6~g}}<extra></extra>",
            )
        )
    figure.update_xaxes(title={"text": labels["position"]}, zeroline=False)
    figure.update_yaxes(title={"text": labels["value"]})
    figure = finished(figure, height=360)
    return figure.update_layout(LEGEND_ABOVE)


def product_map(products: Float[np.ndarray, "position position"], labels: Mapping[str, str] = LABELS) -> go.Figure:
    """A heatmap of the dot products of the encodings of every two positions."""
    position, count, most = labels["position"], len(products), float(np.abs(products).max()) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=products.astype(np.float32),
            zmin=-most,
            zmax=most,
            colorscale=SIGNED,
            colorbar={"thickness": 10, "nticks": 5},
            hovertemplate=f"{position} %{{y}}<br>{position} %{{x}}<br>{labels['dot_product']} %{{z:.6~g}}<extra></extra>",
        )
    )
    axis = {"title": {"text": labels["position"]}, "showgrid": False, "zeroline": False}
    figure.update_xaxes(axis, range=[-0.5, count - 0.5])
    figure.update_yaxes(axis, range=[count - 0.5, -0.5])
    return finished(figure, height=460)


def distance_lines(
    products: Float[np.ndarray, "distance 3"], names: tuple[str, str], labels: Mapping[str, str] = LABELS
) -> go.Figure:
    """The dot product of two positions' encodings against their distance: the mean as a line, in a band from least to largest
    value.

    Args:
        products: least, mean and largest dot product at every distance, beginning with distance 0.
        names: names of the line and of the band in the legend.
    """
    distances, (least, mean, most) = np.arange(len(products)), products.astype(np.float32).T
    distance = f"{labels['distance']} %{{x}}"
    ends = labels["from_to"].format(first="%{customdata:.5g}", last="%{y:.5g}")
    figure = go.Figure(
        [
            go.Scatter(x=distances, y=least, mode="lines", line={"width": 0}, showlegend=False, hoverinfo="skip"),
            go.Scatter(
                name=escaped(names[1]),
                x=distances,
                y=most,
                customdata=least,
                mode="lines",
                line={"width": 0},
                fill="tonexty",
                fillcolor="rgba(230, 159, 0, 0.4)",
                hovertemplate=f"{distance}<br>{ends}<extra></extra>",
            ),
            go.Scatter(
                name=escaped(names[0]),
                x=distances,
                y=mean,
                mode="lines",
                line={"color": KIND_COLORS["encoder"], "width": 2},
                hovertemplate=f"{distance}<br>{labels['mean']} %{{y:.5g}}<extra></extra>",
            ),
        ]
    )
    figure.update_xaxes(title={"text": labels["distance_axis"]}, zeroline=False)
    figure.update_yaxes(title={"text": labels["dot_product"]})
    figure = finished(figure, height=460)
    return figure.update_layout(LEGEND_ABOVE)


def rotation_map(matrix: Float[np.ndarray, "dimension dimension"], labels: Mapping[str, str] = LABELS) -> go.Figure:
    """A rotation matrix as a heatmap. Numbers other than 0 are written in their cells, and rotated pairs of dimensions are
    framed."""
    size = len(matrix)
    written = [[unsigned_zero(f"{value:.2f}") if value else "" for value in row] for row in matrix.tolist()]
    figure = go.Figure(
        go.Heatmap(
            z=matrix.astype(np.float32),
            zmin=-1,
            zmax=1,
            colorscale=SIGNED,
            showscale=False,
            **legible(written, matrix, SIGNED, -1.0, 1.0),
            hovertemplate=f"{labels['to_dimension']} %{{y}}<br>{labels['from_dimension']} %{{x}}<br>%{{z:.6f}}<extra></extra>",
        )
    )
    axis = {"tickmode": "array", "tickvals": list(range(size)), "showgrid": False, "zeroline": False}
    figure.update_xaxes(axis, title={"text": labels["from_dimension_axis"]}, side="top", range=[-0.5, size - 0.5])
    figure.update_yaxes(axis, title={"text": labels["to_dimension_axis"]}, range=[size - 0.5, -0.5])
    for start in range(0, size - 1, 2):
        place = {"x0": start - 0.5, "x1": start + 1.5, "y0": start - 0.5, "y1": start + 1.5}
        figure.add_shape(type="rect", line={"color": LINE, "width": 2}, **place)
    return finished(figure, height=520, margin={"t": 60}, meta={"least_width": BESIDE_MATRIX + LONG_CELL * size})


def turning_circle(
    points: Float[np.ndarray, "position 2"],
    arrows: Mapping[int, str],
    names: tuple[str, str],
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """One pair of dimensions of a positional encoding as points on a circle: a dot for every position, and an arrow from the
    centre to some of them, like a clock hand.

    Args:
        points: (sine, cosine) of the pair at every position.
        arrows: position → name of its arrow. Other positions have no arrow.
        names: names of the two dimensions.
    """
    around = np.linspace(0, 2 * np.pi, 181, dtype=np.float32)
    figure = go.Figure(
        [
            go.Scatter(
                x=np.cos(around),
                y=np.sin(around),
                mode="lines",
                line={"color": LINE, "width": 1},
                hoverinfo="skip",
                showlegend=False,
            ),
            go.Scatter(
                x=points[:, 1].astype(np.float32),
                y=points[:, 0].astype(np.float32),
                mode="markers",
                marker={"color": LINE, "size": 6},
                showlegend=False,
                hovertemplate=f"{labels['position']} %{{pointNumber}}<br>(%{{x:.4f}}, %{{y:.4f}})<extra></extra>",
            ),
        ]
    )
    for index, (position, name) in enumerate(arrows.items()):
        sine, cosine = map(float, points[position])
        figure.add_trace(
            go.Scatter(
                x=[0, cosine],
                y=[0, sine],
                name=escaped(name),
                mode="lines+markers",
                line={"color": HUES[index // 2], "width": 3, "dash": "dot" if index % 2 else "solid"},
                marker={"color": HUES[index // 2], "size": [0, 10]},
                hovertemplate=f"{escaped(name)}<br>(%{{x:.4f}}, %{{y:.4f}})<extra></extra>",
            )
        )
    axis = {"range": [-1.15, 1.15], "zeroline": True, "constrain": "domain"}
    figure.update_xaxes(axis, title={"text": escaped(names[1])})
    figure.update_yaxes(axis, title={"text": escaped(names[0])}, scaleanchor="x")
    figure = finished(figure, height=520)
    return figure.update_layout(LEGEND_ABOVE)


def change_bars(tokens: Sequence[str], changes: Mapping[str, Float[np.ndarray, " token"]], title: str) -> go.Figure:
    """The distance by which each token's vector moved in several runs, as bars side by side for each token.

    Args:
        tokens: the tokens of the sentence.
        changes: name of the run → for each token, the distance as a share of the vector's length, 0 or more.
        title: name of the measured quantity.
    """
    colors = KIND_COLORS["encoder"], KIND_COLORS["decoder"]
    bars = [
        {
            "type": "bar",
            "name": escaped(name),
            "marker": {"color": color},
            "x": numbered(tokens),
            "y": values.astype(np.float32),
            "hovertext": numbered(tokens),  # the axis has only the tokens
            "hovertemplate": f"%{{hovertext}}<br>%{{y:.3~g}}<extra>{escaped(name)}</extra>",
        }
        for (name, values), color in zip(changes.items(), colors, strict=False)
    ]
    shown = list(range(0, len(tokens), -(-len(tokens) // 40)))
    layout = {
        "xaxis": {"tickmode": "array", "tickvals": shown, "ticktext": [escaped(tokens[index]) for index in shown]},
        "yaxis": {"title": {"text": escaped(title)}, "rangemode": "tozero"},
        "barmode": "group",
    }
    return built(bars, layout, height=300, showlegend=True, legend={"orientation": "h", "y": 1.2})
