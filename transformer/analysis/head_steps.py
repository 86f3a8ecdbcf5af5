"""The matrices of one attention head, step by step, from a trace.

    for step in attention_steps(trace, "encoder", 0, 2):
        step.name, step.axes, step.values

A matrix is the part of a tensor that belongs to one item of the batch and, where there are heads, to one head.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from transformer.analysis.checks import check_trace
from transformer.analysis.provenance import TapContext
from transformer.errors import PathError
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Trace

# Steps whose tensor has another name than the step; input and memory are outside the attention.
TENSOR_NAMES = {name: f"{name}.heads" for name in ("query", "key", "value")}
# From scores to those that softmax reads. The second and the third are steps of some networks of others.
SCORING = ("scaled_scores", "capped_scores", "position_bias", "masked_scores")
# The axes that have a token at each index.
TOKEN_AXES = ("query", "key")
# The axes of which a matrix is one index: `1` stands for a tensor that all texts share.
OUTER_AXES = ("batch", "head", "key_head", "1")


@dataclass(frozen=True, eq=False)
class AttentionStep:
    """One matrix of one head's computation.

    Attributes:
        name: `input`, `memory` (cross-attention only), `query`, `key`, `value`, `scores`, `scaled_scores`, `masked_scores`,
            `weights`, `head_output`, `concatenated` or `output`; in some models of others also `capped_scores` and
            `position_bias`.
        path: of the tensor in the trace.
        axes: of the two axes shown, rows first: ("query", "d_head").
        tokens: the tokens of each of the two axes: those of the "query", of the "key", or None for an axis without tokens.
        whole: name and size of every axis of the tensor in the trace.
        values: the matrix, read-only: of one batch item and, where the tensor has a head axis, of one head.
        hidden: True where the mask hides a score; all False in the steps before the mask. Has the shape of `values`.
    """

    name: str
    path: str
    axes: tuple[str, str]
    tokens: tuple[str | None, str | None]
    whole: tuple[tuple[str, int], ...]
    values: Float[np.ndarray, "row column"]
    hidden: Bool[np.ndarray, "row column"]


def step_names(trace: Trace, kind: str) -> tuple[str, ...]:
    """The steps of a kind of attention, in the order they are computed. The variant decides whether scores are scaled or masked
    first; of a network of others there are those that its first layer recorded.

    Raises:
        InputError: no such kind, or the decoder ran alone and has no cross-attention.
    """
    check_trace(trace)
    trace.layers(kind)  # refuses a kind that did not run
    memory = ("memory",) if kind == "cross" else ()
    scoring = ("masked_scores", "scaled_scores") if trace.config.mask_before_scaling else SCORING
    names = (
        *("input", *memory, "query", "key", "value", "scores", *scoring),
        *("weights", "head_output", "concatenated", "output"),
    )
    return tuple(name for name in names if tensor_path(trace, kind, 0, name) in trace)


def attention_steps(trace: Trace, kind: str, layer: int, head: int, item: int = 0) -> tuple[AttentionStep, ...]:
    """Every matrix of one head's computation, from the input of the attention to its output.

    Args:
        trace: of a model in evaluation mode.
        kind: `encoder`, `decoder` or `cross`.
        layer, head: counted from 0.
        item: which text of the batch, counted from 0.

    Raises:
        InputError: no such kind, or the decoder ran alone and has no cross-attention.
        PathError: no such layer, head or batch item.
    """
    return tuple(attention_step(trace, kind, layer, head, name, item) for name in step_names(trace, kind))


def attention_step(trace: Trace, kind: str, layer: int, head: int, name: str, item: int) -> AttentionStep:
    """One matrix of one head's computation. Arguments and errors as for `attention_steps`.

    Args:
        name: one of `step_names`.

    Raises:
        PathError: there is no such step.
    """
    check_step(trace, kind, name)
    path = tensor_path(trace, kind, layer, name)
    attention = trace.attention_path(kind, layer)
    check_index("head", head, trace.heads(kind))
    step = trace[path]
    values = head_matrix(trace, path, head, item)
    rows, columns = (axis for axis in step.axes if axis not in OUTER_AXES)
    tokens = {"input": "query", "memory": "key"}.get(name, rows)
    hidden = np.zeros(values.shape, dtype=bool)
    names = step_names(trace, kind)
    if columns == "key" and names.index(name) >= names.index("masked_scores"):
        hidden = trace.hidden(attention)[item, head].numpy()
    whole = tuple(zip(step.axes, step.shape, strict=True))
    return AttentionStep(
        name, path, (rows, columns), (tokens, columns if columns in TOKEN_AXES else None), whole, values, hidden
    )


def check_step(trace: Trace, kind: str, name: object) -> None:
    """Refuse a name that is not one of `step_names(trace, kind)`.

    Raises:
        PathError: it is not. Other errors as for `step_names`.
    """
    names = step_names(trace, kind)
    if not isinstance(name, str) or name not in names:
        raise PathError("There is no step {name!r}; allowed are {names}.", name=name, names=", ".join(names))


def tensor_path(trace: Trace, kind: str, layer: int, name: str) -> str:
    """The path of a step's tensor in the trace.

    Args:
        name: of a step, or of another tensor of the attention: `query.split`.

    Raises:
        InputError: not a trace, or no such kind of attention in it.
        PathError: there is no such layer, or the name is not a text. Whether there is such a tensor is not checked.
    """
    check_trace(trace)
    if not isinstance(name, str):
        raise PathError("A path must be a text, not {path!r}.", path=name)
    if name == "memory":
        return "encoder.output"
    path = trace.attention_path(kind, layer) / TENSOR_NAMES.get(name, name)
    if name != "input":
        return str(path)
    read = TapContext(path, trace.config, decoder_only="source_mask" not in trace).input_path
    # Some networks of others norm the embedding before the first layer reads it.
    normed = read.removesuffix("sum") + "normalized"
    return normed if read.endswith("_embedding.sum") and normed in trace else read


def head_matrix(trace: Trace, path: str, head: int, item: int) -> np.ndarray:
    """The part of a tensor that belongs to a batch item and, where it has a head axis, to a head. Of grouped keys and values it
    is that of the group that the head is in.

    Raises:
        InputError: not a trace.
        PathError: no such tensor, head or batch item.
    """
    check_trace(trace)
    step = trace[path]
    indices: dict[str, int] = {"batch": item, "head": head, "1": 0}
    for axis, size in zip(step.axes, step.shape, strict=True):
        if axis == "key_head":
            check_index("head", head, trace.config.heads)
            indices[axis] = head * size // trace.config.heads
        elif axis in indices:
            check_index("batch item" if axis == "batch" else axis, indices[axis], size)
    return step.numpy()[tuple(indices.get(axis, slice(None)) for axis in step.axes)]
