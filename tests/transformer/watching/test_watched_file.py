"""Tests of files of watched modules that were changed on purpose: each is refused in a sentence."""

import json
import pickle

import pytest
import torch
from safetensors.torch import save

from transformer.errors import CheckpointError
from transformer.watching.watched import Watched

TENSORS = {"weights": torch.full((1, 2, 2), 0.5), "scores": torch.zeros(1, 2, 2), "x": torch.zeros(2)}
AXES = {"weights": ["batch", "query", "key"], "scores": ["batch", "query", "key"], "x": ["source"]}
GOOD = {
    "headlight-watched": "1",
    "axes": json.dumps(AXES),
    "order": json.dumps(["x", "scores", "weights"]),
    "tokens": json.dumps({"source": [["a", "b"]]}),
    "attentions": json.dumps({"": ["source", "source"]}),
}
BAD = {
    "format": {"headlight-watched": "2"},
    "no json": {"axes": "{"},
    "deep": {"axes": "[" * 100_000},
    "axes of another shape": {"axes": json.dumps(AXES | {"x": ["a", "b"]})},
    "axis twice": {"axes": json.dumps(AXES | {"weights": ["query", "key", "key"]})},
    "numbers as axes": {"axes": json.dumps(AXES | {"x": [1]})},
    "long axis": {"axes": json.dumps(AXES | {"x": ["a" * 1000]})},
    "order": {"order": json.dumps(["x", "x", "weights"])},
    "order of numbers": {"order": json.dumps([1, None, {}])},
    "tokens": {"tokens": json.dumps({"source": [["a", 3]]})},
    "attention without weights": {"attentions": json.dumps({"x": ["source", "source"]})},
    "sides": {"attentions": json.dumps({"": 3})},
}


def test_the_good_file_is_read() -> None:
    watched = Watched.from_bytes(save(TENSORS, GOOD))
    assert [*watched.activations] == ["x", "scores", "weights"]
    assert watched.labels("") == (("a", "b"), ("a", "b"))


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_a_changed_file_is_refused(change: dict[str, str]) -> None:
    with pytest.raises(CheckpointError):
        Watched.from_bytes(save(TENSORS, GOOD | change))


@pytest.mark.parametrize("data", [b"", b"\xff" * 100, pickle.dumps(print), save(TENSORS, GOOD)[:-1]])
def test_other_data_is_refused(data: bytes) -> None:
    with pytest.raises(CheckpointError):
        Watched.from_bytes(data)
