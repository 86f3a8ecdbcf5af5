"""Drawings of masks, of their three conventions, and of the effect of padding. Layers and heads are counted from 0."""

import numpy as np
import plotly.graph_objects as go
import torch

from transformer.analysis import leaks, mask_conventions
from transformer.draw.drawing import drawn, own_model
from transformer.draw.run_or_difference import over_rows
from transformer.errors import InputError
from transformer.figures import KIND_COLORS
from transformer.figures.comparison_figures import three_maps
from transformer.figures.mask_conventions_figures import Stages, convention_stages
from transformer.figures.mask_conventions_figures import empty_rows as rows_figure
from transformer.figures.masks_figures import mask_picture
from transformer.figures.whatif_figures import probability_change
from transformer.network.config import TransformerConfig
from transformer.pipeline.pipeline import Pipeline
from transformer.tracing.difference import Difference
from transformer.tracing.paths import Kind, Side, check_index
from transformer.tracing.phrases import interventions
from transformer.tracing.trace import Trace
from transformer.validation import one_of

NO_PADDING = "no padding mask"


@drawn
def mask(trace: Trace | Difference, side: Side = "target", item: int = 0) -> go.Figure:
    """A mask of the run. It shows which keys each query may attend to, in the source or in the target (`side`). For a
    Difference of runs A and B, the figure has maps of A, B and B − A, in which 1 is allowed and 0 is hidden. `item` is the text
    in the batch, from 0; an item out of range raises PathError."""
    check_index("item", item, trace.batch_size)
    if isinstance(trace, Difference):
        names = trace.tokens_of(side, item)
        a, b = (over_rows(trace, run, _mask(of, side, item), side, side) for run, of in enumerate((trace.a, trace.b)))
        return three_maps(a, b, None, None, names, names)
    keep, tokens = _mask(trace, side, item), trace.tokens_of(side)[item]
    return mask_picture(keep, tokens, tokens, KIND_COLORS["encoder" if side == "source" else "decoder"])


def _mask(trace: Trace, side: Side, item: int) -> np.ndarray:
    """True where a query may attend to a key of the same side."""
    rows, mask = trace.tokens_of(side), trace.masks.source if side == "source" else trace.masks.target
    if mask is None:
        raise InputError("The decoder ran alone: there is no mask of a source.")
    return mask[item if len(mask) > 1 else 0, 0].expand(len(rows[item]), len(rows[item])).numpy()


@drawn
def convention(trace: Trace, kind: str, layer: int, head: int, name: str = "vanilla", item: int = 0) -> go.Figure:
    """One mask convention, applied to the scores of one head. A convention is the way in which an implementation hides scores;
    `name` is `vanilla`, `pytorch` or `shared_heads`, and another name raises ConfigError. The figure shows the mask, the scores
    before and after it, and the weights. `kind` is `encoder`, `decoder` or `cross`; `layer`, `head` and `item` (the text in the
    batch) count from 0. Raises InputError for an unknown kind or a trace of another network than this project's, and PathError
    for an index out of range."""
    if not isinstance(trace.config, TransformerConfig):
        raise InputError("The conventions are settings of models of this project; this trace is of another model.")
    chosen = Kind.of(kind)
    path = trace.attention_path(kind, layer)
    _check_head(trace, kind, head, item)
    scores = trace[f"{path}.scores"].values[item, head]
    ids = torch.tensor(trace.ids_of(chosen.keys)[item])
    compared = {each.name: each for each in mask_conventions.conventions(scores, ids, chosen, trace.config)}
    one = compared[one_of("name", name, compared)]
    parts = one.before.numpy(), one.masked.numpy(), one.weights.numpy()
    titles = (f"mask (True: {one.true_means})", "scores", "masked scores", "weights")
    stages = Stages(one.keep.numpy(), one.true_means == "ignore", *parts, titles)
    return convention_stages(stages, *trace.tokens(kind, item), KIND_COLORS[kind])


@drawn
def empty_rows(trace: Trace, kind: str, layer: int, head: int, item: int = 0) -> go.Figure:
    """The weights that a query would have if every key were hidden from it, as three rows. The query is the last of the text.
    In the first row, its masked scores are −10 000. In the others they are −∞: PyTorch's softmax makes the weights NaN, and
    this project makes them 0. `kind` is `encoder`, `decoder` or `cross`; `layer`, `head` and `item` (the text in the batch)
    count from 0. Raises InputError for an unknown kind, and PathError for an index out of range."""
    path = trace.attention_path(kind, layer)
    _check_head(trace, kind, head, item)
    scores, values = trace[f"{path}.scores"].values[item, head, -1], trace[f"{path}.value.heads"].values[item, head]
    low, none = (mask_conventions.empty_row(scores, values, fill) for fill in (-10_000.0, -torch.inf))
    rows = [("−10 000", low.plain.numpy()), ("−∞", none.plain.numpy()), ("−∞, here", none.ours.numpy())]
    return rows_figure(rows, trace.tokens(kind, item)[1])


@drawn
def padding(pipeline: Pipeline, trace: Trace, count: int = 4, masked: bool = True) -> go.Figure:
    """The probability of each token of the target, without and with padding after the source. `count` is the number of padding
    tokens; if `masked` is False, the padding mask is removed in both runs. Raises InputError if the network is not this
    project's own, or read no source."""
    own_model(pipeline)
    edits = () if masked else interventions(NO_PADDING, pipeline.config)
    if not trace.source_ids:
        raise InputError("The decoder ran alone: there is no source to be padded.")
    leak = leaks.append_padding(pipeline, trace.source_ids[0], trace.target_ids[0], count, edits)
    return probability_change(leak.tokens, leak.before, leak.after, ("without padding", f"with {count} × <pad>"))


def _check_head(trace: Trace, kind: str, head: int, item: int) -> None:
    check_index("head", head, trace.heads(kind))
    check_index("item", item, trace.batch_size)
