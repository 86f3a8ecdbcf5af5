"""Checkpoints: a model in one safetensors file, with its configuration, vocabularies and card (training record) in the
metadata.

Nothing is unpickled, so a file from an untrusted source cannot run code.
"""

import hashlib
import json
import math
import os
import secrets
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import safetensors
import torch
from safetensors.torch import load, save
from torch import Tensor
from torch.overrides import TorchFunctionMode

from transformer.errors import CheckpointError, HeadlightError
from transformer.network.config import TransformerConfig
from transformer.network.cost import parameters
from transformer.network.former_names import present_name
from transformer.network.model import Transformer
from transformer.pipeline.card import Card, fits
from transformer.pipeline.packed import BITS, packed, unpacked
from transformer.text.subwords import read_vocabulary
from transformer.text.vocabulary import Vocabulary

FORMAT = "1"
# Limit on numbers in tables that are not trained: this many, or `TABLES_PER_PARAMETER` for each parameter, whichever is more.
# Such tables are not in the file, so a small file could otherwise fill the memory: while a table is computed, each of its
# numbers takes about 20 bytes. With the 5000 positions of the preset `pytorch`, a model of any width is within the limit.
LARGEST_TABLES, TABLES_PER_PARAMETER = 1 << 21, 4
LARGEST_FLOAT = 1e38
NOT_WHOLE = "The file {name!r} is not a whole safetensors file ({problem})."
PICKLE = (
    "The file {name!r} is not a whole safetensors file: it begins like a pickle of Python or PyTorch. Such a file can run any "
    "program when it is opened, so it was not opened."
)
# First bytes of a pickle, and of the zip archive in which PyTorch stores a pickle.
PICKLE_STARTS = (b"\x80", b"PK\x03\x04")
SHARED = "source"  # in place of a target vocabulary that equals the source vocabulary
PARTS = ("config", "source_vocabulary", "target_vocabulary", "card")


class Checkpoint(NamedTuple):
    """The contents of a checkpoint file: a model with its vocabularies and its card.

    Attributes:
        model: the network, in evaluation mode if it was read from a file.
        source_vocabulary, target_vocabulary: the tokens of each side, as many as the model's configuration says.
        card: the record of the model's training and accuracy.
    """

    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    card: Card


def save_checkpoint(path: str | Path, checkpoint: Checkpoint, dtype: torch.dtype = torch.float32) -> None:
    """Write a checkpoint file with the parameters stored as `dtype`. No incomplete file is left if this fails.

    Raises:
        CheckpointError: an argument is invalid (as for `checkpoint_bytes`); the file cannot be written; or `load_checkpoint`
            would refuse it, for example because a number is not finite in `dtype` or a vocabulary does not fit the model.
    """
    path = as_path(path)
    # The temporary file is read back before it is renamed, so that no file is left that `load_checkpoint` would refuse.
    write_whole(path, checkpoint_bytes(checkpoint, dtype), check=lambda beside: _read(beside, path.name))


def checkpoint_bytes(checkpoint: Checkpoint, dtype: torch.dtype = torch.float32) -> bytes:
    """The contents of a checkpoint file, which `read_checkpoint` reads. Its parameters are stored as `dtype`: a floating-point
    type; or `torch.int8` or `torch.int4`, for whole numbers with a scale for each group of 64 (`transformer.pipeline.packed`).

    Raises:
        CheckpointError: `checkpoint` is not a Checkpoint, `dtype` is another type, a parameter is not finite in it, or
            JSON cannot represent the card.
    """
    if not isinstance(checkpoint, Checkpoint):
        raise CheckpointError("A checkpoint must be a Checkpoint, not {checkpoint!r}.", checkpoint=checkpoint)
    if not isinstance(dtype, torch.dtype) or not (dtype.is_floating_point or dtype in BITS):
        message = "dtype is {dtype!r}; it must be a floating-point type, such as torch.float32, or torch.int8 or torch.int4."
        raise CheckpointError(message, dtype=dtype)
    # `named_parameters` has each parameter once. `state_dict` would have a tied parameter twice.
    whole = {name: tensor.detach() for name, tensor in checkpoint.model.named_parameters()}
    stored = whole if dtype in BITS else {name: tensor.to(dtype).contiguous() for name, tensor in whole.items()}
    check_finite(stored)
    tensors = packed(whole, dtype) if dtype in BITS else stored
    shared = checkpoint.target_vocabulary == checkpoint.source_vocabulary
    metadata = {
        "config": checkpoint.model.config.to_json(),
        "source_vocabulary": checkpoint.source_vocabulary.to_json(),
        "target_vocabulary": SHARED if shared else checkpoint.target_vocabulary.to_json(),
        "card": checkpoint.card.to_json(),
    }
    metadata |= {"headlight": FORMAT, "digest": digest(tensors, metadata)}
    return save(tensors, metadata)


def load_checkpoint(path: str | Path) -> Checkpoint:
    """The checkpoint in a file, with its model in evaluation mode.

    Raises:
        CheckpointError: the file is missing, truncated, damaged or not written by Headlight; its parts do not fit together; or
            its weights are so large that a forward pass could overflow.
    """
    path = as_path(path)
    return _read(path, path.name)


def _read(path: Path, name: str) -> Checkpoint:
    """The checkpoint in a file; errors call the file `name`."""
    with opened(path, name) as file:
        metadata = _ours(file.metadata(), name)
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a mapping, it only has `keys`)
    return _checked(metadata, tensors, name)


def read_checkpoint(data: bytes, name: str) -> Checkpoint:
    """The checkpoint in `data`: the contents of a file, for example of an upload. Errors call the file `name`.

    Raises:
        CheckpointError: as for `load_checkpoint`; or an argument has another type.
    """
    if not isinstance(name, str):
        raise CheckpointError("The name of a file must be a text, not {name!r}.", name=name)
    metadata, tensors = read_safetensors(data, name)
    return _checked(_ours(metadata, name), tensors, name)


def read_safetensors(data: bytes, name: str) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors, both by name, in `data`: the contents of a safetensors file.

    Raises:
        CheckpointError: the data is not a whole safetensors file, or not bytes; the message calls the file `name`.
    """
    if not isinstance(data, bytes):
        raise CheckpointError("The contents of a file must be bytes, not {data!r}.", data=data)
    try:
        tensors = load(data)  # refuses everything that is not a whole file, so the header below is JSON
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except (KeyError, ValueError, TypeError, RuntimeError, MemoryError, safetensors.SafetensorError) as error:
        # Checked only if loading failed: a safetensors file begins with the length of its header, which can have the same
        # first byte as a pickle.
        if data.startswith(PICKLE_STARTS):
            raise CheckpointError(PICKLE, name=name) from error
        raise CheckpointError(NOT_WHOLE, name=name, problem=str(error)) from error
    return header.get("__metadata__") or {}, tensors


def _checked(metadata: Mapping[str, str], tensors: dict[str, Tensor], name: str) -> Checkpoint:
    """The checkpoint made of the metadata and tensors of a file; errors call the file `name`."""
    try:
        parts = {part: metadata[part] for part in PARTS}
        config = TransformerConfig.from_json(parts["config"])
        # Parameters are counted before the model is built, so that a false configuration cannot use up memory. (A model on
        # PyTorch's meta device would make the count unnecessary, but it imports 800 modules, which takes seconds.)
        stored, tensors = tensors, unpacked(tensors, name)
        count, needed = sum(tensor.numel() for tensor in tensors.values()), parameters(config)
        if count != needed:
            raise CheckpointError(
                "The file {name!r} has {count} parameters; its configuration needs {needed}.",
                name=name,
                count=count,
                needed=needed,
            )
        if config.table_numbers > (most := max(LARGEST_TABLES, TABLES_PER_PARAMETER * count)):
            raise CheckpointError(
                "The file {name!r} asks for tables of {tables} numbers beside its {count} parameters; allowed are {most}.",
                name=name,
                tables=config.table_numbers,
                count=count,
                most=most,
            )
        if metadata["digest"] != digest(stored, parts):
            raise CheckpointError("The file {name!r} is damaged: its contents do not match its digest.", name=name)
        source = read_vocabulary(parts["source_vocabulary"])
        target = source if parts["target_vocabulary"] == SHARED else read_vocabulary(parts["target_vocabulary"])
        card = Card.from_json(parts["card"])
    except CheckpointError:
        raise
    except HeadlightError as error:
        raise CheckpointError("The file {name!r} holds a bad value. {problem}", name=name, problem=error) from error
    except (KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError("The file {name!r} is damaged ({problem}).", name=name, problem=str(error)) from error
    expected = [(config.source_vocab, config.source_pad), (config.target_vocab, config.target_pad)]
    if [(len(source), source.pad), (len(target), target.pad)] != expected:
        raise CheckpointError("The vocabularies in the file {name!r} do not fit its configuration.", name=name)
    _check_turning_head(card, config, name)
    tensors = {present_name(key): tensor for key, tensor in tensors.items()}
    return Checkpoint(_built(config, tensors, name), source, target, card)


def _check_turning_head(card: Card, config: TransformerConfig, name: str) -> None:
    """Refuse a card (training record) whose measure `pronouns` names a layer or head that the model lacks, because pages show
    this head first. Raises `CheckpointError`."""
    turning = card.measures.get("pronouns", {})
    for part, most in (("layer", config.decoder_layers), ("head", config.heads)):
        value = turning.get(part, 1)
        if not fits(value, int, most) or not value:
            template = "The card in the file {name!r} names the {part} {value!r}; allowed are 1 to {most}."
            raise CheckpointError(template, name=name, part=part, value=value, most=most)


def read_card(path: str | Path) -> Card:
    """The card (the record of the training) in a checkpoint file. This is fast, because tensors are not read. Unlike
    `load_checkpoint`, it does not check the contents against their hash.

    Raises:
        CheckpointError: the file is missing, truncated or not written by Headlight, or its card is missing or invalid.
    """
    metadata = read_metadata(path)
    if "card" not in metadata:
        raise CheckpointError("The file {name!r} has no card.", name=as_path(path).name)
    return Card.from_json(metadata["card"])


def read_metadata(path: str | Path) -> dict[str, str]:
    """The metadata of a checkpoint file, name → text: `config`, `source_vocabulary`, `target_vocabulary`, `card`, `headlight`
    (version of the format) and `digest` (hash of the contents). Only `headlight` is checked.

    Raises:
        CheckpointError: the file is missing, truncated or not written by Headlight.
    """
    path = as_path(path)
    with opened(path, path.name) as file:
        return _ours(file.metadata(), path.name)


def as_path(path: Any) -> Path:
    """A path, given as a string or a `Path`, as a `Path`.

    Raises:
        CheckpointError: `path` is neither a string nor a Path.
    """
    if not isinstance(path, str | Path):
        raise CheckpointError("The path of a file must be a text or a Path, not {path!r}.", path=path)
    return Path(path)


@contextmanager
def opened(path: Path, name: str) -> Generator[Any]:
    """A context that yields the open reader of a safetensors file (`safetensors.safe_open`). If the file is replaced within
    the context, the reader still reads the old file.

    Args:
        path: path of the file.
        name: name of the file, for errors.

    Raises:
        CheckpointError: the file is missing, truncated or cannot be read; also if reading fails within the context.
    """
    try:
        if path.is_dir():
            raise CheckpointError("{name!r} is a folder; give the path of a file.", name=name or str(path))
        if not path.is_file():
            raise CheckpointError("There is no file {name!r}.", name=name)
        # safetensors opens the file for the header, and PyTorch once more for the tensors. If the file is replaced between the
        # two, the digest does not match. (To open it once, the whole file must be in memory before its header is checked.)
        with safetensors.safe_open(path, framework="pt") as file:
            yield file
    except CheckpointError:
        raise
    except (OSError, ValueError, RuntimeError, MemoryError, safetensors.SafetensorError) as error:
        raise CheckpointError(NOT_WHOLE, name=name, problem=str(error)) from error


def _ours(metadata: dict[str, str] | None, name: str) -> dict[str, str]:
    metadata = metadata or {}
    if metadata.get("headlight") != FORMAT:
        raise CheckpointError("The file {name!r} is a safetensors file, but no model that Headlight wrote.", name=name)
    return metadata


def _built(config: TransformerConfig, tensors: Mapping[str, Tensor], name: str) -> Transformer:
    # The tables of sinusoidal positions are not in the file, and their size does not change the shape of any parameter. So the
    # tensors are compared with a model whose tables have one row: a refused file costs no memory for tables.
    small = replace(config, max_len=1) if config.position == "sinusoidal" else config
    with _Unsampled():
        shapes = {key: tuple(tensor.shape) for key, tensor in Transformer(small).named_parameters()}
    check_tensors(tensors, shapes, name)
    largest = max(float(tensor.abs().max()) for tensor in tensors.values() if tensor.numel())
    if largest_number(config, largest) > LARGEST_FLOAT:
        raise CheckpointError(
            "The file {name!r} has weights as large as {largest:.3g}; a forward pass could overflow.",
            name=name,
            largest=largest,
        )
    with _Unsampled():
        model = Transformer(config)
    model.load_state_dict(tensors, strict=False)  # names are checked above; a tied parameter has a second name
    return model.eval()


class _Unsampled(TorchFunctionMode):
    """A context in which, for this thread only, building a model samples no random numbers and leaves weights uninitialised.

    The caller overwrites the weights afterwards. Sampling would change the random numbers of another thread that is training,
    because all threads share PyTorch's generator.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if "generator" in kwargs:  # only random functions have this argument
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def largest_number(config: TransformerConfig, weight: float) -> float:
    """An upper bound on the absolute value of every number before softmax in a forward pass of any text, if the absolute value
    of every weight is at most `weight`.

    Every operation is assumed to return its maximum: a LayerNorm returns at most √d_model, and all terms of a sum have the
    same sign.
    """
    d_model, root = config.d_model, math.sqrt(config.d_model)

    def linear(x: float, width: int) -> float:
        return weight * (width * x + 1)

    norm, embedded = weight * (root + 1), weight * (root + 1) + 1
    x = max(norm, embedded)
    hidden = linear(linear(x, d_model), config.d_ff)
    encoded = x + 2 * config.encoder_layers * max(linear(linear(x, d_model), d_model), hidden)
    memory = encoded if config.norm_first and not config.final_norm else norm
    value = linear(max(x, memory), d_model)
    decoded = x + 3 * config.decoder_layers * max(linear(value, d_model), hidden)
    scores = config.d_head * linear(x, d_model) * value
    # A LayerNorm adds up the squares of its input. Without a final LayerNorm, logits are computed from the residual stream.
    return max(scores, d_model * encoded**2, d_model * decoded**2, linear(decoded, d_model))


def check_tensors(tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], name: str) -> None:
    """Refuse tensors whose names or shapes differ from `shapes`, or whose values are not finite floating-point numbers.

    Raises:
        CheckpointError: a tensor is refused; the message names the file `name` and the tensor.
    """
    for key in sorted(shapes.keys() | tensors.keys()):
        if key not in tensors:
            raise CheckpointError("The file {name!r} lacks the tensor {tensor}.", name=name, tensor=key)
        if key not in shapes:
            raise CheckpointError("The file {name!r} has a tensor {tensor}, which its model lacks.", name=name, tensor=key)
        tensor = tensors[key]
        if tuple(tensor.shape) != shapes[key]:
            raise CheckpointError(
                "In the file {name!r}, {tensor} has shape {shape}; it must have {expected}.",
                name=name,
                tensor=key,
                shape=tuple(tensor.shape),
                expected=shapes[key],
            )
        if not tensor.is_floating_point() or not tensor.float().isfinite().all():
            raise CheckpointError("In the file {name!r}, {tensor} holds values that are not finite.", name=name, tensor=key)


def check_finite(tensors: Mapping[str, Tensor]) -> None:
    """Refuse tensors that hold NaN or infinity, because a file with them could be saved, but not opened again.

    Raises:
        CheckpointError: a tensor is refused; the message names it.
    """
    for name, tensor in tensors.items():
        if not tensor.float().isfinite().all():
            raise CheckpointError("{tensor} holds values that are not finite, so the model cannot be saved.", tensor=name)


def digest(tensors: Mapping[str, Tensor], parts: Mapping[str, str]) -> str:
    """SHA-256, in hexadecimal, of the tensors (names, types, shapes and values) and of the texts in the metadata (`parts`)."""
    sha = hashlib.sha256()
    for name in sorted(parts):
        sha.update(f"{name}\0{parts[name]}\0".encode())
    for name in sorted(tensors):
        sha.update(f"{name}\0{tensors[name].dtype}\0{tuple(tensors[name].shape)}\0".encode())
        sha.update(tensors[name].detach().flatten().view(torch.uint8).numpy().data)
    return sha.hexdigest()


def write_whole(path: Path, data: bytes, check: Callable[[Path], object] = Path) -> None:
    """Write a file atomically: the data is written to a temporary file, which is then renamed.

    Args:
        path: path of the file; its folder is created if it is missing. If it is a symbolic link, the link's target is written.
        data: the content of the file.
        check: called with the path of the temporary file before it is renamed. If it raises, the temporary file is deleted.

    Raises:
        CheckpointError: the path leads to a folder, a device, a pipe or the like; the system cannot write the file; or `check`
            raised it.
    """
    try:
        place = as_place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.parent / f"{secrets.token_hex(8)}.part"  # random, so that two writers do not share a file
        try:
            beside.write_bytes(data)
            check(beside)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except CheckpointError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: the path has a null character
        raise CheckpointError("The file {name!r} cannot be written ({problem}).", name=path.name, problem=str(error)) from error


def as_place(path: Path) -> Path:
    """The absolute path at which a file is written, with all symbolic links resolved.

    Raises:
        CheckpointError: the path leads to a folder, or to a device or a pipe, which would be destroyed if it were replaced.
        OSError, ValueError: the system cannot read the path, or the path has a null character.
    """
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise CheckpointError("The file {name!r} cannot be written (it is a folder).", name=path.name or str(path))
    if os.path.lexists(place) and not place.is_file():  # a link that is left leads to itself
        raise CheckpointError("The file {name!r} cannot be written (it is a device, a pipe or the like).", name=path.name)
    return place
