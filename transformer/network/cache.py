"""The decoder's keys and values, kept from one step of an answer to the next (a key–value cache).

Without a cache, the decoder reads its whole prefix again for each new token. A token never attends to a later token, so the
tensors of earlier positions do not change, and only their keys and values are needed again. There is one exception: if
`target_padding` is `queries` and `mask_fill` is finite, a padded query attends to all keys equally, also to later keys. So if a
target has padding, the padding must come after the tokens, as in a batch of answers.

    memory, mask = model.encode(source)
    cache = KeyValueCache()
    logits = model.decode(target, memory, mask, cache)       # [batch, all positions, vocab]
    logits = model.decode(longer, memory, mask, cache)       # [batch, the new positions, vocab]
"""

from collections.abc import Sequence

from torch import Tensor, nn

# The first tensor of keys or values has room for this many positions. A longer answer gets a tensor of twice its length.
ROOM = 64


class AttentionCache:
    """The keys and values of self-attention, or of cross-attention, in all layers: a tensor [batch, position, …] for each
    linear map that computes keys or values.

    The vectors of self-attention are written into a tensor with room for later positions, because a new tensor for each token
    would copy all earlier vectors. Tensors that `project` returned earlier do not change.

    Args:
        grows: True for self-attention, which adds the keys of new positions; False for cross-attention, which always has the
            keys of the source.
    """

    def __init__(self, grows: bool) -> None:
        self.grows = grows
        self._values: dict[nn.Linear, Tensor] = {}
        self._lengths: dict[nn.Linear, int] = {}  # projection → number of positions that are written in its tensor

    def project(self, projection: nn.Linear, x: Tensor) -> Tensor:
        """The vectors `projection(x)` of all positions so far, [batch, position, …]. For self-attention, `x` contains only the
        new positions. For cross-attention, the first call projects `x`, and later calls return the same vectors."""
        if self.grows:
            return self._added(projection, projection(x))
        if projection not in self._values:
            self._values[projection] = projection(x)
        return self._values[projection]

    def select(self, rows: Sequence[int]) -> None:
        """Keep only the items `rows` of the batch, counted from 0, in this order. An index may occur several times."""
        for projection, values in self._values.items():
            self._values[projection] = values[list(rows)]

    def _added(self, projection: nn.Linear, new: Tensor) -> Tensor:
        values, length = self._values.get(projection), self._lengths.get(projection, 0)
        end = length + new.shape[1]
        # Autograd does not allow writing to a tensor of an earlier step, so with gradients every step gets a new tensor.
        if values is None or values.shape[1] < end or new.requires_grad:
            larger = new.new_empty(len(new), max(ROOM, 2 * end), *new.shape[2:])
            if values is not None:
                larger[:, :length] = values[:, :length]
            values = self._values[projection] = larger
        values[:, length:end] = new
        self._lengths[projection] = end
        return values[:, :end]


class KeyValueCache:
    """The keys and values that a decoder keeps while it writes one batch of answers.

    Attributes:
        length: number of target positions that the decoder has read.
        target, memory: keys and values of self-attention and of cross-attention.
    """

    def __init__(self) -> None:
        self.length = 0
        self.target, self.memory = AttentionCache(grows=True), AttentionCache(grows=False)

    def select(self, rows: Sequence[int]) -> None:
        """Keep only the items `rows` of the batch, counted from 0, in this order. An index may occur several times, as in beam
        search."""
        for kept in (self.target, self.memory):
            kept.select(rows)
