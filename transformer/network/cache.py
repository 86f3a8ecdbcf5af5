"""The decoder's keys and values, kept from one step of an answer to the next (a key–value cache).

Without it, each new token makes the decoder read its whole prefix again. A token never attends to a later one, so what the
earlier positions computed stays as it was: only their keys and values are needed again. One exception: where a variant hides
padded queries by a finite number, such a query attends to all keys equally, later ones too. So with padding in a target, tokens
must come before it, as they do in a batch of answers.

    memory, mask = model.encode(source)
    cache = Cache()
    logits = model.decode(target, memory, mask, cache)       # [batch, all positions, vocab]
    logits = model.decode(longer, memory, mask, cache)       # [batch, the new positions, vocab]
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Kept(dict[nn.Linear, Tensor]):
    """The projected vectors of one kind of attention: projection → [batch, position, …].

    Args:
        grows: True for self-attention, whose keys grow by the new positions; False for cross-attention, whose keys stay those
            of the source.
    """

    def __init__(self, grows: bool) -> None:
        super().__init__()
        self.grows = grows

    def project(self, projection: nn.Linear, x: Tensor) -> Tensor:
        """The projections of all positions so far, of which `x` holds those that are new."""
        if projection not in self:
            self[projection] = projection(x)
        elif self.grows:
            self[projection] = torch.cat([self[projection], projection(x)], dim=1)
        return self[projection]


class Cache:
    """What a decoder keeps while it writes one batch.

    Attributes:
        length: number of target positions that were read.
        target, memory: for self-attention and for cross-attention.
    """

    def __init__(self) -> None:
        self.length = 0
        self.target, self.memory = Kept(grows=True), Kept(grows=False)

    def select(self, rows: Sequence[int]) -> None:
        """Keep these rows of the batch, in this order; a row may be named several times, as in beam search."""
        for kept in (self.target, self.memory):
            for projection, values in kept.items():
                kept[projection] = values[list(rows)]
