"""The way of a text through the network: every tensor of a trace in the order it was computed, and what each was made of.

    for stop in walk(trace):
        stop.path, stop.group, stop.kind, stop.operation, stop.inputs, stop.parameters

What a tensor was made of follows from the structure and the configuration (`transformer.analysis.provenance`). From the
inputs and the parameters a stop names, its tensor can be computed again, which the tests do for every tap of every variant.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from transformer.analysis.provenance import RULES, UNDESCRIBED, Place
from transformer.errors import InputError, PathError
from transformer.network.model import Transformer
from transformer.tracing.paths import TensorPath, find_tap
from transformer.tracing.trace import Trace

# The parts of a path that say which sub-layer or which side, and what they are all called.
ALIKE = {
    "self_attention": "attention",
    "cross_attention": "attention",
    "self_attention_add_norm": "add_norm",
    "cross_attention_add_norm": "add_norm",
    "feed_forward_add_norm": "add_norm",
    "source_embedding": "embedding",
    "target_embedding": "embedding",
}
# How the names of embeddings and masks begin: what belongs to a side before its stack.
INPUTS = ("source_", "target_")


@dataclass(frozen=True)
class Stop:
    """One tensor of the walk.

    Attributes:
        path: of its tap.
        axes, shape: the name and the size of each axis.
        group: where in the network: `source`, `encoder 1`, …, `encoder`, `target`, `decoder 1`, …, `decoder`, `output`.
            Layers are counted from 1.
        part: the sub-layer of a layer: `self_attention`, `cross_attention` or `feed_forward`, with its residual connection
            and LayerNorm; elsewhere empty.
        kind: what it is, whichever layer and side it belongs to: `attention.scores`.
        operation: how it was made of `inputs` and `parameters`; one of `provenance.OPERATIONS`.
        inputs: paths of the tensors it was made of, in the order of the formula; for ids `provenance.SOURCE_IDS` or
            `provenance.TARGET_IDS`.
        parameters: names in the model's state dict.
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


def walk(trace: Trace) -> tuple[Stop, ...]:
    """Every tensor of a trace, in the order it was computed.

    A tap of a kind without a rule in `provenance.RULES` has no inputs, and `provenance.UNDESCRIBED` as its operation.
    """
    alone = "source_mask" not in trace
    stops = []
    for step in trace:
        path, kind = TensorPath.parse(step.path), kind_of(step.path)
        origin = RULES[kind](Place(path, trace.config, alone)) if kind in RULES else UNDESCRIBED
        stops.append(Stop(step.path, step.axes, step.shape, group_of(path), path.part, kind, *origin))
    return tuple(stops)


def kind_of(path: str) -> str:
    """What a tap is, whichever layer and side it belongs to: `attention.scores`."""
    place = TensorPath.parse(path)
    parts = (place.sublayer, place.name) if place.sublayer else (place.stack, *place.name.split(".", 1))
    return ".".join(ALIKE.get(part, part) for part in parts if part)


def group_of(path: TensorPath) -> str:
    """Where in the network a tap is; layers counted from 1."""
    if path.layer is not None:
        return f"{path.stack} {path.layer + 1}"
    if path.stack:
        return path.stack
    return path.side if path.name.startswith(INPUTS) else "output"


def check_traced(model: Transformer, trace: Trace) -> None:
    """Refuse a trace of another model, as far as its configuration tells.

    Raises:
        InputError: the trace is of a model that is built otherwise.
    """
    if model.config != trace.config:
        raise InputError("The model must be the one that was traced; this one has another configuration.")


def caller(model: Transformer, path: str) -> tuple[Callable[..., object], int]:
    """The method whose lines made the tensor of a tap, and the number, in the file, of the line that hands it to the tap.

    Raises:
        PathError: the model has no such tap, or no method of the module that has it calls it.
    """
    tap = TensorPath.parse(find_tap(model.taps, path))
    for method in vars(type(model.get_submodule(str(tap.owner)))).values():
        if not inspect.isfunction(method):
            continue
        method = inspect.unwrap(method)
        lines, first = inspect.getsourcelines(method)
        for number, line in enumerate(lines, first):
            if f"self.{tap.last}(" in line:
                return method, number
    raise PathError("The tap {path!r} is called by no method of its module.", path=path)
