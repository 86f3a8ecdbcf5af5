"""Tests of an exported trace, read back as in the README."""

import json
from pathlib import Path

import pytest
import safetensors
import torch

from transformer import Pipeline
from transformer.pipeline.export import trace_file


@pytest.mark.parametrize("model", ["reverse", "english-french"])
def test_every_tensor_is_read_back_with_its_axes(tmp_path: Path, model: str) -> None:
    trace = Pipeline.load(model).trace("the cat sleeps" if model == "english-french" else "abc")
    path = tmp_path / "trace.safetensors"
    path.write_bytes(trace_file(trace))
    with safetensors.safe_open(path, framework="pt") as file:
        axes, order = (json.loads(file.metadata()[name]) for name in ("axes", "order"))
        assert order == [step.path for step in trace]
        for step in trace:
            assert torch.equal(file.get_tensor(step.path), step.values)
            assert tuple(axes[step.path]) == step.axes
