"""The way of a text through the network: every tensor of a trace in the order it was computed, and what each was made of.

    for stop in walk(trace):
        stop.path, stop.group, stop.kind, stop.operation, stop.inputs, stop.parameters

What a tensor was made of follows from the structure and the configuration (`transformer.analysis.provenance`). From the
inputs and the parameters a stop names, its tensor can be computed again, which the tests do for every tap of every variant.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from transformer.analysis.provenance import RULES, Place
from transformer.errors import InputError, PathError
from transformer.network.model import Transformer
from transformer.tracing.interventions import find_tap
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
        operation: how it was made of `inputs` and `parameters`; one of `origins.OPERATIONS`.
        inputs: paths of the tensors it was made of, in the order of the formula; for ids `origins.SOURCE_IDS` or
            `origins.TARGET_IDS`.
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

    Raises:
        PathError: a tap of a kind that `origins.RULES` does not know.
    """
    alone = "source_mask" not in trace
    stops = []
    for step in trace:
        place, kind = Place(step.path, trace.config, alone), kind_of(step.path)
        found = RULES[kind](place)
        part = place.part
        stops.append(Stop(step.path, step.axes, step.shape, group_of(step.path), part, kind, *found))
    return tuple(stops)


def kind_of(path: str) -> str:
    """What a tap is, whichever layer and side it belongs to.

    Raises:
        PathError: `origins.RULES` has no such kind.
    """
    parts = path.split(".")
    kind = ".".join(ALIKE.get(part, part) for part in (parts[3:] if "layers" in parts else parts))
    if kind not in RULES:
        raise PathError("path", path, f"is of no kind that the walk knows; it knows {', '.join(RULES)}")
    return kind


def group_of(path: str) -> str:
    """Where in the network a tap is; layers counted from 1."""
    parts = path.split(".")
    if "layers" in parts:
        return f"{parts[0]} {int(parts[2]) + 1}"
    if parts[0] in ("encoder", "decoder"):
        return parts[0]
    side = parts[0].removesuffix("_embedding").removesuffix("_mask")
    return side if side in ("source", "target") else "output"


def check_traced(model: Transformer, trace: Trace) -> None:
    """Refuse a trace of another model, as far as its configuration tells.

    Raises:
        InputError: the trace is of a model that is built otherwise.
    """
    if model.config != trace.config:
        raise InputError("model", model.config, "must be the one that was traced")


def caller(model: Transformer, path: str) -> tuple[Callable[..., object], int]:
    """The method whose lines made the tensor of a tap, and the number, in the file, of the line that hands it to the tap.

    Raises:
        PathError: the model has no such tap, or no method of the module that has it calls it.
    """
    owner, _, name = find_tap(model.taps, path).rpartition(".")
    for method in vars(type(model.get_submodule(owner))).values():
        if not inspect.isfunction(method):
            continue
        method = inspect.unwrap(method)
        lines, first = inspect.getsourcelines(method)
        for number, line in enumerate(lines, first):
            if f"self.{name}(" in line:
                return method, number
    raise PathError("path", path, "is called by no method of the module that has it")
