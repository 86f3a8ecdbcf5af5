"""Drawings of the tensors of a run, layer by layer, and of a model's costs. Arguments count layers from 0."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import plotly.graph_objects as go

from transformer.analysis.checks import check_number
from transformer.analysis.flow import flow_of
from transformer.analysis.ledger import ledger, lengths_of, totals
from transformer.analysis.provenance import SOURCE_IDS
from transformer.analysis.residual import residual_stream
from transformer.analysis.sublayer_steps import feed_forward
from transformer.analysis.walk import Stop
from transformer.draw.drawing import drawn, own_model
from transformer.draw.run_or_difference import over_rows, stops_of, tensors_of
from transformer.errors import InputError, PathError
from transformer.figures import ledger_figures
from transformer.figures.layer_walk import Part, Source, layer_figure
from transformer.figures.panels import Scale, TensorView, tensor_view
from transformer.figures.residual_figures import token_lines, unit_bars
from transformer.figures.walk_figures import stop_figure
from transformer.network.config import TransformerConfig
from transformer.network.cost import WORK, Cost
from transformer.network.cost import growth as cost_growth
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.difference import Difference
from transformer.tracing.paths import SIDES, STACK_SIDES, TensorPath, check_index
from transformer.tracing.trace import Trace
from transformer.validation import one_of

SHARES = ("weights", "probabilities")
HIDING = ("masked_scores", "weights")


@drawn
def tensor(trace: Trace | Difference, path: str, item: int = 0, head: int | None = None) -> go.Figure:
    """One tensor of a run, and the tensors that it was computed from. `path` is its path, such as
    `encoder.layers.0.feed_forward.hidden`; `item` (the text in the batch) and `head` count from 0. If `head` is None, all heads
    are drawn. For a Difference of runs A and B, the tensors have B − A. Raises PathError for an unknown path, or an index out
    of range."""
    stops = {stop.path: stop for stop in stops_of(trace)}
    path = trace[path].path  # for an unknown path, this raises an error that names the nearest paths
    check_index("item", item, trace.batch_size)
    if head is not None and "head" in stops[path].axes:
        check_index("head", head, stops[path].shape[stops[path].axes.index("head")])
    inputs = [
        _view(trace, stops[name], item, head) if name in stops else _ids(tensors_of(trace), name, item)
        for name in stops[path].inputs
        if name in stops or isinstance(trace, Trace)  # ids have no difference
    ]
    return stop_figure(inputs, stops[path].operation, _view(trace, stops[path], item, head))


@drawn
def layer(trace: Trace | Difference, stack: str = "encoder", layer: int = 0, item: int = 0) -> go.Figure:
    """Every tensor of a layer, in the order in which they are computed. Each tensor has its own colour scale. `stack` is
    `encoder` or `decoder`; `layer` and `item` (the text in the batch) count from 0. For a Difference of runs A and B, the
    tensors have B − A. Raises ConfigError for an unknown stack, and PathError for an index out of range."""
    stops = stops_of(trace)
    one_of("stack", stack, (own for own in STACK_SIDES if any(stop.group.startswith(f"{own} ") for stop in stops)))
    groups = [stop.group for stop in stops if stop.group.startswith(f"{stack} ")]
    check_index("layer", layer, len(set(groups)))
    check_index("item", item, trace.batch_size)
    group = f"{stack} {layer + 1}"
    members = [stop for stop in stops if stop.group == group]
    return layer_figure([_part(trace, name, list(stops), item) for name, stops in groupby(members, lambda stop: stop.part)])


def _part(trace: Trace | Difference, name: str, stops: Sequence[Stop], item: int) -> Part:
    """A sub-layer for `layer_figure`. `stops` has its tensors, in the order of computation."""
    flow = flow_of(stops)
    rows = [[[_view(trace, stop, item, None) for stop in chain] for chain in row] for row in flow.rows]
    return Part(name.replace("_", " "), [Source(path, "from", path) for path in flow.sources], rows, flow.lines, flow.residual)


@drawn
def residual(trace: Trace | Difference, stack: str = "encoder", measure: str = "norm", item: int = 0) -> go.Figure:
    """The residual stream of every token, from sub-layer to sub-layer. `measure` is `norm` (its length), `similarity` (its
    cosine to the stream at the start), `added_norm` (the length of the vector that each sub-layer adds), or `cosine` (the
    cosine of this added vector to the stream before it). For a Difference of runs A and B, the measure in B minus the measure
    in A. `stack` is `encoder` or `decoder`; `item` is the text in the batch, from 0. Raises ConfigError for an unknown measure,
    InputError for an unknown stack, and PathError for an item out of range."""
    one_of("measure", measure, ("norm", "similarity", "added_norm", "cosine"))
    streams = [residual_stream(run, stack, item) for run in ((trace.a, trace.b) if isinstance(trace, Difference) else (trace,))]
    places = [f"{layer - 1} {part.replace('_', ' ')}" for layer, part in streams[0].places]
    title, measured = measure.replace("_", " "), [getattr(stream, measure) for stream in streams]
    side = STACK_SIDES[stack]
    values, tokens = measured[0], tensors_of(trace).tokens_of(side)[item]
    if isinstance(trace, Difference):
        if len({(stream.points, stream.places) for stream in streams}) > 1:
            raise InputError("The residual streams of A and B pass through different sub-layers, so they have no difference.")
        a, b = (over_rows(trace, run, of, None, side) for run, of in enumerate(measured))
        values, title = b - a, f"{title}, B − A"
    points = [*["start"] * (len(values) > len(places)), *places, *["end"] * (len(values) > len(places) + 1)]
    return token_lines(values, points, tokens, title)


@drawn
def units(
    pipeline: TextPipeline, trace: Trace | Difference, path: str, position: int, most: int = 10, item: int = 0
) -> go.Figure:
    """The hidden units of a feed-forward network that move its output furthest. A bar is the length of the vector that a unit
    adds to the output at one position; at most `most` units are drawn. `path` is the path of the network:
    `encoder.layers.0.feed_forward`; `position` and `item` (the text in the batch) count from 0. For a Difference, `position` is
    a row of the aligned tokens, and the units are those that change most. Raises PathError for an unknown path, or an index out
    of range; InputError if the pipeline's network is not this project's own."""
    model = own_model(pipeline)
    place = TensorPath.parse(path)
    if place.sublayer != "feed_forward" or place.name:
        raise PathError("{path} is not the path of a feed-forward network, such as encoder.layers.0.feed_forward.", path=path)
    if not isinstance(trace, Difference):
        worked = feed_forward(model, trace, path, position, item)
        strongest = worked.strongest(most)
        return unit_bars(strongest, worked.push[strongest], "hidden unit")
    places = trace.places[place.side]
    check_index("position", position, len(places))
    a, b = places[position]
    if a is None or b is None:
        raise InputError("Only one of the two runs has a token at position {position}.", position=position)
    check_number("most", most, 0)
    change = feed_forward(model, trace.b, path, b, item).push - feed_forward(model, trace.a, path, a, item).push
    strongest = np.argsort(-np.abs(change), kind="stable")[:most].tolist()
    return unit_bars(strongest, change[strongest], "hidden unit, B − A")


@drawn
def costs(pipeline: TextPipeline, trace: Trace) -> go.Figure:
    """The share of each kind of work in a model's costs, such as projections or masks. The figure has a bar for FLOPs, for
    parameters and for bytes. Raises InputError if the pipeline's network is not this project's own."""
    parts = totals(ledger(own_model(pipeline), trace), lambda row: row.work)
    return ledger_figures.shares(
        {name: {work: getattr(part, name.lower()) for work, part in parts.items()} for name in ("FLOPs", "parameters", "bytes")}
    )


@drawn
def growth(trace: Trace, along: str = "length", counted: str = "flops") -> go.Figure:
    """The cost of each kind of work as one size grows. `along` is that size: `length`, `d_model`, `heads` or `layers`; and
    `counted` is `flops`, `parameters` or `bytes`. Raises InputError for another size, or if the network is not this project's
    own, and ConfigError for another `counted`."""
    one_of("counted", counted, Cost._fields)
    if not isinstance(trace.config, TransformerConfig):
        raise InputError("This drawing counts the work of our own network; the trace is of another one.")
    curve = cost_growth(trace.config, lengths_of(trace), along)
    lines = {work: np.array([getattr(costs[work], counted) for costs in curve.costs], dtype=np.float64) for work in WORK}
    lines = {work: values for work, values in lines.items() if values.any()}
    lines[ledger_figures.TOTAL] = np.sum(list(lines.values()), axis=0)
    limit = None if curve.limit is None else (curve.limit, "longest text")
    return ledger_figures.growth(curve.sizes, lines, along, counted, curve.present, True, limit)


def _view(run: Trace | Difference, stop: Stop, item: int, head: int | None) -> TensorView:
    trace = tensors_of(run)
    step, place = trace[stop.path], TensorPath.parse(stop.path)
    tokens: dict[str, Sequence[str]] = {side: rows[item] for side in SIDES if (rows := trace.tokens_of(side))}
    if place.kind is not None:
        tokens["query"], tokens["key"] = trace.tokens(place.kind, item)
    # The output of an encoder without a decoder is outside the encoder's stack, so by its path its side is the target. But its
    # positions are source tokens.
    tokens["position"] = tokens.get(place.side, trace.source_tokens[item] if trace.source_tokens else ())
    scale: Scale = "mask" if stop.path.endswith("_mask") else "weights" if place.last in SHARES else "signed"
    if isinstance(run, Difference):
        scale = "signed"
    masked = place.kind is not None and place.last in HIDING
    hidden = trace.hidden(place.owner).numpy() if masked else None
    branch = place.branch
    return tensor_view(stop.path, step.numpy(), step.axes, scale, tokens, branch, 0, item=item, head=head, hidden=hidden)


def _ids(trace: Trace, path: str, item: int) -> TensorView:
    side = "source" if path == SOURCE_IDS else "target"
    tokens = {side: trace.tokens_of(side)[item]}
    return tensor_view(path, np.array(trace.ids_of(side)), ("batch", side), "ids", tokens, item=item)
