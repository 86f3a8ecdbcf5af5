"""`ComparedRun`: the tensors of two compared networks beside one another, and their file, which the app opens."""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from safetensors.numpy import save

from transformer.errors import CheckpointError
from transformer.pipeline.checkpoint import read_safetensors
from transformer.tracing.trace import as_array

FORMAT, VERSION = "headlight-compared", "1"
MOST_TENSORS, MOST_LINES, LONGEST_TEXT, MOST_AXES, MOST_TOKENS = 5_000, 100, 2_000, 6, 10_000
BAD = "The file {name!r} is not a comparison: {problem}."
Values = Float[np.ndarray, "..."]


class ComparedTensor(NamedTuple):
    """A tensor of our network beside the nearest one of another.

    Attributes:
        path: its path in our network.
        axes: the names of its axes, without that of the texts.
        difference: the largest difference where the numbers count, in units of the largest number of ours; ∞ if theirs
            has no tensor of this size.
        ours: its numbers, for the first text.
        theirs: the numbers of the nearest tensor of the other network, in our order of axes; None if there is none.
    """

    path: str
    axes: tuple[str, ...]
    difference: float
    ours: Values
    theirs: Values | None


class ComparedRun(NamedTuple):
    """Two networks on the same ids and with the same weights.

    Attributes:
        says: what was found, in sentences.
        first: path of the first tensor that differs; None if the logits agree.
        tolerance: differences up to this are none.
        tensors: the tensors of our network that were looked for, in the order of computation.
        labels: side → labels of the tokens of the first text.
    """

    says: tuple[str, ...]
    first: str | None
    tolerance: float
    tensors: tuple[ComparedTensor, ...]
    labels: Mapping[str, tuple[str, ...]]


def compared_bytes(run: ComparedRun) -> bytes:
    """The contents of a safetensors file, which `read_compared` reads."""
    arrays = {}
    for index, tensor in enumerate(run.tensors):
        arrays[f"ours.{index}"] = np.ascontiguousarray(tensor.ours, np.float32)
        if tensor.theirs is not None:
            arrays[f"theirs.{index}"] = np.ascontiguousarray(tensor.theirs, np.float32)
    metadata = {
        "says": run.says,
        "first": run.first,
        "tolerance": run.tolerance,
        "tensors": [(each.path, each.axes, _finite(each.difference)) for each in run.tensors],
        "labels": run.labels,
    }
    return save(arrays, {FORMAT: VERSION, "run": json.dumps(metadata, ensure_ascii=False)})


def read_compared(data: bytes, name: str = "compared.safetensors") -> ComparedRun:
    """What `compared_bytes` wrote. Every part is checked, because the file may come from anybody, and no code is run.

    Raises:
        CheckpointError: the data is not such a file; the message calls it `name`.
    """
    metadata, tensors = read_safetensors(data, name)
    if metadata.get(FORMAT) != VERSION:
        raise CheckpointError(BAD, name=name, problem="`compare` did not write it")
    try:
        run = json.loads(metadata["run"])
        arrays = {key: as_array(tensor) for key, tensor in tensors.items()}
        says, first, listed, labels = run["says"], run["first"], run["tensors"], run["labels"]
        _need(_texts(says, MOST_LINES) and len(listed) <= MOST_TENSORS, name)
        _need(isinstance(labels, dict) and {*labels} <= {"source", "target"}, name)
        _need(all(_texts(row, MOST_TOKENS) for row in labels.values()), name)
        compared = tuple(_tensor(index, *entry, arrays=arrays, name=name) for index, entry in enumerate(listed))
        _need(len(arrays) == sum(1 + (each.theirs is not None) for each in compared), name)
        _need(first is None or any(each.path == first for each in compared), name)
        tolerance = float(run["tolerance"])
    except (KeyError, TypeError, ValueError, RecursionError, AttributeError):
        raise CheckpointError(BAD, name=name, problem="its description cannot be read") from None
    return ComparedRun(tuple(says), first, tolerance, compared, {side: tuple(row) for side, row in labels.items()})


def _tensor(index: int, path: Any, axes: Any, difference: Any, arrays: Mapping[str, np.ndarray], name: str) -> ComparedTensor:
    ours, theirs = arrays[f"ours.{index}"], arrays.get(f"theirs.{index}")
    _need(_texts([path], 1) and _texts(axes, MOST_AXES) and len({*axes}) == len(axes) == ours.ndim > 0, name)
    _need(ours.dtype == np.float32 and ours.size > 0, name)
    _need(theirs is None or (theirs.dtype == np.float32 and theirs.shape == ours.shape), name)
    return ComparedTensor(path, tuple(axes), math.inf if difference is None else float(difference), ours, theirs)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _texts(texts: Any, most: int) -> bool:
    whole = isinstance(texts, list) and len(texts) <= most
    return whole and all(isinstance(text, str) and len(text) <= LONGEST_TEXT for text in texts)


def _need(condition: bool, name: str) -> None:
    if not condition:
        raise CheckpointError(BAD, name=name, problem="a part of it cannot be right")
