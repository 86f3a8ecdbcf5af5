"""Figures of what an edit (a change during a run) does to the answer and to weights, and of the importance of each head."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float
from plotly.subplots import make_subplots

from transformer.figures.attention_figures import (
    MOST_WRITTEN,
    hover,
    in_cells,
    pair_cells,
    signed_scale,
    small_token_map,
    token_map,
    unsigned_zero,
)
from transformer.figures.labels import LABELS
from transformer.figures.theme import KIND_COLORS, LEGEND_ABOVE, LINE, SIGNED, built, escaped, finished, numbered

DROPS = [[1 - place, color] for place, color in reversed(SIGNED)]  # the signed scale reversed, so that drops are red
MOST_HEADS_WRITTEN = 8
# px: least width of the panel of a kind, width of one head, space beside the bars, width of the change of one token.
PANEL, CELL, BESIDE_BARS, CHANGE = 160, 30, 70, 36


def probability_change(
    tokens: Sequence[str],
    before: Float[np.ndarray, " token"],
    after: Float[np.ndarray, " token"],
    names: tuple[str, str],
    written: bool = False,
    labels: Mapping[str, str] = LABELS,
) -> go.Figure:
    """For each output token, its probability in two runs, such as without and with edits, as two bars; the change is on hover.

    Args:
        tokens: the output tokens.
        before, after: the probabilities in the two runs, 0 to 1.
        names: names of the two runs.
        written: whether to write the change above the bars too.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
    """
    hover = f"{labels['probability']} %{{y:.4f}}<br>{labels['change']} %{{customdata}}"
    changes = [unsigned_zero(f"{change:+.2f}") for change in (np.asarray(after, np.float64) - before).tolist()]
    bars = [
        {
            "type": "bar",
            "name": name,
            "x": numbered(tokens),
            "y": np.asarray(values, dtype=np.float32),
            "marker": {"color": color},
            "customdata": changes,
            "hovertext": numbered(tokens),  # the axis has only the tokens
            "hovertemplate": f"%{{hovertext}}<br>{hover}<extra>{escaped(name)}</extra>",
        }
        for name, values, color in ((names[0], before, LINE), (names[1], after, KIND_COLORS["decoder"]))
    ]
    names_of_bars = {"tickvals": list(range(len(tokens))), "ticktext": [escaped(token) for token in tokens]}
    layout: dict[str, Any] = {
        "xaxis": {"tickmode": "array"} | names_of_bars,
        "yaxis": {"title": {"text": labels["probability"]}, "range": [0, 1.02]},
        "barmode": "group",
    }
    if written:
        note = {"showarrow": False, "yanchor": "bottom", "font": {"size": 11}}
        tops = np.maximum(before, after).tolist()
        layout["annotations"] = [
            {"x": index, "y": top, "text": change} | note for index, (top, change) in enumerate(zip(tops, changes, strict=True))
        ]
        layout["yaxis"] |= {"range": [0, 1.14], "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1]}
        layout["meta"] = {"least_width": BESIDE_BARS + len(tokens) * CHANGE}
    return built(bars, layout, height=300, **LEGEND_ABOVE)


def difference_map(
    change: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    labels: Mapping[str, str] = LABELS,
    small: bool = False,
) -> go.Figure:
    """The change of one head's weights as a heatmap: blue if a weight grew, red if it shrank, white if it did not change.

    Args:
        change: the changes, −1 to 1 for weights. The colour scale ends at the largest magnitude.
        allowed: False where a query may attend to a key in neither run; such cells are grey and, in a small map, hatched.
        queries, keys: the token of each row and of each column.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        small: whether the map is for a narrow space, without numbers in its cells and without a colour bar.
    """
    scale, values = signed_scale(change), np.where(allowed, change, np.nan)
    if max(change.shape) <= MOST_WRITTEN and not small:
        scale |= in_cells(values, "{:+.2f}", SIGNED, scale["zmin"], scale["zmax"])
    hover_text, bar = hover(labels, f"{labels['change_of_weight']} %{{z:+.6f}}"), {"title": {"text": labels["change"]}}
    more: dict[str, Any] = {"showscale": False} if small else {"colorbar": bar | {"thickness": 12}}
    layers = pair_cells(values, allowed, queries, keys, hover_text, labels, scale, **more)
    return small_token_map(layers, queries, keys) if small else token_map(layers, queries, keys, labels=labels)


def importance_map(
    drops: Mapping[str, Float[np.ndarray, "layer head"]],
    titles: Mapping[str, str],
    labels: Mapping[str, str] = LABELS,
    first: int = 1,
) -> go.Figure:
    """The importance of each head: the drop of a token's log-probability without the head. One heatmap of layers × heads for
    each kind of attention.

    Args:
        drops: kind of attention → drop in log-probability, in nats; positive if the token is less probable without the head.
        titles: kind of attention → its name.
        labels: the fixed texts of the figure, such as axis titles: `LABELS` or a translation of it.
        first: the number of the first layer and of the first head on the axes: 1 in the app, 0 in a notebook.
    """
    kinds = list(drops)
    most = max(float(np.nanmax(np.abs(values))) for values in drops.values()) or 1.0
    figure = make_subplots(1, len(kinds), subplot_titles=[titles[kind] for kind in kinds], horizontal_spacing=0.07)
    place = f"{labels['layer']} %{{y}}, {labels['head_axis']} %{{x}}"
    drop = labels["drop_value"].format(value="%{z:.4f}")
    layers_axis = {"text": labels["layer"], "standoff": 4}
    for column, kind in enumerate(kinds, start=1):
        layers, heads = drops[kind].shape
        figure.add_trace(
            go.Heatmap(
                z=drops[kind].astype(np.float32),
                x=[str(head + first) for head in range(heads)],
                y=[str(layer + first) for layer in range(layers)],
                zmid=0,
                zmin=-most,
                zmax=most,
                colorscale=DROPS,
                showscale=column == len(kinds),
                colorbar={"title": {"text": labels["drop"]}, "thickness": 12},
                **(in_cells(drops[kind], "{:.2f}", DROPS, -most, most) if heads <= MOST_HEADS_WRITTEN else {}),
                hovertemplate=f"{place}<br>{drop}<extra></extra>",
                xgap=2,
                ygap=2,
            ),
            row=1,
            col=column,
        )
        figure.update_xaxes(title={"text": labels["head_axis"]}, type="category", row=1, col=column)
        figure.update_yaxes(title=layers_axis, type="category", autorange="reversed", row=1, col=column)
    figure = finished(figure, height=150 + 44 * max(values.shape[0] for values in drops.values()))
    widest = max(PANEL, *(CELL * values.shape[1] for values in drops.values()))
    return figure.update_layout(meta={"least_width": 110 + len(kinds) * (widest + 40)})
