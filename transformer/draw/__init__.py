"""Functions that draw the figures of the app, one call for each figure. A notebook shows them without an internet connection:

    from transformer import Pipeline, draw

    pipeline = Pipeline.load("english-french")
    trace = pipeline.trace("the cat sleeps .")
    draw.head(trace, "cross", layer=1, head=2)

Arguments and the labels of figures count layers, heads, positions and steps from 0, as in the rest of the library: `layer 0` in
a figure is the argument `layer=0`. The pages of the app count layers, heads and steps from 1.
The functions return a `Drawing`: `Drawing.figure` is the Plotly figure, `Drawing.numbers` has its numbers as a table, and
`Drawing.save` writes it to an HTML file.

Most functions that draw a trace (one run of a model) also take the difference of two runs A and B. They draw A, B and B − A,
or B − A alone:

    difference = compare(pipeline.trace("it was too tired"), pipeline.trace("it was too wide"))
    draw.head(difference, "encoder", layer=1, head=0)

The other functions, such as those that run the model again, raise an `InputError` for a difference; give them `difference.a`
or `difference.b`. `rows` and `similarity` take a difference in place of a text.

Arguments of several drawings: `kind` is `encoder`, `decoder` or `cross`; `side` is `source` or `target`; `item` is the index of
the text in the batch. A function raises an `InputError` or a `PathError` if the model or the run does not have what it needs.
"""

from transformer.draw.draw_attention import (
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
from transformer.draw.draw_decoding import beam, contributions, distribution, lens, losses, smoothing
from transformer.draw.draw_gradients import attention_gradients, input_gradients
from transformer.draw.draw_layers import costs, growth, layer, residual, tensor, units
from transformer.draw.draw_masks import convention, empty_rows, mask, padding
from transformer.draw.draw_patching import estimated, needed, patched, patched_answer, per_head
from transformer.draw.draw_positions import circle, distances, embedding, position_products, positions, rotation, swap, waves
from transformer.draw.draw_tokens import rows, similarity, vocabulary
from transformer.draw.draw_training import head_history, training, weight_sizes
from transformer.draw.draw_watched import watched_head, watched_heads, watched_tensor
from transformer.draw.drawing import Drawing

__all__ = [
    "Drawing",
    "attention_gradients",
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
    "estimated",
    "growth",
    "head",
    "head_history",
    "heads",
    "importance",
    "input_gradients",
    "layer",
    "lens",
    "losses",
    "mask",
    "mean_of_heads",
    "needed",
    "padding",
    "patched",
    "patched_answer",
    "per_head",
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
    "watched_head",
    "watched_heads",
    "watched_tensor",
    "waves",
    "weight_sizes",
]
