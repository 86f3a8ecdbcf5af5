"""Drawings of tokens as vectors: their rows in the embedding table, how similar they are, and the whole vocabulary."""

import numpy as np
import plotly.graph_objects as go

from transformer.analysis.token_geometry import cosines, plane
from transformer.draw.drawing import drawn
from transformer.draw.run_or_difference import over_rows
from transformer.figures.comparison_figures import three_maps
from transformer.figures.token_geometry_figures import aligned_maps, similarity_map, vocabulary_map
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.difference import Difference
from transformer.tracing.paths import Side
from transformer.tracing.trace import as_array
from transformer.validation import one_of


@drawn
def rows(pipeline: TextPipeline, text: str | Difference, side: Side = "source") -> go.Figure:
    """The vectors of a text's tokens, as rows of the model's embedding table. For a Difference of runs A and B in place of a
    text, the figure has maps of A, B and B − A. Raises InputError for a text that the model cannot read."""
    if isinstance(text, Difference):
        names = text.tokens_of(side)
        text[f"{side}_embedding.token"]  # for tables of other widths, this raises an error that names their sizes
        a, b = (over_rows(text, run, vectors, side, None) for run, vectors in enumerate(_vectors(text, side)))
        return three_maps(a, b, None, None, names, None, signed=True, axes=("token", "dimension"))
    encoding = pipeline.encode(text, side)
    return aligned_maps({"rows": _table(pipeline, side)[list(encoding.ids)]}, encoding.tokens, "token", "dimension")


@drawn
def similarity(pipeline: TextPipeline, text: str | Difference, side: Side = "source") -> go.Figure:
    """The similarity of the tokens of a text. The figure shows the cosine of each pair of the tokens' rows in the embedding
    table. For a Difference of runs A and B in place of a text, the figure has maps of A, B and B − A. Raises InputError for a
    text that the model cannot read."""
    if isinstance(text, Difference):
        names, vectors = text.tokens_of(side), _vectors(text, side)
        a, b = (over_rows(text, run, cosines(of, of), side, side) for run, of in enumerate(vectors))
        return three_maps(a, b, None, None, names, names, signed=True, axes=("token", "token"))
    encoding = pipeline.encode(text, side)
    vectors = _table(pipeline, side)[list(encoding.ids)]
    return similarity_map(cosines(vectors, vectors), encoding.tokens)


@drawn
def vocabulary(pipeline: TextPipeline, text: str = "", side: Side = "source") -> go.Figure:
    """Every token of the vocabulary as a point. The axes are the first two principal components of the vectors of all tokens
    but special ones, such as `<pad>`. Tokens of `text` have a ring."""
    known = pipeline.vocabulary(side)
    ids = range(len(known))
    words = [index for index in ids if index not in known.specials]
    flat = plane(_table(pipeline, side), words or None)
    marked = pipeline.encode(text, side).ids if text else ()
    classes = ["special" if index in known.specials else "word" for index in ids]
    return vocabulary_map(flat.points, known.tokens, classes, marked, flat.shares)


def _vectors(difference: Difference, side: Side) -> list[np.ndarray]:
    """For each run of a Difference, the vectors of the tokens of its first text."""
    one_of("side", side, difference.sides)
    return [run[f"{side}_embedding.token"].numpy()[0] for run in (difference.a, difference.b)]


def _table(pipeline: TextPipeline, side: Side) -> np.ndarray:
    return as_array(pipeline.token_table(side))
