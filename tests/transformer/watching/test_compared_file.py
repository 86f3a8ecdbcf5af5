"""Tests of the file of a comparison."""

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

from tests.transformer.small import SOURCE, TARGET, small
from transformer import CheckpointError, compare
from transformer.watching.compared_file import FORMAT, ComparedRun, ComparedTensor, compared_bytes, read_compared


@pytest.mark.slow
def test_a_file_has_each_tensor_beside_the_nearest_one_of_theirs() -> None:
    model = small(seed=1)
    comparison = compare(model, small(seed=2), SOURCE, TARGET)
    assert comparison.agrees
    run = read_compared(comparison.to_bytes())
    assert run.says == tuple(str(comparison).splitlines())
    assert run.first is None
    assert run.labels == {"source": tuple(map(str, SOURCE[0].tolist())), "target": tuple(map(str, TARGET[0].tolist()))}
    assert run.tensors[-1].path == "logits"
    with torch.no_grad():
        logits = model(SOURCE, TARGET)[0].numpy()
    assert run.tensors[-1].ours == pytest.approx(logits, abs=1e-5)
    for tensor in run.tensors:
        assert tensor.theirs is not None
        assert tensor.difference <= run.tolerance
        if not tensor.path.endswith("masked_scores"):  # hidden scores are not compared
            assert tensor.theirs == pytest.approx(tensor.ours, abs=1e-3), tensor.path


def test_an_unequal_tensor_keeps_its_difference() -> None:
    tensor = ComparedTensor("logits", ("target", "vocab"), math.inf, np.ones((2, 3), np.float32), None)
    run = read_compared(compared_bytes(ComparedRun(("x",), "logits", 1e-4, (tensor,), {})))
    assert math.isinf(run.tensors[0].difference)
    assert run.tensors[0].theirs is None


def changed(data: bytes, values: dict[str, Any], arrays: dict[str, np.ndarray | None]) -> bytes:
    """The contents of a file with some parts changed."""
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    run = json.dumps({**json.loads(header["run"]), **values})
    kept = {name: array for name, array in {**load(data), **arrays}.items() if array is not None}
    return save(kept, {**header, "run": run})


BROKEN: list[tuple[dict[str, Any], dict[str, np.ndarray | None]]] = [
    ({"says": "text"}, {}),
    ({"says": ["x" * 3_000]}, {}),
    ({"first": "nowhere"}, {}),
    ({"tensors": []}, {}),
    ({"tensors": [["a"]]}, {}),
    ({"tensors": None}, {}),
    ({"tolerance": "much"}, {}),
    ({"labels": {"other": []}}, {}),
    ({"labels": {"source": [1]}}, {}),
    ({}, {"ours.0": None}),
    ({}, {"ours.0": np.zeros((1, 1, 1), np.float64)}),
    ({}, {"theirs.0": np.zeros((1,), np.float32)}),
    ({}, {"more": np.zeros((1,), np.float32)}),
]


@pytest.mark.parametrize(("values", "arrays"), BROKEN)
def test_files_that_are_not_right_are_refused(values: dict[str, Any], arrays: dict[str, np.ndarray | None]) -> None:
    tensor = ComparedTensor("logits", ("target", "vocab"), 0.0, np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
    data = compared_bytes(ComparedRun(("x",), "logits", 1e-4, (tensor,), {"source": ("a",)}))
    assert read_compared(changed(data, {}, {})).first == "logits"
    with pytest.raises(CheckpointError, match="is not a comparison"):
        read_compared(changed(data, values, arrays))


def test_other_files_are_refused() -> None:
    with pytest.raises(CheckpointError, match="`compare` did not write it"):
        read_compared(save({"x": np.zeros(1)}, {FORMAT: "2"}))
    with pytest.raises(CheckpointError):
        read_compared(b"no file")
