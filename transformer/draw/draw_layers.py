"""Drawings of the tensors of a run, layer by layer, and of their costs. Layers are counted from 0."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import plotly.graph_objects as go

from transformer.analysis.flow import flow_of
from transformer.analysis.ledger import ledger, lengths_of, totals
from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.residual import residual_stream
from transformer.analysis.sublayer_steps import feed_forward
from transformer.analysis.walk import Stop, walk
from transformer.draw.drawing import drawn, own_model
from transformer.figures import ledger_figures
from transformer.figures.layer_walk import Part, Source, layer_figure
from transformer.figures.panels import Scale, TensorView, tensor_view
from transformer.figures.residual_figures import token_lines, unit_bars
from transformer.figures.walk_figures import stop_figure
from transformer.network.cost import WORK, Cost
from transformer.network.cost import growth as cost_growth
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import SIDES, STACK_SIDES, TensorPath, check_index
from transformer.tracing.trace import Trace
from transformer.validation import one_of

SHARES = ("weights", "probabilities")
HIDING = ("masked_scores", "weights")


@drawn
def tensor(trace: Trace, path: str, item: int = 0, head: int | None = None) -> go.Figure:
    """One tensor of a run, and the tensors that it was computed from. If `head` is None, all heads are drawn."""
    stops = {stop.path: stop for stop in walk(trace)}
    trace[path]  # for an unknown path, this raises an error that names the nearest paths
    check_index("item", item, trace.batch_size)
    if head is not None and "head" in stops[path].axes:
        check_index("head", head, stops[path].shape[stops[path].axes.index("head")])
    inputs = [
        _ids(trace, name, item) if name in (SOURCE_IDS, TARGET_IDS) else _view(trace, stops[name], item, head)
        for name in stops[path].inputs
    ]
    return stop_figure(inputs, stops[path].operation, _view(trace, stops[path], item, head))


@drawn
def layer(trace: Trace, stack: str = "encoder", layer: int = 0, item: int = 0) -> go.Figure:
    """Every tensor of a layer, in the order they are computed. Each tensor has its own colour scale."""
    groups = [stop.group for stop in walk(trace) if stop.group.startswith(f"{stack} ")]
    check_index("layer", layer, len(set(groups)))
    check_index("item", item, trace.batch_size)
    group = f"{stack} {layer + 1}"
    members = [stop for stop in walk(trace) if stop.group == group]
    return layer_figure([_part(trace, name, list(stops), item) for name, stops in groupby(members, lambda stop: stop.part)])


def _part(trace: Trace, name: str, stops: Sequence[Stop], item: int) -> Part:
    """A part of a layer, with the flow through its tensors."""
    flow = flow_of(stops)
    rows = [[[_view(trace, stop, item, None) for stop in chain] for chain in row] for row in flow.rows]
    return Part(name.replace("_", " "), [Source(path, "from", path) for path in flow.sources], rows, flow.lines, flow.residual)


@drawn
def residual(trace: Trace, stack: str = "encoder", measure: str = "norm", item: int = 0) -> go.Figure:
    """The residual stream of every token, from sub-layer to sub-layer. Measures: norm, similarity, added_norm, cosine."""
    stream = residual_stream(trace, stack, item)
    values = getattr(stream, one_of("measure", measure, ("norm", "similarity", "added_norm", "cosine")))
    places = [f"{layer} {part.replace('_', ' ')}" for layer, part in stream.places]
    points = [*["start"] * (len(values) > len(places)), *places, *["end"] * (len(values) > len(places) + 1)]
    return token_lines(values, points, trace.tokens_of(STACK_SIDES[stack])[item], measure.replace("_", " "))


@drawn
def units(pipeline: TextPipeline, trace: Trace, path: str, position: int, most: int = 10, item: int = 0) -> go.Figure:
    """The hidden units of a feed-forward network that move its output furthest. They are measured at one position. `path` is
    the path of the feed-forward network."""
    worked = feed_forward(own_model(pipeline), trace, path, position, item)
    strongest = worked.strongest(most)
    return unit_bars(strongest, worked.push[strongest], "hidden unit")


@drawn
def costs(pipeline: TextPipeline, trace: Trace) -> go.Figure:
    """The shares of each kind of work. They are counted in FLOPs, in parameters and in bytes of the trace."""
    parts = totals(ledger(own_model(pipeline), trace), lambda row: row.work)
    return ledger_figures.shares(
        {name: {work: getattr(part, name.lower()) for work, part in parts.items()} for name in ("FLOPs", "parameters", "bytes")}
    )


@drawn
def growth(trace: Trace, along: str = "length", counted: str = "flops") -> go.Figure:
    """The cost of each kind of work as one size grows. `along` is that size, one of `transformer.network.cost.ALONG`."""
    one_of("counted", counted, Cost._fields)
    curve = cost_growth(trace.config, lengths_of(trace), along)
    lines = {work: np.array([getattr(costs[work], counted) for costs in curve.costs], dtype=np.float64) for work in WORK}
    lines = {work: values for work, values in lines.items() if values.any()}
    lines[ledger_figures.TOTAL] = np.sum(list(lines.values()), axis=0)
    limit = None if curve.limit is None else (curve.limit, "longest text")
    return ledger_figures.growth(curve.sizes, lines, along, counted, curve.present, True, limit)


def _view(trace: Trace, stop: Stop, item: int, head: int | None) -> TensorView:
    step, place = trace[stop.path], TensorPath.parse(stop.path)
    tokens = {side: rows[item] for side in SIDES if (rows := trace.tokens_of(side))}
    if place.kind is not None:
        tokens["query"], tokens["key"] = trace.tokens(place.kind, item)
    # The output of an encoder without a decoder is outside the encoder's stack, so by its path its side is the target. But its
    # positions are source tokens.
    tokens["position"] = tokens.get(place.side, trace.source_tokens[item] if trace.source_tokens else ())
    scale: Scale = "mask" if stop.path.endswith("_mask") else "weights" if place.last in SHARES else "signed"
    masked = place.kind is not None and place.last in HIDING
    hidden = trace.hidden(place.owner).numpy() if masked else None
    branch = place.branch
    return tensor_view(stop.path, step.numpy(), step.axes, scale, tokens, branch, item=item, head=head, hidden=hidden)


def _ids(trace: Trace, path: str, item: int) -> TensorView:
    side = "source" if path == SOURCE_IDS else "target"
    tokens = {side: trace.tokens_of(side)[item]}
    return tensor_view(path, np.array(trace.ids_of(side)), ("batch", side), "ids", tokens, item=item)
