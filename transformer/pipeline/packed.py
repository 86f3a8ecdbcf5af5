"""Numbers stored as small whole numbers, so that a file takes a quarter or an eighth of the space.

Each `GROUP` of neighbouring numbers of a row shares a scale; a number is stored as its nearest multiple of that scale, in 8 or
in 4 bits. A file has the whole numbers under the name of the tensor and the scales under that name with `.scale`. Tensors whose
rows cannot be divided into such groups, and biases, are stored in half precision.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from transformer.errors import CheckpointError

GROUP = 64
SCALE = ".scale"
INT4 = torch.int4  # pyrefly: ignore[missing-attribute] (its stubs lack this type)
BITS = {torch.int8: 8, INT4: 4}
SHRINKS = (1.0, 0.9, 0.8, 0.7)  # tried for each group: the share of its largest number that is not clipped


def packed(tensors: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """The tensors to store in place of `tensors`, by name. A tensor becomes whole numbers and, under its name with `.scale`,
    their scales. Instead, a tensor with one axis, or whose rows are no multiple of 64 numbers long, gets half
    precision.

    Args:
        tensors: tensors of floating-point numbers, by name.
        dtype: `torch.int8` or `torch.int4`, for whole numbers of 8 or of 4 bits.
    """
    stored: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if tensor.dim() < 2 or tensor.shape[-1] % GROUP:
            stored[name] = tensor.half()
        else:
            stored[name], stored[name + SCALE] = _packed(tensor.float(), BITS[dtype])
    return stored


def unpacked(stored: Mapping[str, Tensor], name: str) -> dict[str, Tensor]:
    """The tensors that `packed` prepared for a file, as floating-point numbers. Tensors without scales are returned unchanged.

    Args:
        stored: the tensors of the file.
        name: the name of the file, for errors.

    Raises:
        CheckpointError: scales are missing or do not fit their whole numbers, or the whole numbers of scales are missing.
    """
    scales = {key for key in stored if key.endswith(SCALE)}
    tensors = {}
    for key, tensor in stored.items():
        if key in scales:
            if stored.get(key.removesuffix(SCALE), tensor).dtype != torch.uint8:
                raise CheckpointError("In the file {name!r}, {tensor} belongs to no tensor.", name=name, tensor=key)
        elif tensor.dtype == torch.uint8:
            scale = stored.get(key + SCALE)
            if scale is None or not _fits(tensor, scale):
                raise CheckpointError("In the file {name!r}, {tensor} has no scales that fit.", name=name, tensor=key)
            tensors[key] = _unpacked(tensor, scale)
        else:
            tensors[key] = tensor
    return tensors


def _packed(
    tensor: Float[Tensor, "*row column"], bits: int
) -> tuple[UInt8[Tensor, "*row bytes"], Float[Tensor, "*row groups"]]:
    most = 2 ** (bits - 1) - 1
    groups = tensor.unflatten(-1, (-1, GROUP))
    largest = groups.abs().amax(-1, keepdim=True)
    # Half precision has no smaller number above 0 than 6e-8; a group of zeros needs any scale that is not 0.
    tried = torch.stack([(largest * shrink / most).clamp_min(1e-7).half().float() for shrink in SHRINKS])
    whole = (groups / tried).round().clamp(-most, most)
    best = (whole * tried - groups).square().sum(-1).argmin(0)[None, ..., None]
    chosen = whole.gather(0, best.expand(1, *groups.shape))[0].flatten(-2) + most + 1
    numbers = chosen.to(torch.uint8)
    scale = tried.gather(0, best)[0, ..., 0].half()
    return (numbers if bits == 8 else numbers[..., ::2] + 16 * numbers[..., 1::2]), scale


def _fits(numbers: Tensor, scale: Tensor) -> bool:
    """Whether `scale` has one scale for each group of `numbers`, read as 8-bit or as 4-bit numbers."""
    sizes = [scale.shape[-1] * GROUP * bits // 8 for bits in BITS.values()] if scale.dim() else []
    return (
        scale.is_floating_point()
        and numbers.dim() == scale.dim()
        and numbers.shape[:-1] == scale.shape[:-1]
        and numbers.shape[-1] in sizes
    )


def _unpacked(numbers: UInt8[Tensor, "*row bytes"], scale: Float[Tensor, "*row groups"]) -> Float[Tensor, "*row column"]:
    if numbers.shape[-1] < scale.shape[-1] * GROUP:  # two numbers in a byte
        numbers = torch.stack([numbers & 15, numbers >> 4], -1).flatten(-2)
        zero = 8
    else:
        zero = 128
    return ((numbers.float() - zero).unflatten(-1, (-1, GROUP)) * scale.float()[..., None]).flatten(-2)
