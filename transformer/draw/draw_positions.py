"""Drawings of the positional encodings of a model, and of the effect of word order. Positions are counted from 0."""

import numpy as np
import plotly.graph_objects as go

from transformer.analysis import position_geometry
from transformer.analysis.checks import check_number
from transformer.draw.drawing import drawn, own_model
from transformer.draw.run_or_difference import tensors_of
from transformer.errors import InputError
from transformer.figures import position_geometry_figures as figures
from transformer.figures.token_geometry_figures import aligned_maps
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.difference import Difference
from transformer.tracing.paths import Side, check_index
from transformer.tracing.phrases import interventions
from transformer.tracing.trace import Trace, as_array
from transformer.validation import as_list

AXES = ("token", "dimension")
MOST = 64  # most positions and most dimensions of a table


@drawn
def positions(pipeline: TextPipeline, side: Side = "source") -> go.Figure:
    """The table of positional encodings of a model. Only its first 64 positions and 64 dimensions are drawn. Raises InputError
    if the model adds no such table."""
    return figures.position_map(_table(pipeline, side)[:, :MOST])


@drawn
def embedding(trace: Trace | Difference, side: Side = "source", item: int = 0) -> go.Figure:
    """Token plus position. The figure shows the vector of each token, that of its position, and their sum. For a Difference of
    runs A and B, each vector is B − A. `item` is the text in the batch, from 0; an item out of range raises PathError."""
    path, run = f"{side}_embedding", tensors_of(trace)
    check_index("item", item, run.batch_size)
    token = trace[f"{path}.scaled" if f"{path}.scaled" in trace else f"{path}.token"].numpy()[item]
    position = trace[f"{path}.position"].numpy()
    if position.ndim == 3:  # some models of Hugging Face have positions of their own for each text
        position = position[item if len(position) > 1 else 0]
    panels = {"token": token, "position": position, "sum": trace[f"{path}.sum"].numpy()[item]}
    return aligned_maps(panels, run.tokens_of(side)[item], *AXES)


@drawn
def waves(pipeline: TextPipeline, dimensions: tuple[int, ...] = (0, 1, 8, 9), side: Side = "source") -> go.Figure:
    """Columns of the table of positional encodings. The figure has a line for each of `dimensions`, counted from 0, over the
    first 64 positions. Raises InputError if the model adds no such table, and PathError for a dimension out of range."""
    table, listed = _table(pipeline, side), as_list(dimensions)
    if not listed:
        raise InputError(
            "dimensions is {dimensions!r}; it must be a row of whole numbers, such as (0, 1).", dimensions=dimensions
        )
    for dimension in listed:
        check_index("dimension", dimension, table.shape[1])
    names = [f"dimension {dimension}" for dimension in listed]
    return figures.waves(tuple(listed), table[:, listed], None, names)


@drawn
def position_products(pipeline: TextPipeline, side: Side = "source") -> go.Figure:
    """The dot product of the encodings of every two positions. Only the first 64 positions are drawn. Raises InputError if the
    model adds no table of positional encodings."""
    return figures.product_map(position_geometry.dot_products(_table(pipeline, side)))


@drawn
def distances(pipeline: TextPipeline, side: Side = "source") -> go.Figure:
    """The dot product of two positions' encodings by their distance. The figure shows its mean and its range over all pairs of
    the first 64 positions at a distance. Raises InputError if the model adds no table of positional encodings."""
    products = position_geometry.by_distance(position_geometry.dot_products(_table(pipeline, side)))
    return figures.distance_lines(products, ("mean", "least to largest"))


@drawn
def rotation(d_model: int = 16, shift: int = 5) -> go.Figure:
    """The matrix that turns the encoding of a position into that of a later position. The later position is `shift` away, and
    the encoding has alternating sines and cosines, `d_model` in all."""
    return figures.rotation_map(position_geometry.rotation(shift, d_model))


@drawn
def circle(pipeline: TextPipeline, pair: int = 0, shift: int = 5, position: int = 0, side: Side = "source") -> go.Figure:
    """One pair of dimensions of the positional encoding as an arrow in a circle. Two arrows are drawn: for `position`, and for
    the position `shift` later. Pair 0 is dimensions 0 and 1. It is a circle if the encoding has alternating sines and cosines.
    Raises PathError for a pair or a position out of range."""
    table = _table(pipeline, side)
    check_index("pair", pair, table.shape[1] // 2)
    check_index("position", position, len(table))
    check_number("shift", shift, -len(table), len(table))
    check_index("position + shift", position + shift, len(table))
    arrows = {at: f"position {at}" for at in (position, position + shift)}
    names = f"dimension {2 * pair}: sine", f"dimension {2 * pair + 1}: cosine"
    return figures.turning_circle(table[:, 2 * pair : 2 * pair + 2], arrows, names)


@drawn
def swap(pipeline: TextPipeline, text: str, first: int, second: int) -> go.Figure:
    """How far the encoder's output for each token moves when two tokens change places. `first` and `second` are their positions
    in the encoded text, from 0; a position out of range raises InputError. The figure shows runs with and without positional
    encodings."""
    encoding = pipeline.encode(text)
    runs = {"with positions": (), "without positions": interventions("no positions", pipeline.config)}
    changes = {
        name: position_geometry.swap(own_model(pipeline), encoding.ids, first, second, edits).changes
        for name, edits in runs.items()
    }
    return figures.change_bars(encoding.tokens, changes, "change")


def _table(pipeline: TextPipeline, side: Side) -> np.ndarray:
    table = pipeline.position_table(side)
    if table is None:
        raise InputError("This model adds no table of positions to its tokens.")
    return as_array(table)[:MOST]
