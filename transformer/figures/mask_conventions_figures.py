"""Figures of a mask convention (a way to hide scores), stage by stage, and of the weights of a query whose keys are all
masked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float

from transformer.figures.attention_figures import BESIDE, LONG_CELL, MOST_HATCHED, MOST_WRITTEN, NUMBER_SIZE, hover, legible
from transformer.figures.labels import LABELS
from transformer.figures.masks_figures import MOST_TICKS, cells, flat, slant, two_states
from transformer.figures.theme import LINE, MASK_SIGN, MASKED, SIGNED, WEIGHTS, escaped, finished, numbered, token_axis

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
STAGE_HEIGHT, STAGE_HEAD, STAGE_FOOT = 174, 102, 6


@dataclass(frozen=True, eq=False)
class Stages:
    """One mask convention (a way to hide scores), applied to the scores of one head, stage by stage.

    Attributes:
        keep: True where a query may attend to a key.
        true_hides: whether True means "ignore" in the code that this convention comes from. `keep` is the same either way.
        before, masked, weights: the scores before the mask, the scores after it, and the output of softmax.
        titles: titles of the four heatmaps: mask, scores before the mask, scores after it, weights.
    """

    keep: Bool[np.ndarray, "query key"]
    true_hides: bool
    before: Float[np.ndarray, "query key"]
    masked: Float[np.ndarray, "query key"]
    weights: Float[np.ndarray, "query key"]
    titles: tuple[str, str, str, str]


def convention_stages(
    stages: Stages, queries: Sequence[str], keys: Sequence[str], color: str, labels: Mapping[str, str] = LABELS
) -> go.Figure:
    """The stages of a mask convention as four heatmaps, stacked vertically: the mask in the convention's own form, the scores
    before and after it, and the weights.

    A hidden cell is grey; in a small map, also hatched. But if a hidden cell still has a weight after softmax, it is drawn as a
    weight.

    Args:
        stages: the stages to draw.
        queries, keys: the token of each row and of each column.
        color: colour of the cells of the mask that may be attended to.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    keep, letters = stages.keep, (labels["true"], labels["false"])
    if stages.true_hides:
        letters = letters[::-1]
    leaked = stages.weights > 0
    states = f"{letters[0]}: {labels['may_look']}", f"{letters[1]}: {labels['may_not_look']}"
    parts = [
        two_states(keep, queries, keys, color, states, labels),
        _numbers(stages.before, np.ones_like(keep), queries, keys, signed=True, labels=labels),
        _numbers(stages.masked, keep, queries, keys, signed=True, labels=labels),
        _numbers(stages.weights, keep | leaked, queries, keys, signed=False, labels=labels),
    ]
    if max(keep.shape) <= MOST_WRITTEN:
        for part, where, letter, shade in ((parts[0][0], ~keep, letters[1], LINE), (parts[0][1], keep, letters[0], "white")):
            text = np.where(where, letter[0], "").astype(object)
            part |= {"text": text, "texttemplate": "%{text}", "textfont": {"color": shade, "size": 11}}
    pitch = STAGE_HEAD + STAGE_HEIGHT + STAGE_FOOT
    total = pitch * len(parts)
    layout: dict[str, Any] = {"annotations": []}
    heatmaps: list[dict[str, Any]] = []
    for index, (maps, title) in enumerate(zip(parts, stages.titles, strict=True)):
        number = str(index + 1) if index else ""
        top = 1 - (index * pitch + STAGE_HEAD) / total
        bottom = top - STAGE_HEIGHT / total
        layout[f"xaxis{number}"] = token_axis(
            labels["key"], keys, MOST_TICKS, side="top", tickangle=slant(keys), anchor=f"y{number}"
        )
        layout[f"yaxis{number}"] = token_axis(
            labels["query"], queries, MOST_TICKS, autorange="reversed", anchor=f"x{number}", domain=[bottom, top]
        )
        for axis in ("xaxis", "yaxis"):
            layout[f"{axis}{number}"]["tickfont"] = {"size": 10}
            layout[f"{axis}{number}"]["title"] |= {"font": {"size": 12}, "standoff": 4 if axis == "xaxis" else 12}
        if "colorbar" in maps[-1]:
            maps[-1]["colorbar"] |= {"y": (top + bottom) / 2, "len": STAGE_HEIGHT / total, "lenmode": "fraction"}
        heatmaps += [one | {"xaxis": f"x{number}", "yaxis": f"y{number}"} for one in maps]
        layout["annotations"].append(_title(f"<b>{index + 1}. {escaped(title)}</b>", 1 - index * pitch / total))
    figure = finished(go.Figure(heatmaps, layout), height=total)
    return figure.update_layout(margin={"t": 4, "b": 4, "l": 4, "r": 4})


def empty_rows(
    rows: Sequence[tuple[str, Float[np.ndarray, " key"]]], keys: Sequence[str], labels: Mapping[str, str] = LABELS
) -> go.Figure:
    """A heatmap of the weights of a query whose keys are all masked, with one row for each way to treat such a query.

    Args:
        rows: (name, weights) of each way. A NaN is written as "NaN".
        keys: the token of each column.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    names, weights = [escaped(name) for name, _ in rows], np.stack([values for _, values in rows]).astype(np.float32)
    nothing = np.isnan(weights)
    shared = {"type": "heatmap", "x": numbered(keys), "y": names, "hoverongaps": False, "xgap": 1, "ygap": 4}
    written = len(keys) <= MOST_WRITTEN
    numbers: dict[str, object] = {}
    if written:
        texts = [["" if np.isnan(weight) else f"{weight:.3f}" for weight in row] for row in weights.tolist()]
        numbers = legible(texts, weights, WEIGHTS, 0.0, 1.0)
    figure = go.Figure(
        [
            shared
            | flat(nothing, MASKED)
            | {
                "showscale": False,
                "texttemplate": "NaN" if written else None,
                "textfont": {"color": LINE, "size": NUMBER_SIZE},
                "hovertemplate": f"%{{y}}<br>{labels['key']} %{{x}}<br>{labels['nan']}<extra></extra>",
            },
            shared
            | numbers
            | {
                "z": weights,
                "zmin": 0,
                "zmax": 1,
                "colorscale": WEIGHTS,
                "colorbar": {"title": {"text": labels["weight"]}, "thickness": 10, "nticks": 3},
                "hovertemplate": f"%{{y}}<br>{labels['key']} %{{x}}<br>{labels['weight']} %{{z:.8~g}}<extra></extra>",
            },
        ]
    )
    figure.update_xaxes(token_axis(labels["key_axis"], keys, side="top", tickangle=-45))
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure = finished(figure, height=110 + 44 * len(names))
    return figure.update_layout(margin={"t": 96}, meta={"least_width": BESIDE + LONG_CELL * len(keys)} if written else {})


def _numbers(
    values: Float[np.ndarray, "query key"],
    shown: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    signed: bool,
    labels: Mapping[str, str],
) -> list[dict[str, Any]]:
    """A heatmap of the hidden cells with their numbers on hover, then the heatmap of the shown numbers with its colour bar."""
    shared, drawn = cells(queries, keys), np.where(shown, values, np.nan).astype(np.float32)
    most = float(np.nanmax(np.abs(drawn), initial=0)) or 1.0
    held = np.where(shown, "", np.vectorize(written_number, otypes=[object])(values))
    hatched = max(values.shape) <= MOST_HATCHED
    return [
        shared
        | flat(~shown, MASKED)
        | {
            # Text instead of numbers, because JSON has no −∞.
            "customdata": held,
            "text": np.where(shown, "", MASK_SIGN) if hatched else None,  # not in other cells; see `masked_cells`
            "texttemplate": "%{text}" if hatched else None,
            "textfont": {"color": LINE},
            "hovertemplate": hover(labels, labels["hidden_value"].format(value="%{customdata}")),
        },
        shared
        | {
            "z": drawn,
            "zmin": -most if signed else 0,
            "zmax": most if signed else 1,
            "colorscale": SIGNED if signed else WEIGHTS,
            "showscale": True,
            "colorbar": {"thickness": 8, "nticks": 5, "tickfont": {"size": 10}, "x": 1.01},
            "hovertemplate": hover(labels, "%{z:.8~g}"),
        },
    ]


def _title(title: str, top: float) -> dict[str, Any]:
    place = {"x": 0, "y": top, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "top"}
    return {"text": title, "showarrow": False, "align": "left"} | place


def written_number(value: float, digits: int = 6) -> str:
    """A number as text, with up to `digits` significant digits: `−10 000`, `1.2 × 10⁻⁷` or `−∞`."""
    if not np.isfinite(value):
        return "NaN" if np.isnan(value) else "−∞" if value < 0 else "∞"
    plain, _, power = f"{value + 0.0:,.{digits}g}".replace("-", "−").replace(",", "\u202f").partition("e")
    return f"{plain} × 10{str(int(power.replace('−', '-'))).translate(RAISED)}" if power else plain
