"""The tensors of a trace in the order of computation, each with the tensors and parameters that it was computed from.

    for stop in walk(trace):
        stop.path, stop.group, stop.kind, stop.operation, stop.inputs, stop.parameters

A `Stop` describes one tensor. The inputs of a tensor follow from the structure of the network and its configuration
(`transformer.analysis.provenance`). The tests compute every tensor of every variant again from the inputs and parameters that
its stop names.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from transformer.analysis.checks import check_model, check_trace
from transformer.analysis.provenance import ORIGIN_RULES, UNDESCRIBED, Origin, TapContext
from transformer.errors import InputError, PathError
from transformer.network.config import NetworkConfig, TransformerConfig
from transformer.network.model import Transformer
from transformer.tracing.paths import TensorPath, find_tap
from transformer.tracing.trace import Trace

# Part of a path that names a sub-layer or an embedding → the name that all sub-layers or embeddings of this kind share.
COMMON_NAMES = {
    "self_attention": "attention",
    "cross_attention": "attention",
    "self_attention_add_norm": "add_norm",
    "cross_attention_add_norm": "add_norm",
    "feed_forward_add_norm": "add_norm",
    "source_embedding": "embedding",
    "target_embedding": "embedding",
}
# The path, the axes and the shape of every tensor of a trace.
Taps = tuple[tuple[str, tuple[str, ...], tuple[int, ...]], ...]
# Prefixes of the names of embeddings and masks, which belong to a side and run before the stack of this side.
SIDE_PREFIXES = ("source_", "target_")


@dataclass(frozen=True)
class Stop:
    """One tensor of a forward pass, and how it was computed.

    Attributes:
        path: path of the tensor in the trace, such as `encoder.layers.0.self_attention.scores`.
        axes, shape: the name and the size of each axis.
        group: the part of the network: `source`, `encoder 1`, …, `encoder`, `target`, `decoder 1`, …, `decoder`, `output`.
            Layers are counted from 1.
        part: the sub-layer: `self_attention`, `cross_attention` or `feed_forward`, which include their residual connection
            and LayerNorm; empty outside the layers.
        kind: the kind of tensor, without layer and side, such as `attention.scores`.
        operation: the operation that computes the tensor from `inputs` and `parameters`, such as `softmax`; one of
            `provenance.OPERATIONS`, or `not described`.
        inputs: paths of the tensors that it was computed from, in the order of the formula; `source_ids` or `target_ids` for
            token ids.
        parameters: names, in the model's state dict, of the parameters that it was computed with.
        recorded: True for a tensor of a Hugging Face model. Most of these tensors are `not described`, without `inputs`.
    """

    path: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    group: str
    part: str
    kind: str
    operation: str
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    recorded: bool = False


def check_stop(stop: object) -> None:
    """Check that `stop` is a Stop.

    Raises:
        InputError: `stop` is not a Stop.
    """
    if not isinstance(stop, Stop):
        raise InputError("The stop must be a Stop, one of those that `walk` returns, not {stop!r}.", stop=stop)


def walk(trace: Trace) -> tuple[Stop, ...]:
    """A description (`Stop`) of every tensor of a trace, in the order of computation.

    A tensor whose kind has no rule in `provenance.ORIGIN_RULES` has no inputs, and the operation `not described`.

    Raises:
        InputError: `trace` is not a Trace.
    """
    tensors = taps(trace)  # raises if `trace` is not a Trace
    return walk_of(trace.config, tensors)


def taps(trace: Trace) -> Taps:
    """The path, the axes and the shape of every tensor of a trace, in the order of computation.

    Raises:
        InputError: `trace` is not a Trace.
    """
    check_trace(trace)
    return tuple((step.path, step.axes, step.shape) for step in trace)


def walk_of(config: NetworkConfig, taps: Taps) -> tuple[Stop, ...]:
    """The same result as `walk(trace)`, from the model's configuration and `taps(trace)`. Both arguments can be hashed, so they
    can be the key of a cache."""
    if not isinstance(config, TransformerConfig):
        return _recorded(taps)
    decoder_only = all(path != "source_mask" for path, _, _ in taps)
    stops = []
    for name, axes, shape in taps:
        path, kind = TensorPath.parse(name), kind_of(name)
        rule = ORIGIN_RULES.get(kind)
        origin = rule(TapContext(path, config, decoder_only)) if rule else UNDESCRIBED
        stops.append(Stop(name, axes, shape, group_of(path), path.part, kind, *origin))
    return tuple(stops)


def _recorded(taps: Taps) -> tuple[Stop, ...]:
    """A `Stop` for each tensor of a Hugging Face model. Only the kinds of tensor in `_common_origin` have inputs; others are
    `UNDESCRIBED`. A tensor whose path names no group gets the group of the tensor before it."""
    paths, group, stops = {path for path, _, _ in taps}, "output", []
    for name, axes, shape in taps:
        path, kind = TensorPath.parse(name), kind_of(name)
        if path.stack or path.name.startswith(SIDE_PREFIXES) or name in ("logits", "probabilities"):
            group = group_of(path)
        operation, inputs = _common_origin(path, kind)
        origin = Origin(operation, inputs) if inputs and paths.issuperset(inputs) else UNDESCRIBED
        stops.append(Stop(name, axes, shape, group, path.part, kind, *origin, recorded=True))
    return tuple(stops)


def _common_origin(path: TensorPath, kind: str) -> tuple[str, tuple[str, ...]]:
    """The operation and the inputs of a kind of tensor that all networks compute in the same way. Both are empty for other
    kinds."""
    made = {
        "attention.scores": ("rows times rows", ("query.heads", "key.heads")),
        "attention.weights": ("softmax", ("masked_scores",)),
        "attention.head_output": ("weights times rows", ("weights", "value.heads")),
        "probabilities": ("softmax", ("logits",)),
    }
    operation, names = made.get(kind, ("", ()))
    return operation, names if kind == "probabilities" else tuple(str(path.owner / name) for name in names)


def kind_of(path: str) -> str:
    """The kind of the tensor at a path: the path without layer and side. For `encoder.layers.0.self_attention.scores`, it is
    `attention.scores`.

    Raises:
        PathError: `path` is not a string.
    """
    tap = TensorPath.parse(path)
    parts = (tap.sublayer, tap.name) if tap.sublayer else (tap.stack, *tap.name.split(".", 1))
    return ".".join(COMMON_NAMES.get(part, part) for part in parts if part)


def group_of(path: str | TensorPath) -> str:
    """The part of the network that has the tensor at a path, such as `encoder 1` (layers are counted from 1). `Stop.group`
    lists the names.

    Raises:
        PathError: `path` is neither a string nor a TensorPath.
    """
    path = TensorPath.parse(path)
    if path.layer is not None:
        return f"{path.stack} {path.layer + 1}"
    if path.stack:
        return path.stack
    return path.side if path.name.startswith(SIDE_PREFIXES) else "output"


def caller(model: Transformer, path: str) -> tuple[Callable[..., object], int]:
    """The method that computes the tensor at a path, and the number of the line in its source file that records the tensor:
    the line with `self.scores(…)`, if `scores` is the last part of the path.

    Raises:
        InputError: `model` is not a Transformer.
        PathError: the model has no such tensor, or no method of the module records it.
    """
    check_model(model)
    tap = TensorPath.parse(find_tap(model.taps, path))
    for method in vars(type(model.get_submodule(str(tap.owner)))).values():
        if not inspect.isfunction(method):
            continue
        method = inspect.unwrap(method)
        lines, first = inspect.getsourcelines(method)
        for number, line in enumerate(lines, first):
            if f"self.{tap.last}(" in line:
                return method, number
    raise PathError("No method of its module calls the tap {path!r}.", path=path)
