"""Tests of an exported trace and of an exported step, read back as in the README."""

import dataclasses
import json
from pathlib import Path

import pytest
import safetensors
import torch
from safetensors.torch import load

from transformer import InputError, Pipeline
from transformer.network.tap import Recording
from transformer.pipeline.trace_export import step_file, trace_file


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


def test_a_step_of_an_answer_holds_the_tensors_of_that_step(reverse: Pipeline) -> None:
    step = [*reverse.generate("abc")][2]
    data = step_file(reverse.model, step)
    tensors = load(data)
    assert tensors.keys() == reverse.model.taps.keys()
    for path, values in step.values.items():
        assert torch.equal(tensors[path], values), path
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    assert json.loads(header["read"]) == step.input_ids.tolist()
    assert json.loads(header["axes"])["logits"] == ["batch", "target", "vocab"]
    assert header["step"] == "3"
    with pytest.raises(InputError, match=r"^Step 0 was not traced, so it has no tensors to save\.$"):
        step_file(reverse.model, dataclasses.replace(step, index=0, values=Recording()))
