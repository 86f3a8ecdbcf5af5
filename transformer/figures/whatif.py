"""What an edit does to the answer, and which head matters for it."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots

from transformer.figures.attention import MOST_HATCHED, MOST_WRITTEN, token_map
from transformer.figures.theme import KIND_COLORS, LINE, SIGNED, escaped, finished, numbered


def probability_change(
    tokens: Sequence[str],
    before: Float[np.ndarray, " token"],
    after: Float[np.ndarray, " token"],
    names: tuple[str, str],
) -> go.Figure:
    """For each output token its probability without and with the edits, as two bars.

    Args:
        tokens: the output tokens.
        before, after: probabilities, 0 to 1.
        names: what the two runs are called.
    """
    figure = go.Figure()
    for name, values, color in ((names[0], before, LINE), (names[1], after, KIND_COLORS["decoder"])):
        figure.add_trace(
            go.Bar(
                name=name,
                x=numbered(tokens),
                y=np.asarray(values, dtype=np.float32),
                marker={"color": color},
                hovertemplate="%{x}<br>probability %{y:.4f}<extra>" + escaped(name) + "</extra>",
            )
        )
    figure.update_xaxes(tickmode="array", tickvals=list(range(len(tokens))), ticktext=[escaped(token) for token in tokens])
    figure.update_yaxes(title={"text": "probability"}, range=[0, 1.02])
    finished(figure, height=280)
    return figure.update_layout(barmode="group", showlegend=True, legend={"orientation": "h", "y": 1.15})


def difference_map(change: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str]) -> go.Figure:
    """How the weights of a head changed: blue where they grew, red where they shrank, white where nothing changed.

    Args:
        change: −1 to 1.
        queries, keys: the tokens.
    """
    longer = max(change.shape)
    most = float(abs(change).max()) or 1.0
    figure = go.Figure(
        go.Heatmap(
            z=change.astype(np.float32),
            x=numbered(keys),
            y=numbered(queries),
            zmin=-most,
            zmax=most,
            colorscale=SIGNED,
            colorbar={"title": {"text": "change"}, "thickness": 12},
            texttemplate="%{z:+.2f}" if longer <= MOST_WRITTEN else None,
            hovertemplate="query %{y}<br>key %{x}<br>change of weight %{z:+.6f}<extra></extra>",
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
    figure = make_subplots(1, len(kinds), subplot_titles=[titles[kind] for kind in kinds], horizontal_spacing=0.06)
    for column, kind in enumerate(kinds, start=1):
        layers, heads = drops[kind].shape
        figure.add_trace(
            go.Heatmap(
                z=drops[kind].astype(np.float32),
                x=[f"head {head + 1}" for head in range(heads)],
                y=[f"layer {layer + 1}" for layer in range(layers)],
                zmid=0,
                zmin=-most,
                zmax=most,
                colorscale=SIGNED,
                reversescale=True,
                showscale=column == len(kinds),
                colorbar={"title": {"text": "drop, nats"}, "thickness": 12},
                texttemplate="%{z:.2f}" if heads <= 8 else None,
                hovertemplate="%{y}, %{x}<br>drop in log-probability %{z:.4f} nats<extra></extra>",
                xgap=2,
                ygap=2,
            ),
            row=1,
            col=column,
        )
        figure.update_yaxes(autorange="reversed", row=1, col=column)
    return finished(figure, height=120 + 52 * max(values.shape[0] for values in drops.values()))
