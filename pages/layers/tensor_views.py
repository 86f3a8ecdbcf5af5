"""A tensor of the forward pass and its inputs, ready to be drawn."""

from collections.abc import Mapping, Sequence

import numpy as np

from pages.layers.stops import title
from pages.ui.format import shape
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.flow import MASKS
from transformer.analysis.provenance import ACTIVATIONS, SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import Stop
from transformer.figures import KIND_COLORS, panels
from transformer.figures.panels import Scale, TensorView, panel
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import SIDES, TensorPath
from transformer.tracing.trace import Activation

# Operations whose input and result have comparable numbers, and therefore share one colour scale.
COMPARABLE = ("add", "multiply", "divide", "hide", "split", "swap axes", "split and swap axes", "join", "LayerNorm")
COMPARABLE += tuple(ACTIVATIONS.values())
SHARES = ("weights", "probabilities")


def tensor_of(pipeline: TextPipeline, trace: Trace, stop: Stop, item: int, head: int | None) -> TensorView:
    """A stop (a tensor of the run), ready to be drawn, for one text of the batch and one head (None for all), both from 0."""
    step = trace[stop.path]
    shown = panel(step.numpy(), step.axes, _scale(stop), item, head, hidden(trace, stop))
    color = KIND_COLORS["encoder" if stop.path == "source_mask" else "decoder"]
    by_axis = tokens(trace, stop.path, item)
    if step.axes[-1] == "vocab":
        by_axis["vocab"] = pipeline.vocabulary("target").tokens
    by_axis = {axis: names for axis, names in by_axis.items() if axis in shown.axes}
    return TensorView(
        stop.path, title(stop), shape(step.shape), shown, shown.limit, color, by_axis, branch=TensorPath.parse(stop.path).branch
    )


def ids_of(trace: Trace, path: str, item: int) -> TensorView:
    """The token ids of one side, ready to be drawn, for the text `item` of the batch, from 0; `path` is `SOURCE_IDS` or
    `TARGET_IDS`. `tensor_of` does not work for the ids, because they are not in the trace's activations."""
    side, words = ("source" if path == SOURCE_IDS else "target"), text("walk")
    rows, ids = trace.tokens_of(side), np.array(trace.ids_of(side))
    shown = panel(ids, ("batch", side), "ids", item)
    # If the tokens are the ids themselves, the cells already show them, so the axis does not repeat them.
    raw = all(token == str(number) for token, number in zip(rows[item], ids[item], strict=True))
    return TensorView(path, words["given_ids"], shape(ids.shape), shown, shown.limit, "", {} if raw else {side: rows[item]})


def inputs(
    pipeline: TextPipeline, trace: Trace, stops: Mapping[str, Stop], stop: Stop, item: int, head: int | None
) -> list[TensorView]:
    """The tensors from which a stop (a tensor of the forward pass) is computed, ready to be drawn, in the order of the formula.
    `stops` has all stops by path; `item` (text of the batch) and `head` are from 0, `head` is None for all heads."""
    return [
        ids_of(trace, path, item) if path in (SOURCE_IDS, TARGET_IDS) else tensor_of(pipeline, trace, stops[path], item, head)
        for path in stop.inputs
    ]


def in_one_scale(stop: Stop, views: Sequence[TensorView]) -> list[TensorView]:
    """The same views of the inputs and the result of a stop (a tensor of the forward pass). If its operation has comparable
    inputs and result (`COMPARABLE`), all views with signed numbers get one colour scale."""
    if stop.operation not in COMPARABLE:
        return list(views)
    return panels.in_one_scale(views)


def tokens(trace: Trace, path: str, item: int) -> dict[str, Sequence[str]]:
    """Name of an axis → the tokens on it, for the tensor at `path` and the text `item` of the batch, counted from 0."""
    place = TensorPath.parse(path)
    by_axis: dict[str, Sequence[str]] = {side: rows[item] for side in SIDES if (rows := trace.tokens_of(side))}
    if place.kind is not None:
        by_axis["query"], by_axis["key"] = trace.tokens(place.kind, item)
    # If the path names no side, or a side that the model does not have, the first side is used.
    return by_axis | {"position": by_axis.get(place.side, by_axis[trace.sides[0]])}


def hidden(trace: Trace, stop: Stop) -> np.ndarray | None:
    """True for each number that the mask hides, if the stop (a tensor of the forward pass) is an attention's masked scores or
    its weights. None if no number is hidden, and for other tensors."""
    later = ("masked_scores", "weights", *(["scaled_scores"] if trace.config.mask_before_scaling else []))
    name = stop.kind.removeprefix("attention.")
    if name == stop.kind or name not in later:
        return None
    masked = trace.hidden(TensorPath.parse(stop.path).owner).numpy()
    return masked if masked.any() else None


def statistics(step: Activation, hidden: np.ndarray | None) -> tuple[tuple[float, ...], int]:
    """Minimum, maximum, mean and standard deviation of the numbers that no mask hides, and their count. The four are NaN if the
    count is 0."""
    values = step.numpy()
    visible = values if hidden is None else values[~hidden]
    if not visible.size:
        return (float("nan"),) * 4, 0
    visible = visible.astype(np.float64)
    return (float(visible.min()), float(visible.max()), float(visible.mean()), float(visible.std())), visible.size


def _scale(stop: Stop) -> Scale:
    if stop.kind in MASKS:
        return "mask"
    return "weights" if TensorPath.parse(stop.path).last in SHARES else "signed"
