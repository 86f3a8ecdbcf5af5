"""Greedy decoding: a model's answer, one token at a time."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.network.model import Transformer


class Generated(NamedTuple):
    """The ids from greedy decoding.

    Attributes:
        ids: written ids of each batch item, without `<sos>` and `<eos>`.
        ended: for each batch item, True if it ended with `<eos>`, False if it was stopped at the limit.
    """

    ids: list[list[int]]
    ended: list[bool]


@torch.inference_mode()
def greedy(
    model: Transformer, source: Int[Tensor, "batch source"], sos: int, eos: int, limit: int, never: Sequence[int] = ()
) -> Generated:
    """The ids from greedy decoding: the most probable token is appended to the decoder's input until that token is `<eos>`.

    The encoder runs once. The decoder reads its whole prefix at every step: texts here are short, so a key–value cache would
    save too little for the code it needs.

    Args:
        source: ids of the sources, padded to one length.
        sos, eos: ids in the target vocabulary.
        limit: the most tokens to write, at most `max_len - 1`.
        never: ids that must not be written.
    """
    memory, mask = model.encode(source)
    limit = min(limit, model.config.max_len - 1)
    target = torch.full((len(source), 1), sos)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(limit + 1):
        logits = model.decode(target, memory, mask)[:, -1]
        if never:
            logits = logits.index_fill(-1, torch.tensor(never), -math.inf)
        best = logits.argmax(-1)
        best = best.masked_fill(ended, model.config.target_pad)
        ended |= best == eos
        if ended.all() or target.shape[1] > limit:
            break
        target = torch.cat([target, best[:, None]], dim=1)
    return Generated([_until(row[1:], eos) for row in target.tolist()], ended.tolist())


def _until(ids: list[int], eos: int) -> list[int]:
    return ids[: ids.index(eos)] if eos in ids else ids
