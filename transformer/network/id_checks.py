"""The check of token ids before a network reads them: our own network, or a network of the library `transformers`."""

import torch
from torch import Tensor

from transformer.errors import InputError, shortened
from transformer.validation import has_numbers


def check_batch(side: str, ids: object, vocab: int, max_len: int, pad: int | None = None) -> None:
    """Check that a network can read `ids`: a tensor of int64 or int32 with the axes batch and length.

    Args:
        side: `source` or `target`, for the error message.
        vocab: number of rows of the token table.
        max_len: the largest number of tokens in a row.
        pad: an id that is allowed although the table has no row for it.

    Raises:
        InputError: `ids` is not such a tensor, has no numbers (on the device meta), is sparse, is empty, is longer than
            `max_len`, or has an id outside the vocabulary.
    """
    if not isinstance(ids, Tensor) or ids.dim() != 2 or ids.dtype not in (torch.int64, torch.int32) or not has_numbers(ids):
        raise InputError(
            "The {side} ids must be a tensor [batch, length] of int64 or int32, not {given}.",
            side=side,
            given=_described(ids) if isinstance(ids, Tensor) else shortened(ids),
        )
    batch, length = ids.shape
    if batch == 0:
        raise InputError("The {side} batch has no sequence; at least one is needed.", side=side)
    if not 1 <= length <= max_len:
        raise InputError("The {side} has {length} tokens; allowed are 1 to {most}.", side=side, length=length, most=max_len)
    least, most = (int(end) for end in (ids if pad is None else ids.masked_fill(ids == pad, 0)).aminmax())
    if least < 0 or most >= vocab:
        wrong = least if least < 0 else most
        template = "There is no {side} token id {token}; allowed are 0 to {most}."
        raise InputError(template, side=side, token=wrong, most=vocab - 1)


def _described(ids: Tensor) -> str:
    where = "" if has_numbers(ids) else f", {'on the device meta' if ids.is_meta else ids.layout}"
    return f"{ids.dtype} {tuple(ids.shape)}{where}"
