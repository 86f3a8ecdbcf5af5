"""`ComparedRun`: the tensors of two compared networks beside one another, and their file, which the app opens."""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from safetensors.numpy import save

from transformer.pipeline.checkpoint import read_safetensors
from transformer.pipeline.foreign_file import ForeignFile, are_texts
from transformer.tracing.trace import as_array

FORMAT, VERSION = "headlight-compared", "1"
MOST_TENSORS, MOST_LINES, LONGEST_TEXT, MOST_AXES, MOST_TOKENS = 5_000, 100, 2_000, 6, 10_000
Values = Float[np.ndarray, "..."]


class ComparedTensor(NamedTuple):
    """A tensor of our `Transformer` beside the nearest tensor of the user's network.

    Attributes:
        path: its path in our network.
        axes: the names of its axes, without `batch`.
        difference: the largest difference between the two tensors, relative to the largest absolute value of ours. Source
            padding and hidden scores do not count. ∞ if the user's network has no tensor of this size.
        ours: the numbers of our tensor, for item 0 of the batch.
        theirs: the numbers of the nearest tensor of the user's network, in our order of axes; None if there is no tensor of
            this size.
    """

    path: str
    axes: tuple[str, ...]
    difference: float
    ours: Values
    theirs: Values | None


class ComparedRun(NamedTuple):
    """The tensors of our `Transformer` and of a user's network, on the same ids and with the same weights.

    Attributes:
        says: the result of the comparison, in sentences.
        first: path of the first tensor that differs; None if the logits agree.
        tolerance: the largest difference that counts as equal, in the unit of `ComparedTensor.difference`.
        tensors: the tensors of our network that were looked for in the user's network, in the order of computation.
        labels: side (`source` or `target`) → labels of the tokens of item 0 of the batch.
    """

    says: tuple[str, ...]
    first: str | None
    tolerance: float
    tensors: tuple[ComparedTensor, ...]
    labels: Mapping[str, tuple[str, ...]]


def compared_bytes(run: ComparedRun) -> bytes:
    """The contents of a safetensors file with these tensors and sentences. `read_compared` reads it."""
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
    """The comparison in bytes that `compared_bytes` returned. Every part is checked, because the file may come from anybody. No
    code in the data is run.

    Raises:
        CheckpointError: the data is not such a file; the message calls the file `name`.
    """
    metadata, tensors = read_safetensors(data, name)
    file = ForeignFile(name, "a comparison")
    if metadata.get(FORMAT) != VERSION:
        raise file.refused("`compare` did not write it")
    run = file.json(metadata, "run")
    try:
        arrays = {key: as_array(tensor) for key, tensor in tensors.items()}
        says, first, listed, labels = run["says"], run["first"], run["tensors"], run["labels"]
        file.need(are_texts(says, MOST_LINES, LONGEST_TEXT) and 0 < len(listed) <= MOST_TENSORS, "description")
        file.need(isinstance(labels, dict) and {*labels} <= {"source", "target"}, "description")
        file.need(all(are_texts(row, MOST_TOKENS, LONGEST_TEXT) for row in labels.values()), "description")
        compared = tuple(_tensor(index, *entry, arrays=arrays, file=file) for index, entry in enumerate(listed))
        file.need(len(arrays) == sum(1 + (each.theirs is not None) for each in compared), "description")
        file.need(first is None or any(each.path == first for each in compared), "description")
        tolerance = float(run["tolerance"])
    except (KeyError, TypeError, ValueError, RecursionError, AttributeError):
        raise file.refused("its description cannot be read") from None
    return ComparedRun(tuple(says), first, tolerance, compared, {side: tuple(row) for side, row in labels.items()})


def _tensor(
    index: int, path: Any, axes: Any, difference: Any, arrays: Mapping[str, np.ndarray], file: ForeignFile
) -> ComparedTensor:
    ours, theirs = arrays[f"ours.{index}"], arrays.get(f"theirs.{index}")
    file.need(
        are_texts([path], 1, LONGEST_TEXT)
        and are_texts(axes, MOST_AXES, LONGEST_TEXT)
        and len({*axes}) == len(axes) == ours.ndim > 0,
        "description",
    )
    file.need(ours.dtype == np.float32 and ours.size > 0, "description")
    file.need(theirs is None or (theirs.dtype == np.float32 and theirs.shape == ours.shape), "description")
    return ComparedTensor(path, tuple(axes), math.inf if difference is None else float(difference), ours, theirs)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
