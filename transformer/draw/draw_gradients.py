"""Drawings of gradients: the shares of tokens and of attention weights in the log-probability of one token. Positions count
from 0."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from transformer.analysis.gradients import Baseline
from transformer.analysis.gradients import attention_gradients as gradients_of_weights
from transformer.analysis.gradients import input_gradients as gradients_of_inputs
from transformer.draw.drawing import drawn
from transformer.figures.decoding_figures import contribution_bars
from transformer.figures.labels import LABELS
from transformer.figures.theme import escaped
from transformer.figures.whatif_figures import difference_map
from transformer.network.tap import Edit
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.trace import Trace


@drawn
def input_gradients(
    pipeline: TextPipeline,
    trace: Trace,
    position: int,
    token: int | None = None,
    steps: int = 0,
    baseline: Baseline = "zero",
    edits: Sequence[Edit] = (),
) -> go.Figure:
    """The share of each input token in the log-probability of one token. The shares are input × gradient or, if `steps` is not
    0, integrated gradients: from the mean of `steps` gradients on the way from a `baseline` to the token vectors. `position` is
    the row of the logits that predicts the token, from 0; `token` is its id (None: the next token of the target or, at its end,
    the most probable one). `pipeline` is the one that made the trace, and `edits` are the interventions in it, which a trace
    does not contain. Errors are those of `transformer.analysis.gradients.input_gradients`, such as InputError for a position
    out of range."""
    shares = gradients_of_inputs(pipeline, trace, position, token, steps, edits, baseline)
    names = [
        f"{side if len(shares.values) > 1 else ''} {index} {label}".strip()
        for side in trace.sides
        for index, label in enumerate(trace.tokens_of(side)[0])
    ]
    side = trace.sides[-1]
    (explained,) = pipeline.vocabulary(side).tokens_of([shares.token])
    values = np.concatenate([shares.values[side] for side in trace.sides])
    return contribution_bars(names, values, f"to the log-probability of {escaped(explained)}")


@drawn
def attention_gradients(
    pipeline: TextPipeline,
    trace: Trace,
    kind: str,
    layer: int,
    head: int,
    position: int,
    token: int | None = None,
    edits: Sequence[Edit] = (),
) -> go.Figure:
    """The contribution of each weight of one head to the log-probability of one token. Each cell is weight × gradient, in nats.
    `kind` is `encoder`, `decoder` or `cross`; `layer`, `head` and `position` (the row of the logits that predicts the token)
    count from 0; `token`, `edits` and the errors are those of `input_gradients`."""
    allowed = trace.head_allowed(kind, layer, head).numpy()
    values = gradients_of_weights(pipeline, trace, position, token, edits)[kind][layer, head]
    words = {"change_of_weight": "weight × gradient", "change": "nats"}
    return difference_map(values, allowed, trace.query_names(kind), trace.tokens(kind)[1], {**LABELS, **words})
