"""Checkpoints of small models for tests, valid and forged."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.transformer.small import small
from transformer.errors import CheckpointError
from transformer.pipeline.card import Card
from transformer.pipeline.checkpoint import PARTS, Checkpoint, digest, load_checkpoint, read_metadata
from transformer.text.vocabulary import Vocabulary

WORDS = Vocabulary.of("abcdef", "characters")  # ten tokens, as in a small model
SOURCE, TARGET = torch.tensor([[1, 5, 6, 2, 0], [1, 9, 8, 7, 2]]), torch.tensor([[1, 7, 0], [1, 5, 6]])

CARD = Card(
    task="reverse",
    description="letters in, the same letters backwards out",
    accepts="1 to 12 letters from a to z",
    longest=12,
    command="python -m transformer.training reverse",
    recipe={"steps": 4000, "config": [["d_model", 64]], "bf16": True},
    trained_on=512_000,
    minutes=3.5,
    machine="x86_64, 2 threads",
    tested_on=3000,
    accuracy=0.9987,
    accuracy_by_form={"length 7": 1.0, "length 12": 0.99},
    history=[{"step": 250, "loss": 1.5, "accuracy": 0.25, "seconds": 9.1}],
    measures={"anything": {"at": ["all"]}},
)


def checkpoint(preset: str = "pytorch", **values: object) -> Checkpoint:
    return Checkpoint(small(preset, **values), WORDS, WORDS, CARD)


def refused(path: Path, message: str = "") -> None:
    """Check that loading the file raises a `CheckpointError` with this message and the name of the file."""
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    assert message in str(caught.value), str(caught.value)
    assert path.name[:20] in str(caught.value)


def forged(
    path: Path,
    to: Path,
    tensors: dict[str, Tensor | None] | None = None,
    parts: dict[str, str | None] | None = None,
) -> Path:
    """A copy of the checkpoint with other tensors or texts (None removes one) and a matching digest."""
    texts = read_metadata(path) | (parts or {})
    texts = {name: text for name, text in texts.items() if text is not None}
    values = {name: tensor for name, tensor in (load_file(path) | (tensors or {})).items() if tensor is not None}
    signed = {name: texts[name] for name in PARTS if name in texts}
    save_file(values, to / "forged.safetensors", texts | {"digest": digest(values, signed)})
    return to / "forged.safetensors"
