"""Drawings of the training of a shipped model: its losses, and its heads in the saved snapshots."""

import numpy as np
import plotly.graph_objects as go

from transformer.analysis.head_measures import MEASURES
from transformer.analysis.head_measures import measure as measures
from transformer.draw.drawing import drawn, own_model
from transformer.errors import InputError
from transformer.figures.training_figures import Curve, Series, curve_panels, part_bars, step_lines
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.protocol import TextPipeline
from transformer.pipeline.snapshots import snapshot_name
from transformer.tracing.paths import Kind, check_index
from transformer.validation import one_of


@drawn
def training(pipeline: TextPipeline, key: str = "loss") -> go.Figure:
    """A number of the training over its steps. `key` is `loss`, or `accuracy` on held-out pairs. Raises InputError if the
    model's card, a file saved with the model, has no such numbers."""
    points = [(float(point["step"]), float(point[key])) for point in pipeline.card.history if key in point]
    if not points:
        raise InputError("The card of {name!r} has no {key!r} of its training.", name=pipeline.name, key=key)
    most = max(value for _, value in points) or 1.0
    return curve_panels([Curve(key, points, most)], int(points[-1][0]), "step", logarithmic=True)


@drawn
def head_history(
    name: str, text: str, kind: str, layer: int, head: int, measure: str = "entropy", target: str | None = None
) -> go.Figure:
    """A measure of one head over the training. The other heads of its kind are grey.

    Args:
        name: name of a shipped model with snapshots, its weights saved at several steps of the training.
        text, target: the source and the target that every snapshot reads. By default the target is the trained model's answer.
        kind, layer, head: the head; `kind` is `encoder`, `decoder` or `cross`; `layer` and `head` are counted from 0.
        measure: one of `transformer.analysis.head_measures.MEASURES`, except `alignment`. `duplicate` and `induction` need a
            kind of self-attention, and a text in which a token occurs twice.

    Raises:
        InputError: the model has no snapshots or cannot read the text, or this text and kind do not have the measure.
        ConfigError: there is no such measure.
        PathError: there is no such layer or head.
    """
    saved = Pipeline.snapshots(name)
    read = target or Pipeline.load(name).answers([text])[0]
    if not saved:
        raise InputError("There are no snapshots of {name!r}.", name=name)
    one_of("measure", measure, MEASURES)
    traces = [Pipeline.load(snapshot_name(name, step)).trace(text, read) for step in saved]
    check_index("layer", layer, traces[0].layers(kind))
    check_index("head", head, traces[0].heads(kind))
    ids = None if kind == "cross" else traces[0].ids_of(Kind.of(kind).queries)[0]
    measured = [measures(trace.attention(kind)[:, 0].numpy(), ids=ids) for trace in traces]
    if measure not in measured[0]:
        raise InputError("The attention {kind!r} on this text has no measure {measure!r}.", kind=kind, measure=measure)
    values = np.stack([of_step[measure] for of_step in measured])
    lines = [
        Series(f"layer {at[0]}, head {at[1]}", saved, values[:, *at].tolist(), "first" if at == (layer, head) else "context")
        for at in np.ndindex(values.shape[1:])
    ]
    return step_lines(lines, measure, "step")


@drawn
def weight_sizes(pipeline: TextPipeline) -> go.Figure:
    """The length of the weights of each part of a model. All weights of a part count as one vector. Raises InputError if the
    pipeline's network is not this project's own."""
    sizes: dict[str, float] = {}
    for name, parameter in own_model(pipeline).named_parameters():
        part = " ".join(name.split(".")[:4] if ".layers." in name else name.split(".")[:1]).replace("_", " ")
        sizes[part] = sizes.get(part, 0.0) + float(parameter.detach().double().square().sum())
    return part_bars(list(sizes), np.sqrt(list(sizes.values())), "length")
