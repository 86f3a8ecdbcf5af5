"""Drawings of attention: all heads, one head, means of heads, effects of an edit. Arguments count layers and heads from 0."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import torch

from transformer.analysis.cell import Term, explain
from transformer.analysis.checks import check_language_head, check_text_pipeline
from transformer.analysis.forcing import forcing, target_of
from transformer.analysis.head_measures import reachable
from transformer.analysis.head_measures import rollout as rolled_out
from transformer.analysis.head_steps import AttentionStep, attention_step, attention_steps
from transformer.analysis.importance import head_importance
from transformer.draw.drawing import drawn
from transformer.draw.run_or_difference import tensors_of, token_bars, weight_map
from transformer.errors import InputError
from transformer.figures.attention_figures import small_head_map
from transformer.figures.head_steps_figures import Matrix, tensor_map, tensor_maps, terms_bars
from transformer.figures.panels import Scale, in_one_scale, tensor_view
from transformer.figures.tensor_sheet import tiles_figure
from transformer.figures.whatif_figures import difference_map, importance_map, probability_change
from transformer.network.tap import Edit
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.difference import Difference
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Trace

TILE_CELL = 20  # px of a cell in the maps of all heads


@drawn
def heads(trace: Trace | Difference, kind: str, item: int = 0) -> go.Figure:
    """Every head of a kind of attention. The figure has a row for each layer, with a map of queries × keys for each head. For a
    Difference of runs A and B, the maps have B − A, all on one scale. `kind` is `encoder`, `decoder` or `cross`; `item` is the
    text in the batch, from 0. Raises InputError for an unknown kind, and PathError for an index out of range."""
    _check_item(trace, item)
    weights, hidden = trace.attention(kind)[:, item].numpy(), ~trace.allowed(kind)[:, item].numpy()
    tokens: dict[str, Sequence[str]] = dict(zip(("query", "key"), _names(trace, kind, item), strict=True))
    scale: Scale = "signed" if isinstance(trace, Difference) else "weights"
    count = weights.shape[1]
    tiles = in_one_scale(
        [
            tensor_view(f"head {head}", weights[layer, head], ("query", "key"), scale, tokens, hidden=hidden[layer, head])
            for layer, head in np.ndindex(len(weights), count)
        ]
    )
    rows = {f"layer {layer}": tiles[layer * count : (layer + 1) * count] for layer in range(len(weights))}
    return tiles_figure(rows, TILE_CELL)


@drawn
def head(trace: Trace | Difference, kind: str, layer: int, head: int, item: int = 0, small: bool = False) -> go.Figure:
    """The attention of one head. Queries are rows, keys are columns, and the weights of a row sum to 1. If `small` is True, the
    cells have no numbers. For a Difference of runs A and B, the figure has maps of A, B and B − A; if `small` is True, only B −
    A. `kind` is `encoder`, `decoder` or `cross`; `layer`, `head` and `item` (the text in the batch) count from 0. Raises
    InputError for an unknown kind, and PathError for an index out of range."""
    _check(trace, kind, layer, head, item)
    if not small:
        return weight_map(trace, kind, item, lambda run: _one_head(run, kind, layer, head, item))
    cells, names = _one_head(trace, kind, layer, head, item), _names(trace, kind, item)
    if isinstance(trace, Difference):
        return difference_map(*cells, *names, small=True)
    return small_head_map(*cells, *names)


@drawn
def mean_of_heads(trace: Trace | Difference, kind: str, layer: int | None = None, item: int = 0) -> go.Figure:
    """The mean attention of the heads of a layer. If `layer` is None, the mean of the heads of all layers. For a Difference of
    runs A and B, the figure has maps of A, B and B − A. `kind` is `encoder`, `decoder` or `cross`; `layer` and `item` (the text
    in the batch) count from 0. Raises InputError for an unknown kind, and PathError for an index out of range."""
    _check_item(trace, item)
    if layer is not None:
        check_index("layer", layer, trace.layers(kind))
    chosen = slice(None) if layer is None else slice(layer, layer + 1)

    def mean(run: Trace) -> tuple[np.ndarray, np.ndarray]:
        allowed = run.allowed(kind)[chosen, item].flatten(0, 1).any(0)  # in at least one head of these layers
        return run.attention(kind)[chosen, item].numpy().mean((0, 1)), allowed.numpy()

    return weight_map(trace, kind, item, mean)


@drawn
def rollout(trace: Trace | Difference, kind: str, layer: int | None = None, item: int = 0) -> go.Figure:
    """Attention rollout of self-attention, up to a layer. A cell is the share of a query's vector after `layer` that comes from
    the key's token, if every layer takes half from the residual connection and half from the mean of its heads. If `layer` is
    None, all layers are included. For a Difference of runs A and B, the figure has maps of A, B and B − A. `kind` is `encoder`
    or `decoder`; `layer` and `item` (the text in the batch) count from 0. Raises InputError for an unknown kind, and PathError
    for an index out of range."""
    _check_item(trace, item)
    if layer is not None:
        check_index("layer", layer, trace.layers(kind))
    last = -1 if layer is None else layer

    def through(run: Trace) -> tuple[np.ndarray, np.ndarray]:
        weights, allowed = (values[:, item].numpy() for values in (run.attention(kind), run.allowed(kind)))
        return rolled_out(weights)[last], reachable(allowed)[last]

    return weight_map(trace, kind, item, through)


@drawn
def steps(trace: Trace | Difference, kind: str, layer: int, head: int, query: int = 0, item: int = 0) -> go.Figure:
    """Every matrix of one head, from its input to its output. The row of `query` is framed. For a Difference of runs A and B,
    the matrices have B − A. `kind` is `encoder`, `decoder` or `cross`; `layer`, `head`, `query` and `item` (the text in the
    batch) count from 0. Raises InputError for an unknown kind, and PathError for an index out of range."""
    listed = attention_steps(tensors_of(trace), kind, layer, head, item)
    size = next(step for step in listed if step.name == "head_output").values.shape[1]
    own = head * size, (head + 1) * size
    check_index("query", query, len(trace.tokens(kind, item)[0]))
    return tensor_maps([_matrix(trace, kind, item, step, query, own) for step in listed])


@drawn
def step(trace: Trace | Difference, kind: str, layer: int, head: int, name: str, query: int = 0, item: int = 0) -> go.Figure:
    """One matrix of one head. `name` is its name, such as `scores` (`transformer.analysis.head_steps.step_names` lists all
    names). The row of `query` is framed. For a Difference of runs A and B, the matrix has B − A. `kind` is `encoder`, `decoder`
    or `cross`; all numbers count from 0, and `item` is the text in the batch. Raises InputError for an unknown kind, and
    PathError for an unknown name or an index out of range."""
    chosen = attention_step(tensors_of(trace), kind, layer, head, name, item)
    check_index("query", query, len(trace.tokens(kind, item)[0]))
    return tensor_map(_matrix(trace, kind, item, chosen, query, None))


@drawn
def terms(
    pipeline: TextPipeline, trace: Trace, kind: str, layer: int, head: int, name: str, row: int, column: int
) -> go.Figure:
    """The terms of the sum that gives one number of a head's matrix. For a softmax, the sum is its denominator. `name` is the
    matrix, as for `step`; it must be a product of matrices or a softmax, and in networks other than this project's own,
    `scores`, `weights` or `head_output`. `row` and `column` are the place of the number in the matrix of the first text, `kind`
    is `encoder`, `decoder` or `cross`, and all numbers count from 0. `pipeline` is the one that made the trace. Raises
    InputError for an unknown kind or another matrix, and PathError for an unknown name or an index out of range."""
    check_text_pipeline(pipeline)
    explained = explain(pipeline.model, trace, kind, layer, head, name, row, column)
    summed, listed = explained.operation == "sum of products", [*explained.terms]
    if "bias" in dict(explained.extra):
        listed.append(Term("bias", explained["bias"], 1.0, explained["bias"]))
    if not summed and explained.operation != "softmax":
        raise InputError("The step {name!r} of this model is no sum whose terms could be drawn.", name=name)
    result, picked = (explained.result, None) if summed else (explained["total"], explained.column)
    return terms_bars(listed, result, picked=picked, value="product" if summed else "e to the power of the score")


@drawn
def difference(
    before: Trace | Difference, after: Trace | None = None, kind: str = "encoder", layer: int = 0, head: int = 0
) -> go.Figure:
    """The change of the weights of one head between two runs. `before` and `after` are the runs, whose tokens are aligned; the
    first text is drawn. One Difference can be given in place of both: `draw.difference(difference, kind="cross")`. `kind` is
    `encoder`, `decoder` or `cross`; `layer` and `head` count from 0. Errors are those of `head`."""
    compared = _compared(before, after)
    _check(compared, kind, layer, head, 0)
    return difference_map(*_one_head(compared, kind, layer, head, 0), *_names(compared, kind, 0))


@drawn
def probabilities(pipeline: TextPipeline, before: Trace | Difference, after: Trace | None = None) -> go.Figure:
    """The probability of each token of the answer in two runs. The first text of each is drawn. `before` and `after` are the
    runs; a Difference can be given in place of both. If the decoder has read different targets in the two runs, or a Difference
    is given, each run has the tokens of its own answer. Raises InputError for an encoder alone."""
    if isinstance(before, Trace) and isinstance(after, Trace) and before.target_ids == after.target_ids:
        ids = _written(pipeline, before)
        one, other = (_shares(trace, ids) for trace in (before, after))
        return probability_change(pipeline.vocabulary("target").tokens_of(ids), one, other, ("before", "after"), written=True)
    compared = _compared(before, after)
    compared["probabilities"]  # for models with other vocabularies, this raises an error that names their sizes
    written = [_written(pipeline, run) for run in (compared.a, compared.b)]
    shares = [_shares(run, ids) for run, ids in zip((compared.a, compared.b), written, strict=True)]
    return token_bars(compared, [pipeline.vocabulary("target").tokens_of(ids) for ids in written], shares)


@drawn
def importance(pipeline: TextPipeline, trace: Trace, position: int, edits: Sequence[Edit] = ()) -> go.Figure:
    """The importance of each head for one token of the answer. It is the drop of the token's log-probability if the head's
    weights are set to 0. `position` is the row of the logits that predicts the token, counted from 0; a position out of range
    raises PathError. `edits` are the interventions with which the trace was made, because the trace does not contain them."""
    source, target = (torch.tensor(ids[:1]) if ids else None for ids in (trace.source_ids, trace.target_ids))
    ids = _written(pipeline, trace)
    assert target is not None
    check_index("position", position, len(ids))
    *_, last = head_importance(pipeline.network, source, target, position, ids[position], edits)
    return importance_map(last.drops, {kind: kind for kind in last.drops}, first=0)


def _shares(trace: Trace, ids: Sequence[int]) -> np.ndarray:
    """The probability of each of `ids` in the first text: of the first id in row 0 of the logits, of the next in row 1, …"""
    return trace.probabilities[0].numpy()[np.arange(len(ids)), ids]


def _compared(before: Trace | Difference, after: Trace | None) -> Difference:
    """The Difference of two runs; `before` itself if it is a Difference."""
    if isinstance(before, Difference) and after is not None:
        raise InputError("A Difference has both runs, so no second run can be given; it is {after!r}.", after=after)
    return before if isinstance(before, Difference) else Difference.of(before, after)


def _one_head(trace: Trace | Difference, kind: str, layer: int, head: int, item: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights of one head, or B − A, and whether each query may attend to each key."""
    return trace.head(kind, layer, head, item).numpy(), trace.head_allowed(kind, layer, head, item).numpy()


def _written(pipeline: TextPipeline, trace: Trace) -> list[int]:
    """The id that each row of the logits of the first text should predict. The last id is the end of the text, if the
    vocabulary has an id for it."""
    target_of(pipeline, trace)  # refuses an encoder alone
    check_language_head(pipeline.network)
    return [*forcing(pipeline, trace).ids]


def _names(trace: Trace | Difference, kind: str, item: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the rows (queries) and of the columns (keys) of a map."""
    return trace.query_names(kind, item), trace.tokens(kind, item)[1]


def _check(trace: Trace | Difference, kind: str, layer: int, head: int, item: int) -> None:
    for name, index, count in (("layer", layer, trace.layers(kind)), ("head", head, trace.heads(kind))):
        check_index(name, index, count)
    _check_item(trace, item)


def _check_item(trace: Trace | Difference, item: int) -> None:
    check_index("item", item, trace.batch_size)


def _matrix(
    trace: Trace | Difference, kind: str, item: int, step: AttentionStep, query: int, marked: tuple[int, int] | None
) -> Matrix:
    sides: dict[str, Sequence[str]] = dict(zip(("query", "key"), trace.tokens(kind, item), strict=True))
    rows, columns = (sides.get(side or "") for side in step.tokens)
    return Matrix(
        step.values,
        rows,
        columns,
        *step.axes,
        signed=isinstance(trace, Difference) or step.name != "weights",
        title=step.name,
        # A query attends to all keys, so no single row of keys or values belongs to it.
        selected_row=query if step.tokens[0] == "query" else None,
        hidden=step.hidden,
        marked_columns=marked if step.name == "concatenated" else None,
    )
