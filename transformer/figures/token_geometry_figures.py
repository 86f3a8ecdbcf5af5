"""Figures of token vectors: their numbers, their cosine similarity, and a whole vocabulary projected onto a plane."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from transformer.figures.attention_figures import LONG_CELL, MOST_HATCHED, legible, unsigned_zero
from transformer.figures.cells import framed
from transformer.figures.labels import LABELS
from transformer.figures.theme import (
    HUES,
    LINE,
    MASK_SIGN,
    MASKED,
    SHAPES,
    SIGNED,
    built,
    escaped,
    finished,
    numbered,
    token_axis,
)

# (most tokens, px of a row): with more tokens, rows are lower and fewer labels are written.
ROWS = ((8, 20), (40, 14), (10**6, 8))
PANEL_TITLE, DIMENSION_AXIS, COLOR_SCALE = 28, 56, 36
MOST_TICKS = 16
MOST_COSINES = 12  # a map of up to this many tokens has a number in each cell; the map is half a page wide
BESIDE_COSINES = 130  # px: width of the labels and of the colour bar beside the cells


def aligned_maps(
    panels: Mapping[str, Float[np.ndarray, "token d_model"]],
    tokens: Sequence[str],
    row_title: str,
    column_title: str,
    picked: tuple[int, int] | None = None,
) -> go.Figure:
    """Several matrices of the same shape as heatmaps, stacked vertically, with one colour scale and one axis of dimensions. A
    column has the same meaning in all of them.

    Args:
        panels: title → values; drawn from top to bottom.
        tokens: labels of the rows.
        row_title, column_title: names of the two axes.
        picked: (row, column), counted from 0, of a cell that is framed in every matrix; None for no frame.
    """
    titles, count = list(panels), len(panels)
    height, width = next(iter(panels.values())).shape
    tall = height * next(pixels for most, pixels in ROWS if height <= most)
    pitch = tall + PANEL_TITLE
    total = count * pitch
    cell = f"{escaped(row_title)} %{{y}}<br>{escaped(column_title)} %{{x}}<br>%{{z:.6~g}}<extra></extra>"
    most = max(float(np.abs(values).max(initial=0, where=np.isfinite(values))) for values in panels.values()) or 1.0
    heatmaps: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"shapes": [], "annotations": []}
    for index, title in enumerate(titles):
        number = str(index + 1) if index else ""
        top = 1 - (index * pitch + PANEL_TITLE) / total
        layout[f"yaxis{number}"] = token_axis("", tokens) | {
            "domain": [max(0.0, top - tall / total), top],
            "anchor": "x",
            "autorange": False,
            "range": [height - 0.5, -0.5],
        }
        heatmaps.append(
            {
                "type": "heatmap",
                "z": panels[title].astype(np.float32),
                "x": list(range(width)),
                "y": numbered(tokens),
                "yaxis": f"y{number}",
                "coloraxis": "coloraxis",
                "hovertemplate": f"{escaped(title)}<br>{cell}",
            }
        )
        heading = {"text": f"<b>{escaped(title)}</b>", "x": 0, "y": top, "xanchor": "left", "yanchor": "bottom"}
        layout["annotations"].append(heading | {"xref": "paper", "yref": "paper", "showarrow": False})
        if picked is not None:
            layout["shapes"] += framed(*picked, axes=(1, index + 1))
    layout["xaxis"] = {
        "title": {"text": escaped(column_title)},
        "anchor": f"y{count if count > 1 else ''}",
        "tickmode": "array",
        "tickvals": list(range(0, width, -(-width // MOST_TICKS))),
        "range": [-0.5, width - 0.5],
        "showgrid": False,
        "zeroline": False,
    }
    layout["coloraxis"] = {
        "cmin": -most,
        "cmax": most,
        "colorscale": SIGNED,
        # The colour bar is below the picture, because beside it there is too little width on a phone.
        "colorbar": {"orientation": "h", "thickness": 8, "lenmode": "pixels", "len": 180, "nticks": 5, "xpad": 0}
        | {"x": 1, "xanchor": "right", "yref": "container", "y": 0, "yanchor": "bottom", "ypad": 2},
    }
    below = DIMENSION_AXIS + COLOR_SCALE
    return built(heatmaps, layout, height=total + below, margin={"t": 4, "b": below - 4})


def similarity_map(
    cosines: Float[np.ndarray, "token token"], tokens: Sequence[str], labels: Mapping[str, str] = LABELS
) -> go.Figure:
    """A heatmap of the cosine similarity of every token with every token.

    Args:
        cosines: −1 to 1; NaN if the vector of a token is all zeros, which has no direction.
        tokens: labels of both axes.
    """
    longer = len(tokens)
    unknown = np.isnan(cosines)
    shared = {"x": numbered(tokens), "y": numbered(tokens), "hoverongaps": False, "xgap": 1, "ygap": 1}
    figure = go.Figure()
    if unknown.any():
        figure.add_trace(
            go.Heatmap(
                **shared,
                z=np.where(unknown, 1, np.nan).astype(np.float32),
                colorscale=[[0, MASKED], [1, MASKED]],
                showscale=False,
                texttemplate=MASK_SIGN if longer <= MOST_HATCHED else None,
                textfont={"color": LINE},
                hovertemplate=f"%{{y}}<br>%{{x}}<br>{labels['no_direction']}<extra></extra>",
            )
        )
    numbers: dict[str, object] = {}
    if longer <= MOST_COSINES:
        written = [["" if np.isnan(cosine) else unsigned_zero(f"{cosine:.2f}") for cosine in row] for row in cosines.tolist()]
        numbers = legible(written, cosines, SIGNED, -1.0, 1.0)
    figure.add_trace(
        go.Heatmap(
            **shared,
            **numbers,
            z=cosines.astype(np.float32),
            zmin=-1,
            zmax=1,
            colorscale=SIGNED,
            colorbar={"title": {"text": labels["cosine"]}, "thickness": 12},
            hovertemplate=f"%{{y}}<br>%{{x}}<br>{labels['cosine']} %{{z:.4f}}<extra></extra>",
        )
    )
    figure.update_xaxes(token_axis("", tokens, side="top", tickangle=-45 if longer > 8 else 0))
    figure.update_yaxes(token_axis("", tokens), autorange="reversed")
    figure = finished(figure, height=110 + longer * int(np.clip(460 / longer, 11, 46)))
    least = {"least_width": BESIDE_COSINES + LONG_CELL * longer} if longer <= MOST_COSINES else {}
    return figure.update_layout(margin={"t": 80}, meta=least)


def vocabulary_map(
    points: Float[np.ndarray, "vocab 2"],
    tokens: Sequence[str],
    classes: Sequence[str],
    marked: Sequence[int],
    shares: tuple[float, float],
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """Every token of a vocabulary as a point. Hue and shape show its class. The tokens of a sentence have a ring and a label.

    Args:
        points: coordinates of each token; the index is the token's id.
        tokens, classes: the token and the class of each point.
        marked: ids of the tokens with a ring.
        shares: share of the variance along each axis, 0 to 1.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    figure = go.Figure()
    for index, name in enumerate(dict.fromkeys(sorted(classes, key=lambda name: (-classes.count(name), name)))):
        members = [token_id for token_id, class_name in enumerate(classes) if class_name == name]
        figure.add_trace(
            go.Scatter(
                name=escaped(name),
                x=points[members, 0].astype(np.float32),
                y=points[members, 1].astype(np.float32),
                text=[labels["token_id"].format(token=escaped(tokens[token_id]), id=token_id) for token_id in members],
                mode="markers",
                marker={
                    "color": HUES[index % len(HUES)],
                    "symbol": SHAPES[index // len(HUES) % len(SHAPES)],
                    "size": 7,
                    "opacity": 0.6,
                },
                hovertemplate=f"%{{text}}<br>{escaped(name)}<br>(%{{x:.3f}}, %{{y:.3f}})<extra></extra>",
            )
        )
    ringed = list(dict.fromkeys(marked))
    named = {
        "text": [escaped(tokens[token_id]) for token_id in ringed],
        "textposition": beside(points[ringed], [len(tokens[token_id]) for token_id in ringed], np.ptp(points, axis=0)),
        "textfont": {"shadow": "auto"},  # the names lie on points
    }
    # A black ring on a wider white ring is visible among points of every colour. A single ring was lost where points are dense.
    # The black rings are also above the names.
    for color, width, more in (("white", 5, {"mode": "markers+text", **named}), ("black", 2, {"mode": "markers"})):
        figure.add_trace(
            go.Scatter(
                name="",
                x=points[ringed, 0].astype(np.float32),
                y=points[ringed, 1].astype(np.float32),
                marker={"symbol": "circle-open", "size": 14, "color": color, "line": {"width": width}},
                hoverinfo="skip",
                showlegend=False,
                **more,
            )
        )
    for update, number in ((figure.update_xaxes, 0), (figure.update_yaxes, 1)):
        update(title={"text": labels["variance_axis"].format(number=number + 1, share=f"{shares[number]:.1%}")}, zeroline=False)
    figure = finished(figure, height=520)
    return figure.update_layout(showlegend=True, legend={"orientation": "h", "y": -0.16, "itemsizing": "constant"})


Box = tuple[float, float, float, float]
# Possible positions of a label beside its point, as (right, up) in units of the label's size. The first with the fewest
# overlaps is used.
PLACES = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "bottom right": (1, -1),
    "top left": (-1, 1),
    "bottom left": (-1, -1),
}
# Share of the plot's width that the points fill.
FILLED = 0.9
# px: size of the plot on a laptop and on a phone.
PLOTS = ((900.0, 400.0), (280.0, 270.0))
# px: width of a letter, height of a line, and distance from a point to its label.
LETTER, LETTER_HEIGHT, GAP = 7.0, 14.0, 10.0


def beside(points: Float[np.ndarray, "label 2"], letters: Sequence[int], extent: Float[np.ndarray, "2"]) -> list[str]:
    """For each point, the `textposition` of Plotly (a key of `PLACES`) at which its label covers the fewest other labels and
    points on a laptop; of several such places, the one at which it covers the fewest on a phone. The size of the labels is
    estimated without drawing them.

    Args:
        points: coordinates of the labelled points.
        letters: number of letters in each label.
        extent: width and height of the whole plot, in the units of the points.
    """
    pixels = [(points / np.where(extent > 0, extent, 1) * np.array(plot) * FILLED).tolist() for plot in PLOTS]
    taken: list[list[Box]] = [[(x, y, GAP, GAP) for x, y in centres] for centres in pixels]
    chosen = []
    for index, count in enumerate(letters):
        boxes = {name: [_label_box(centres[index], count, place) for centres in pixels] for name, place in PLACES.items()}
        covered = {
            name: [sum(_covers(box, other) for other in others) for box, others in zip(each, taken, strict=True)]
            for name, each in boxes.items()
        }
        best = min(boxes, key=covered.__getitem__)
        chosen.append(best)
        for others, box in zip(taken, boxes[best], strict=True):
            others.append(box)
    return chosen


def _label_box(point: Sequence[float], letters: int, place: tuple[int, int]) -> Box:
    """The box of a label at one of `PLACES` beside a point, in px."""
    (x, y), (side, up), half = point, place, (letters * LETTER / 2, LETTER_HEIGHT / 2)
    return x + side * (half[0] + GAP), y + up * (half[1] + GAP / (1 + abs(side))), *half


def _covers(one: Box, other: Box) -> bool:
    """Whether two boxes overlap. Each box is its centre and half its width and height."""
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]
