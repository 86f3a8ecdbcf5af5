"""Weights stored as small whole numbers: how exact they are, and which files are refused."""

from pathlib import Path

import pytest
import torch

from transformer import Pipeline
from transformer.errors import CheckpointError
from transformer.pipeline.packed import BITS, GROUP, packed, unpacked


@pytest.mark.parametrize(("dtype", "share"), [(torch.int8, 0.015), (torch.int4, 0.2)])
def test_numbers_are_stored_to_the_nearest_multiple_of_a_scale(dtype: torch.dtype, share: float):
    torch.manual_seed(0)
    weights = torch.randn(5, 3 * GROUP) * torch.logspace(-3, 2, 15).view(5, 3).repeat_interleave(GROUP, 1)
    stored = packed({"w": weights}, dtype)
    assert stored["w"].dtype == torch.uint8
    assert stored["w"].nbytes == weights.numel() * BITS[dtype] // 8
    read = unpacked(stored, "file")["w"]
    error = (read - weights).unflatten(1, (3, GROUP)).square().mean(-1).sqrt()
    assert (error <= share * weights.unflatten(1, (3, GROUP)).square().mean(-1).sqrt()).all()
    # Stored again, the numbers do not change.
    again = packed({"w": read}, dtype)
    assert all(torch.equal(stored[name], again[name]) for name in stored)


def test_biases_short_rows_and_zeros_are_kept():
    tensors = {"bias": torch.tensor([0.5, -2.0]), "short": torch.ones(2, GROUP - 1), "zero": torch.zeros(2, GROUP)}
    read = unpacked(packed(tensors, torch.int4), "file")
    assert all(torch.equal(read[name].float(), tensor) for name, tensor in tensors.items())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", list(BITS))
def test_a_packed_model_answers_as_before(dtype: torch.dtype, tmp_path: Path):
    pipeline, path = Pipeline.load("reverse"), tmp_path / "packed.safetensors"
    pipeline.save(path, dtype)
    assert Pipeline.load(path).answer("headlight") == pipeline.answer("headlight") == "thgildaeh"
    assert Pipeline.from_bytes(path.read_bytes(), "packed").config == pipeline.config


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda stored: stored.pop("w.scale"), "w has no scales that fit"),
        (lambda stored: stored.update({"w.scale": stored["w.scale"][:1]}), "w has no scales that fit"),
        (lambda stored: stored.update({"w.scale": torch.zeros(())}), "w has no scales that fit"),
        (lambda stored: stored.update({"w.scale": stored["w"]}), "w has no scales that fit"),
        (lambda stored: stored.pop("w"), "w.scale belongs to no tensor"),
    ],
)
def test_numbers_without_their_scales_are_refused(change, message: str):
    stored = packed({"w": torch.ones(2, GROUP)}, torch.int8)
    change(stored)
    with pytest.raises(CheckpointError, match=message):
        unpacked(stored, "file")
