"""Weights in PyTorch's own format, which is a pickle: read only where an operator says so (`PICKLED_WEIGHTS`).

`torch.load(weights_only=True)` builds tensors and containers of them and calls nothing else. What it may build is bounded
before: the archive is stored without compression, so nothing in it is larger than the file; and each tensor must have as many
numbers as are in memory.
"""

import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from transformer.errors import CheckpointError

NOT_WEIGHTS = "The file {name!r} holds more than tensors by name, or is damaged ({problem})."


def read_pickles(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The tensors in files that `torch.save` wrote, by name.

    Args:
        paths: of the files, whose sizes were checked.

    Raises:
        CheckpointError: a file of an older format, compressed, or with anything but tensors in it.
    """
    weights: dict[str, Tensor] = {}
    for path in paths:
        _check_archive(path)
        try:
            values = torch.load(path, map_location="cpu", weights_only=True)
        except (OSError, ValueError, RuntimeError, MemoryError, KeyError, EOFError, pickle.UnpicklingError) as error:
            problem = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise CheckpointError(NOT_WEIGHTS, name=path.name, problem=problem) from None
        if not isinstance(values, dict):
            raise CheckpointError(NOT_WEIGHTS, name=path.name, problem=type(values).__name__)
        for key, tensor in values.items():
            if not isinstance(key, str) or not _is_whole(tensor):
                raise CheckpointError(NOT_WEIGHTS, name=path.name, problem=str(key)[:60])
            weights[key] = tensor
    return weights


def _check_archive(path: Path) -> None:
    """Refuse all but an archive of uncompressed files."""
    try:
        with zipfile.ZipFile(path) as archive:
            compressed = any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist())
    except (OSError, ValueError, zipfile.BadZipFile):
        template = "The file {name!r} is not of the format of `torch.save` since PyTorch 1.6."
        raise CheckpointError(template, name=path.name) from None
    if compressed:
        raise CheckpointError("The file {name!r} is compressed, so its size is not known before it is read.", name=path.name)


def _is_whole(tensor: object) -> bool:
    """Whether it is a tensor with a number of its own for each of its places: one that repeats numbers could be of any size."""
    if not isinstance(tensor, Tensor) or tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        return False
    return tensor.numel() * tensor.element_size() <= tensor.untyped_storage().nbytes()
