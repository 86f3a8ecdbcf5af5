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

from torch import Tensor, nn

# Positions that the first tensor of keys or values has room for. A longer answer gets one of twice the length.
ROOM = 64


class Kept:
    """The projected vectors of one kind of attention: projection → [batch, position, …].

    Those of self-attention are written into a tensor with room for later positions, because a new tensor for each token would
    copy all earlier ones. What `project` returned before stays as it was.

    Args:
        grows: True for self-attention, whose keys grow by the new positions; False for cross-attention, whose keys stay those
            of the source.
    """

    def __init__(self, grows: bool) -> None:
        self.grows = grows
        self._values: dict[nn.Linear, Tensor] = {}
        self._lengths: dict[nn.Linear, int] = {}  # of these tensors, the positions that are written

    def project(self, projection: nn.Linear, x: Tensor) -> Tensor:
        """The projections of all positions so far, of which `x` holds those that are new."""
        if self.grows:
            return self._added(projection, projection(x))
        if projection not in self._values:
            self._values[projection] = projection(x)
        return self._values[projection]

    def select(self, rows: Sequence[int]) -> None:
        """Keep these rows of the batch, in this order."""
        for projection, values in self._values.items():
            self._values[projection] = values[list(rows)]

    def _added(self, projection: nn.Linear, new: Tensor) -> Tensor:
        values, length = self._values.get(projection), self._lengths.get(projection, 0)
        end = length + new.shape[1]
        # Autograd does not allow that a tensor of an earlier step is written to.
        if values is None or values.shape[1] < end or new.requires_grad:
            larger = new.new_empty(len(new), max(ROOM, 2 * end), *new.shape[2:])
            if values is not None:
                larger[:, :length] = values[:, :length]
            values = self._values[projection] = larger
        values[:, length:end] = new
        self._lengths[projection] = end
        return values[:, :end]


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
            kept.select(rows)
