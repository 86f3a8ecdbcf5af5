"""Every figure of the app, in one call each. A drawing shows itself in a notebook, without a network:

    from transformer import Pipeline, draw

    pipeline = Pipeline.load("english-french")
    trace = pipeline.trace("the cat sleeps .")
    draw.head(trace, "cross", layer=1, head=2)

Layers, heads, positions and steps count from 0, as in the rest of the library. `Drawing.figure` is the figure of Plotly,
`numbers` its numbers as a table, `save` writes a page.

Of several drawings: `kind` is `encoder`, `decoder` or `cross`; `side` is `source` or `target`; `item` is the text of the batch.
Any drawing raises an `InputError` or a `PathError` for what the model or the run does not have.
"""

from transformer.draw.attention import (
    difference,
    head,
    heads,
    importance,
    mean_of_heads,
    probabilities,
    rollout,
    step,
    steps,
    terms,
)
from transformer.draw.decoding import beam, contributions, distribution, lens, losses, smoothing
from transformer.draw.drawing import Drawing
from transformer.draw.layers import costs, growth, layer, residual, tensor, units
from transformer.draw.masks import convention, empty_rows, mask, padding
from transformer.draw.positions import circle, distances, embedding, position_products, positions, rotation, swap, waves
from transformer.draw.tokens import rows, similarity, vocabulary
from transformer.draw.training import head_history, training, weight_sizes

__all__ = [
    "Drawing",
    "beam",
    "circle",
    "contributions",
    "convention",
    "costs",
    "difference",
    "distances",
    "distribution",
    "embedding",
    "empty_rows",
    "growth",
    "head",
    "head_history",
    "heads",
    "importance",
    "layer",
    "lens",
    "losses",
    "mask",
    "mean_of_heads",
    "padding",
    "position_products",
    "positions",
    "probabilities",
    "residual",
    "rollout",
    "rotation",
    "rows",
    "similarity",
    "smoothing",
    "step",
    "steps",
    "swap",
    "tensor",
    "terms",
    "training",
    "units",
    "vocabulary",
    "waves",
    "weight_sizes",
]
