"""Models on disk: one safetensors file each, with configuration, vocabularies and card in its metadata.

Nothing is ever unpickled, so a file from a stranger can do no more than be refused.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import safetensors
import torch
from safetensors.torch import load, save
from torch import Tensor

from transformer.card import Card
from transformer.config import TransformerConfig
from transformer.cost import parameters
from transformer.errors import CheckpointError, HeadlightError
from transformer.model import Transformer
from transformer.vocabulary import Vocabulary

FORMAT = "1"
PARTS = ("config", "source_vocabulary", "target_vocabulary", "card")


class Checkpoint(NamedTuple):
    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    card: Card


def save_checkpoint(path: Path, checkpoint: Checkpoint, dtype: torch.dtype = torch.float32) -> None:
    """Write a checkpoint, its parameters stored as `dtype`; the file appears whole or not at all."""
    tensors = {name: tensor.to(dtype).contiguous() for name, tensor in checkpoint.model.state_dict().items()}
    metadata = {
        "config": checkpoint.model.config.to_json(),
        "source_vocabulary": checkpoint.source_vocabulary.to_json(),
        "target_vocabulary": checkpoint.target_vocabulary.to_json(),
        "card": checkpoint.card.to_json(),
    }
    metadata |= {"headlight": FORMAT, "digest": digest(tensors, metadata)}
    write_whole(path, save(tensors, metadata))


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint into a model in evaluation mode.

    Raises:
        CheckpointError: the file is missing, damaged, truncated, or not one of ours; says which.
    """
    metadata = read_metadata(path)
    try:
        tensors = load(path.read_bytes())
        parts = {name: metadata[name] for name in PARTS}
        if metadata["digest"] != digest(tensors, parts):
            raise CheckpointError("checkpoint", path.name, "is damaged: its contents do not match its own digest")
        config = TransformerConfig.from_json(parts["config"])
        vocabularies = [Vocabulary.from_json(parts[f"{side}_vocabulary"]) for side in ("source", "target")]
        card = Card.from_json(parts["card"])
    except CheckpointError:
        raise
    except HeadlightError as error:
        raise CheckpointError("checkpoint", path.name, f"holds a bad value: {error}") from error
    except (KeyError, ValueError, RuntimeError, safetensors.SafetensorError) as error:
        raise CheckpointError("checkpoint", path.name, f"is damaged: {error}") from error
    wanted = [(config.source_vocab, config.source_pad), (config.target_vocab, config.target_pad)]
    if [(len(vocabulary), vocabulary.pad) for vocabulary in vocabularies] != wanted:
        raise CheckpointError("checkpoint", path.name, "is damaged: its vocabularies do not fit its configuration")
    return Checkpoint(build(config, tensors, path.name), vocabularies[0], vocabularies[1], card)


def read_card(path: Path) -> Card:
    """The card alone, without reading the tensors.

    Raises:
        CheckpointError: as `load_checkpoint`.
    """
    metadata = read_metadata(path)
    if "card" not in metadata:
        raise CheckpointError("checkpoint", path.name, "has no card")
    return Card.from_json(metadata["card"])


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata of one of our files, or a CheckpointError."""
    if not path.is_file():
        raise CheckpointError("checkpoint", path.name, "there is no such file")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError("checkpoint", path.name, f"is not a whole safetensors file ({error})") from error
    if metadata.get("headlight") != FORMAT:
        raise CheckpointError("checkpoint", path.name, "is a safetensors file, but not one that Headlight wrote")
    return metadata


def build(config: TransformerConfig, tensors: Mapping[str, Tensor], name: str) -> Transformer:
    """A model with these tensors as its parameters, in evaluation mode.

    Raises:
        CheckpointError: the tensors are not those of this configuration.
    """
    # Counted first, so that a configuration that lies about its size cannot have it allocated. (Building on PyTorch's meta
    # device would need no count, but brings 800 modules that take seconds to import.)
    count, needed = sum(tensor.numel() for tensor in tensors.values()), parameters(config)
    if count != needed:
        raise CheckpointError("checkpoint", name, f"has {count} parameters, its configuration must have {needed}")
    with torch.random.fork_rng(devices=[]):
        model = Transformer(config)
    expected = {key: tuple(tensor.shape) for key, tensor in model.state_dict().items()}
    for key in sorted(expected.keys() | tensors.keys()):
        found = tuple(tensors[key].shape) if key in tensors else None
        if found != expected.get(key):
            raise CheckpointError("checkpoint", name, f"{key} has shape {found}, must have {expected.get(key)}")
    values_of = {key: tensor.float() for key, tensor in tensors.items()}
    for key, values in values_of.items():
        if not tensors[key].is_floating_point() or not values.isfinite().all():
            raise CheckpointError("checkpoint", name, f"{key} holds values that are not finite numbers")
    model.load_state_dict(values_of)
    return model.eval()


def digest(tensors: Mapping[str, Tensor], parts: Mapping[str, str]) -> str:
    """SHA-256 over every tensor and text, by name: tells a damaged file from a sound one."""
    sha = hashlib.sha256()
    for name in sorted(parts):
        sha.update(f"{name}\0{parts[name]}\0".encode())
    for name in sorted(tensors):
        sha.update(f"{name}\0{tensors[name].dtype}\0{tuple(tensors[name].shape)}\0".encode())
        sha.update(tensors[name].detach().flatten().view(torch.uint8).numpy().data)
    return sha.hexdigest()


def write_whole(path: Path, data: bytes) -> None:
    """Write beside, then rename: whoever reads at the same time, or a run that dies half-way, meets no half file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_bytes(data)
    beside.replace(path)
