"""Models on disk: one safetensors file each, with configuration, vocabularies and card in its metadata.

Nothing is ever unpickled, so a file from a stranger can do no more than be refused.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import torch
from safetensors.torch import save
from torch import Tensor
from torch.overrides import TorchFunctionMode

from transformer.errors import CheckpointError, HeadlightError
from transformer.network.config import TransformerConfig
from transformer.network.cost import parameters
from transformer.network.model import Transformer
from transformer.pipeline.card import Card
from transformer.text.vocabulary import Vocabulary

FORMAT = "1"
PARTS = ("config", "source_vocabulary", "target_vocabulary", "card")


class Checkpoint(NamedTuple):
    """What a file holds.

    Attributes:
        model: the network, in evaluation mode where it was read from a file.
        source_vocabulary, target_vocabulary: of as many tokens as its configuration says.
        card: where it comes from and how good it is.
    """

    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    card: Card


def save_checkpoint(path: str | Path, checkpoint: Checkpoint, dtype: torch.dtype = torch.float32) -> None:
    """Write a checkpoint, its parameters stored as `dtype`; the file appears whole or not at all.

    Raises:
        CheckpointError: the file cannot be written; or it could not be loaded again, because a number is not finite in that
            type, a vocabulary does not fit the model, or the card holds what a card cannot. Nothing is left behind.
    """
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise CheckpointError("dtype", dtype, "must be a type of floating-point numbers")
    tensors = {name: tensor.to(dtype).contiguous() for name, tensor in checkpoint.model.state_dict().items()}
    metadata = {
        "config": checkpoint.model.config.to_json(),
        "source_vocabulary": checkpoint.source_vocabulary.to_json(),
        "target_vocabulary": checkpoint.target_vocabulary.to_json(),
        "card": checkpoint.card.to_json(),
    }
    metadata |= {"headlight": FORMAT, "digest": digest(tensors, metadata)}
    # Read back before anybody else can: what `load_checkpoint` would refuse is not written.
    write_whole(path, save(tensors, metadata), check=lambda beside: _read(beside, Path(path).name))


def load_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint into a model in evaluation mode.

    Raises:
        CheckpointError: the file is missing, damaged, truncated, or not one of ours; says which.
    """
    return _read(Path(path), Path(path).name)


def _read(path: Path, name: str) -> Checkpoint:
    """`load_checkpoint`, with the name that its errors give the file."""
    with opened(path, name) as file:
        metadata = _ours(file, name)
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (no mapping, only has its `keys`)
    try:
        parts = {part: metadata[part] for part in PARTS}
        config = TransformerConfig.from_json(parts["config"])
        # Before a tensor is looked at, so that a header that lies about its size costs nothing; and before a model is built,
        # for the same reason. (Building on PyTorch's meta device would need no count, but brings 800 modules that take
        # seconds to import.)
        count, needed = sum(tensor.numel() for tensor in tensors.values()), parameters(config)
        if count != needed:
            raise CheckpointError("checkpoint", name, f"has {count} parameters, its configuration must have {needed}")
        if metadata["digest"] != digest(tensors, parts):
            raise CheckpointError("checkpoint", name, "is damaged: its contents do not match its own digest")
        source, target = (Vocabulary.from_json(parts[f"{side}_vocabulary"]) for side in ("source", "target"))
        card = Card.from_json(parts["card"])
    except CheckpointError:
        raise
    except HeadlightError as error:
        raise CheckpointError("checkpoint", name, f"holds a bad value: {error}") from error
    except (KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError("checkpoint", name, f"is damaged: {error}") from error
    wanted = [(config.source_vocab, config.source_pad), (config.target_vocab, config.target_pad)]
    if [(len(source), source.pad), (len(target), target.pad)] != wanted:
        raise CheckpointError("checkpoint", name, "its vocabularies do not fit its configuration")
    return Checkpoint(_built(config, tensors, name), source, target, card)


def read_card(path: str | Path) -> Card:
    """The card alone, without reading the tensors: quick, but the digest is over both, so that a text which was changed is
    found by `load_checkpoint` alone.

    Raises:
        CheckpointError: the file is missing, truncated or not one of ours, or its card is none.
    """
    metadata = read_metadata(path)
    if "card" not in metadata:
        raise CheckpointError("checkpoint", Path(path).name, "has no card")
    return Card.from_json(metadata["card"])


def read_metadata(path: str | Path) -> dict[str, str]:
    """The texts of one of our files: `PARTS`, `headlight` (the format) and `digest`. None of them is held against the digest.

    Raises:
        CheckpointError: the file is missing, truncated or not one of ours.
    """
    with opened(path, Path(path).name) as file:
        return _ours(file, Path(path).name)


@contextmanager
def opened(path: str | Path, name: str, what: str = "checkpoint") -> Iterator[Any]:
    """A safetensors file to read from. It is opened once: a save that replaces it meanwhile changes nothing for its reader.

    Args:
        path: where it is.
        name: what an error calls it.
        what: it should be.

    Raises:
        CheckpointError: it is missing, not whole, or cannot be read; also where that shows within the context.
    """
    try:
        if not Path(path).is_file():
            raise CheckpointError(what, name, "there is no such file")
        with safetensors.safe_open(path, framework="pt") as file:
            yield file
    except CheckpointError:
        raise
    except (OSError, ValueError, RuntimeError, MemoryError, safetensors.SafetensorError) as error:
        raise CheckpointError(what, name, f"is not a whole safetensors file ({error})") from error


def _ours(file: Any, name: str) -> dict[str, str]:
    metadata = file.metadata() or {}
    if metadata.get("headlight") != FORMAT:
        raise CheckpointError("checkpoint", name, "is a safetensors file, but not one that Headlight wrote")
    return metadata


def _built(config: TransformerConfig, tensors: Mapping[str, Tensor], name: str) -> Transformer:
    with _Undrawn():
        model = Transformer(config)
    check_tensors(tensors, {key: tuple(tensor.shape) for key, tensor in model.state_dict().items()}, "checkpoint", name)
    model.load_state_dict(tensors)
    return model.eval()


class _Undrawn(TorchFunctionMode):
    """Within this context, and in this thread alone, initialisation draws nothing and leaves the weights as they lie in memory.

    They are about to be overwritten, and PyTorch's one generator may be in use by who trains in another thread.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if "generator" in kwargs:  # only what draws takes one
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def check_tensors(tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], what: str, name: str) -> None:
    """Refuse tensors that are not of these names and shapes, or hold anything but finite floating-point numbers.

    Raises:
        CheckpointError: of `what`, a file of that `name`; says which tensor.
    """
    for key in sorted(shapes.keys() | tensors.keys()):
        if key not in tensors or key not in shapes:
            raise CheckpointError(what, name, f"{key} is {'none of its tensors' if key in tensors else 'missing'}")
        if tuple(tensors[key].shape) != shapes[key]:
            raise CheckpointError(what, name, f"{key} has shape {tuple(tensors[key].shape)}, must have {shapes[key]}")
        if not tensors[key].is_floating_point() or not tensors[key].float().isfinite().all():
            raise CheckpointError(what, name, f"{key} holds values that are not finite numbers")


def digest(tensors: Mapping[str, Tensor], parts: Mapping[str, str]) -> str:
    """SHA-256 over every tensor and text, by name, in hexadecimal: tells a damaged file from a sound one."""
    sha = hashlib.sha256()
    for name in sorted(parts):
        sha.update(f"{name}\0{parts[name]}\0".encode())
    for name in sorted(tensors):
        sha.update(f"{name}\0{tensors[name].dtype}\0{tuple(tensors[name].shape)}\0".encode())
        sha.update(tensors[name].detach().flatten().view(torch.uint8).numpy().data)
    return sha.hexdigest()


def write_whole(path: str | Path, data: bytes, what: str = "checkpoint", check: Callable[[Path], object] = Path) -> None:
    """Write beside, then rename: whoever reads at the same time, or a run that dies half-way, meets no half file.

    Args:
        path: of the file; its folder is made where there is none.
        data: what it is to hold.
        what: an error calls it.
        check: is called with the file before it has its name, and may refuse it by raising.

    Raises:
        CheckpointError: the system does not let it be written.
    """
    path = Path(path)
    beside = path.parent / f"{secrets.token_hex(8)}.part"  # two that write one file must not write into one another
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(data)
            check(beside)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except CheckpointError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: no path may hold the character of number 0
        raise CheckpointError(what, path.name, f"cannot be written ({error})") from error
