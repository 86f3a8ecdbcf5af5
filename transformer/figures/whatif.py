"""What an edit does to the answer, and which head matters for it."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Bool, Float
from plotly.subplots import make_subplots

from transformer.figures.attention import MOST_HATCHED, MOST_WRITTEN, in_cells, masked_cells, token_map, unsigned_zero
from transformer.figures.theme import KIND_COLORS, LINE, SIGNED, escaped, finished, numbered

DROPS = f"{SIGNED}_r"  # what is lost is red
MOST_HEADS_WRITTEN = 8
# px: the least width of the heads of a kind, and of one head;
# what stands beside the bars, and the room that the change of a token takes.
PANEL, CELL, BESIDE_BARS, CHANGE = 160, 30, 70, 36


def probability_change(
    tokens: Sequence[str],
    before: Float[np.ndarray, " token"],
    after: Float[np.ndarray, " token"],
    names: tuple[str, str],
    written: bool = False,
) -> go.Figure:
    """For each output token its probability without and with the edits, as two bars, and the change on hover.

    Args:
        tokens: the output tokens.
        before, after: probabilities, 0 to 1.
        names: what the two runs are called.
        written: the change stands above the bars, too.
    """
    figure = go.Figure()
    changes = [unsigned_zero(f"{change:+.2f}") for change in (np.asarray(after, np.float64) - before).tolist()]
    for name, values, color in ((names[0], before, LINE), (names[1], after, KIND_COLORS["decoder"])):
        figure.add_trace(
            go.Bar(
                name=name,
                x=numbered(tokens),
                y=np.asarray(values, dtype=np.float32),
                marker={"color": color},
                customdata=changes,
                hovertemplate="%{x}<br>probability %{y:.4f}<br>change %{customdata}<extra>" + escaped(name) + "</extra>",
            )
        )
    figure.update_xaxes(tickmode="array", tickvals=list(range(len(tokens))), ticktext=[escaped(token) for token in tokens])
    figure.update_yaxes(title={"text": "probability"}, range=[0, 1.02])
    finished(figure, height=280)
    figure.update_layout(barmode="group", showlegend=True, legend={"orientation": "h", "y": 1.15})
    if not written:
        return figure
    note = {"showarrow": False, "yanchor": "bottom", "font": {"size": 11}}
    tops = np.maximum(before, after).tolist()
    notes = [{"x": at, "y": top, "text": change} | note for at, (top, change) in enumerate(zip(tops, changes, strict=True))]
    figure.update_yaxes(range=[0, 1.14], tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1])
    return figure.update_layout(annotations=notes, meta={"least_width": BESIDE_BARS + len(tokens) * CHANGE})


def difference_map(
    change: Float[np.ndarray, "query key"], allowed: Bool[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str]
) -> go.Figure:
    """How the weights of a head changed: blue where they grew, red where they shrank, white where nothing changed.

    Args:
        change: −1 to 1.
        allowed: False where a query may not look, with the edits or without; drawn grey and hatched.
        queries, keys: the tokens.
    """
    longer = max(change.shape)
    most = float(abs(change).max()) or 1.0
    figure = go.Figure() if allowed.all() else go.Figure(masked_cells(allowed, queries, keys))
    figure.add_trace(
        go.Heatmap(
            z=np.where(allowed, change, np.nan).astype(np.float32),
            x=numbered(keys),
            y=numbered(queries),
            zmin=-most,
            zmax=most,
            colorscale=SIGNED,
            colorbar={"title": {"text": "change"}, "thickness": 12},
            **(in_cells(np.where(allowed, change, np.nan), "{:+.2f}", SIGNED, -most, most) if longer <= MOST_WRITTEN else {}),
            hovertemplate="query %{y}<br>key %{x}<br>change of weight %{z:+.6f}<extra></extra>",
            hoverongaps=False,
            xgap=int(longer <= MOST_HATCHED),
            ygap=int(longer <= MOST_HATCHED),
        )
    )
    return token_map(figure, queries, keys)


def importance_map(drops: Mapping[str, Float[np.ndarray, "layer head"]], titles: Mapping[str, str]) -> go.Figure:
    """Layers × heads of each kind of attention: how much less probable a token becomes without the head.

    Args:
        drops: kind → drop in log-probability, in nats; positive where the token needs the head.
        titles: kind → what it is called.
    """
    kinds = list(drops)
    most = max(float(np.nanmax(np.abs(values))) for values in drops.values()) or 1.0
    figure = make_subplots(1, len(kinds), subplot_titles=[titles[kind] for kind in kinds], horizontal_spacing=0.07)
    for column, kind in enumerate(kinds, start=1):
        layers, heads = drops[kind].shape
        figure.add_trace(
            go.Heatmap(
                z=drops[kind].astype(np.float32),
                x=[str(head + 1) for head in range(heads)],
                y=[str(layer + 1) for layer in range(layers)],
                zmid=0,
                zmin=-most,
                zmax=most,
                colorscale=DROPS,
                showscale=column == len(kinds),
                colorbar={"title": {"text": "drop, nats"}, "thickness": 12},
                **(in_cells(drops[kind], "{:.2f}", DROPS, -most, most) if heads <= MOST_HEADS_WRITTEN else {}),
                hovertemplate="layer %{y}, head %{x}<br>drop in log-probability %{z:.4f} nats<extra></extra>",
                xgap=2,
                ygap=2,
            ),
            row=1,
            col=column,
        )
        figure.update_xaxes(title={"text": "head"}, type="category", row=1, col=column)
        figure.update_yaxes(title={"text": "layer", "standoff": 4}, type="category", autorange="reversed", row=1, col=column)
    finished(figure, height=150 + 44 * max(values.shape[0] for values in drops.values()))
    widest = max(PANEL, *(CELL * values.shape[1] for values in drops.values()))
    return figure.update_layout(meta={"least_width": 110 + len(kinds) * (widest + 40)})
