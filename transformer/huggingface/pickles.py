"""Weights in PyTorch's own format, which is a pickle. They are read only if the operator allows it (`PICKLED_WEIGHTS`).

`torch.load(weights_only=True)` builds tensors and containers of them and calls nothing else. The memory of the tensors is
limited: the archive must be stored without compression, so nothing in it is larger than the file, and a tensor must not have
more numbers than are stored for it.
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
    """The tensors in files that `torch.save` wrote: name → tensor.

    Args:
        paths: paths of the files, whose sizes the caller has checked.

    Raises:
        CheckpointError: a file has the format from before PyTorch 1.6, is compressed, or contains anything but tensors.
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
    """Refuse a file that is not an archive of uncompressed files."""
    try:
        with zipfile.ZipFile(path) as archive:
            compressed = any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist())
    except (OSError, ValueError, zipfile.BadZipFile):
        template = "The file {name!r} is not of the format of `torch.save` since PyTorch 1.6."
        raise CheckpointError(template, name=path.name) from None
    if compressed:
        raise CheckpointError("The file {name!r} is compressed, so its size is not known before it is read.", name=path.name)


def _is_whole(tensor: object) -> bool:
    """Whether a value is a tensor with a stored number for each element. A tensor that repeats numbers could have any size."""
    if not isinstance(tensor, Tensor) or tensor.layout != torch.strided or tensor.is_quantized or tensor.device.type != "cpu":
        return False
    return tensor.numel() * tensor.element_size() <= tensor.untyped_storage().nbytes()
