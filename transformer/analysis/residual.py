"""The residual stream: one vector for each token, to which every sub-layer adds its output (Vaswani et al. 2017, section 3.1).

The stream at a point is the vector to which the next sub-layer adds its output. In a post-norm model, the stream is the
normalised sum: its length hardly changes, so only its direction is of interest. In a pre-norm model, the stream is the sum
itself, whose length grows.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_array, check_trace
from transformer.analysis.walk import walk
from transformer.errors import InputError
from transformer.tracing.paths import STACK_SIDES, TensorPath, check_index
from transformer.tracing.trace import Trace

PerPoint = Float[np.ndarray, "point position"]
PerSublayer = Float[np.ndarray, "sublayer position"]


@dataclass(frozen=True, eq=False)
class Stream:
    """The residual stream of one text through the encoder or the decoder, at several points.

    Attributes:
        points: path of the stream at each point: the start, after each sub-layer, and after the final norm, if there is one.
        added: path of the output of each sub-layer.
        places: layer (counted from 1) and name of each sub-layer.
        norm: length of the vector at each point: √Σ x².
        added_norm: length of the vector that each sub-layer adds to the stream.
        cosine: cosine between the vector that a sub-layer adds and the stream before it: 1 for the same direction, 0 for a
            right angle, −1 for opposite directions.
        similarity: cosine between the stream at each point and the stream at the start.
        vectors: the stream at each point.
        outputs: the vector that each sub-layer adds to the stream.
    """

    points: tuple[str, ...]
    added: tuple[str, ...]
    places: tuple[tuple[int, str], ...]
    norm: PerPoint
    added_norm: PerSublayer
    cosine: PerSublayer
    similarity: PerPoint
    vectors: Float[np.ndarray, "point position d_model"]
    outputs: Float[np.ndarray, "sublayer position d_model"]


def stacks(trace: Trace) -> tuple[str, ...]:
    """The stacks that ran in a traced forward pass: `encoder`, `decoder` or both.

    Raises:
        InputError: `trace` is not a Trace.
    """
    check_trace(trace)
    return tuple(stack for stack in STACK_SIDES if _start(trace, stack))


def _start(trace: Trace, stack: str) -> str:
    """The path of the residual stream at its start: the last tensor of the embedding; empty if the stack did not run."""
    paths = (f"{STACK_SIDES[stack]}_embedding.{name}" for name in ("stream", "normalized", "sum", "scaled", "token"))
    return next((path for path in paths if path in trace), "")


def residual_stream(trace: Trace, stack: str, item: int = 0) -> Stream:
    """The residual stream of every token of one text in the encoder or the decoder.

    Args:
        trace: every tensor of a forward pass, as `Pipeline.trace` returns it.
        stack: `encoder` or `decoder`.
        item: number of the text in the batch, counted from 0.

    Raises:
        InputError: `trace` is not a Trace, there is no such stack, or the stack did not run.
        PathError: there is no such text.
    """
    ran = stacks(trace)
    if not isinstance(stack, str) or stack not in ran:
        raise InputError("This run has no stack {stack!r}; there is {stacks}.", stack=stack, stacks=", ".join(ran))
    stops = [stop for stop in walk(trace) if TensorPath.parse(stop.path).stack == stack]
    sums = [stop for stop in stops if stop.kind == "add_norm.sum"]
    last = "sum" if trace.config.norm_first else "normalized"
    end = [f"{stack}.output"] if trace.config.final_norm else []
    points = (_start(trace, stack), *(str(TensorPath.parse(stop.path).owner / last) for stop in sums), *end)
    stream = [_vectors(trace, path, item) for path in points]
    before = stream[: len(sums)]
    added = [
        # In other networks there may be one more norm between a sub-layer's output and the stream.
        _vectors(trace, stop.path, item) - x if stop.recorded else _vectors(trace, stop.inputs[1], item)
        for stop, x in zip(sums, before, strict=True)
    ]
    return Stream(
        points,
        tuple(str(TensorPath.parse(stop.path).whole / "output") for stop in sums),
        tuple((int(stop.group.split()[1]), stop.part) for stop in sums),
        np.stack([_length(x) for x in stream]),
        np.stack([_length(y) for y in added]),
        np.stack([cosine(y, x) for y, x in zip(added, before, strict=True)]),
        np.stack([cosine(x, stream[0]) for x in stream]),
        np.stack(stream),
        np.stack(added),
    )


def cosine(
    a: Float[np.ndarray, "position d_model"], b: Float[np.ndarray, "position d_model"]
) -> Float[np.ndarray, " position"]:
    """The cosine of the angle between each row of `a` and the row of `b` at the same position; 0 if one of the rows is zero.

    Raises:
        InputError: `a` and `b` are not arrays of numbers with the axes position and d_model and the same shape.
    """
    for name, vectors in (("a", a), ("b", b)):
        check_array(name, vectors, "position d_model")
    if a.shape != b.shape:
        raise InputError("a has shape {a} and b has shape {b}; they must be equal.", a=a.shape, b=b.shape)
    lengths = _length(a) * _length(b)
    return np.divide((a * b).sum(-1), lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _vectors(trace: Trace, path: str, item: int) -> Float[np.ndarray, "position d_model"]:
    values = trace[path].numpy()
    check_index("batch item", item, len(values))
    return values[item].astype(np.float64)


def _length(x: Float[np.ndarray, "position d_model"]) -> Float[np.ndarray, " position"]:
    return np.sqrt((x * x).sum(-1))
