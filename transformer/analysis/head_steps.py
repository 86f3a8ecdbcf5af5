"""The matrices of one attention head, step by step, from a trace.

    for step in attention_steps(trace, "encoder", 0, 2):
        step.name, step.axes, step.values

A matrix is the part of a tensor that belongs to one item of the batch and, if the tensor has a head axis, to one head.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from transformer.analysis.checks import check_trace
from transformer.analysis.provenance import TapContext
from transformer.errors import PathError
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Trace

# Name of a step → name of its tensor, if the two names differ. `input` and `memory` are not here, because their tensors are
# outside the attention.
TENSOR_NAMES = {name: f"{name}.heads" for name in ("query", "key", "value")}
# The steps after `scores`; softmax reads the result of the last step. `capped_scores` and `position_bias` exist only in some
# Hugging Face models.
SCORING = ("scaled_scores", "capped_scores", "position_bias", "masked_scores")
# The axes that have a token at each index.
TOKEN_AXES = ("query", "key")
# The axes of a tensor that its matrices do not have: each matrix is at one index of these axes. All texts share a tensor with
# an axis `1`.
OUTER_AXES = ("batch", "head", "key_head", "1")


@dataclass(frozen=True, eq=False)
class AttentionStep:
    """One matrix of one head's computation.

    Attributes:
        name: `input`, `memory` (cross-attention only), `query`, `key`, `value`, `scores`, `scaled_scores`, `masked_scores`,
            `weights`, `head_output`, `concatenated` or `output`; in some Hugging Face models also `capped_scores` and
            `position_bias`.
        path: path of the tensor in the trace.
        axes: names of the matrix's two axes, rows first, such as ("query", "d_head").
        tokens: for each of the two axes, whose tokens are its labels: "query", "key", or None for an axis without tokens.
        whole: name and size of every axis of the whole tensor in the trace.
        values: the matrix of one batch item and, if the tensor has a head axis, of one head. Read-only.
        hidden: True where the mask hides a score; all False in the steps before the mask. It has the shape of `values`.
    """

    name: str
    path: str
    axes: tuple[str, str]
    tokens: tuple[str | None, str | None]
    whole: tuple[tuple[str, int], ...]
    values: Float[np.ndarray, "row column"]
    hidden: Bool[np.ndarray, "row column"]


def step_names(trace: Trace, kind: str) -> tuple[str, ...]:
    """The names of the matrices that one head computes (`AttentionStep.name`), in the order of computation. The configuration
    of the network decides whether scores are scaled or masked first. For a Hugging Face model, the names are those of its first
    layer.

    Args:
        trace: every tensor of a forward pass, as `Pipeline.trace` returns it.
        kind: the kind of attention: `encoder`, `decoder` or `cross`.

    Raises:
        InputError: `trace` is not a Trace, there is no such kind, or the decoder ran alone and has no cross-attention.
    """
    check_trace(trace)
    trace.layers(kind)  # raises if the kind did not run
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
        trace: every tensor of a forward pass of a model in evaluation mode.
        kind: the kind of attention: `encoder`, `decoder` or `cross`.
        layer, head: numbers of the layer and the head, counted from 0.
        item: number of the text in the batch, counted from 0.

    Raises:
        InputError: `trace` is not a Trace, there is no such kind, or the decoder ran alone and has no cross-attention.
        PathError: there is no such layer, head or batch item.
    """
    return tuple(attention_step(trace, kind, layer, head, name, item) for name in step_names(trace, kind))


def attention_step(trace: Trace, kind: str, layer: int, head: int, name: str, item: int) -> AttentionStep:
    """The matrix called `name` of one head's computation. `kind` is `encoder`, `decoder` or `cross`; `layer`, `head` and `item`
    (the text in the batch) count from 0. The errors are those of `attention_steps`, and one more.

    Args:
        name: one of the names that `step_names` returns, such as `scores`.

    Raises:
        PathError: there is no matrix with this name.
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
    """Check that `name` is one of `step_names(trace, kind)`, the matrices that a head computes.

    Raises:
        InputError: as in `step_names`.
        PathError: `name` is not one of these names.
    """
    names = step_names(trace, kind)
    if not isinstance(name, str) or name not in names:
        raise PathError("There is no step {name!r}; allowed are {names}.", name=name, names=", ".join(names))


def tensor_path(trace: Trace, kind: str, layer: int, name: str) -> str:
    """The path of a tensor of one attention, such as `encoder.layers.0.self_attention.scores`. The function does not check
    whether the tensor exists.

    Args:
        kind: the kind of attention: `encoder`, `decoder` or `cross`.
        layer: number of the layer, counted from 0.
        name: one of `step_names`, or the name of another tensor of the attention, such as `query.split`.

    Raises:
        InputError: `trace` is not a Trace, or does not have this kind of attention.
        PathError: there is no such layer, or `name` is not a string.
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
    # Some other networks normalise the embedding before the first layer reads it.
    normed = read.removesuffix("sum") + "normalized"
    return normed if read.endswith("_embedding.sum") and normed in trace else read


def head_matrix(trace: Trace, path: str, head: int, item: int) -> np.ndarray:
    """The part of the tensor at `path` that belongs to one text of the batch (`item`, counted from 0) and, if the tensor has a
    head axis, to one head. If several heads share one head of keys and values, the matrix is that of the shared head.

    Raises:
        InputError: `trace` is not a Trace.
        PathError: there is no such tensor, head or batch item.
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
