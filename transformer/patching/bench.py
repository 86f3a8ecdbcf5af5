"""`Bench`: computes the two runs of a pair, and patched runs, in batches of one size."""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from transformer.network.tap import Edit, Recording, tracing
from transformer.patching.pair import Ids, RunPair
from transformer.patching.places import Place, Swap, Taken, taken
from transformer.patching.scores import METRICS, Scores, scores

DIRECTIONS = ("denoise", "noise")
MOST_ITEMS = 32  # places that are patched in one pass, each in its own item of the batch
# Numbers in the logits, or in the weights of a layer, of one pass: 128 MB. With longer texts, fewer places share a pass.
MOST_NUMBERS = 1 << 25


class Bench:
    """Runs one run of a pair (the base run) with tensors taken from the other run, in batches of one size.

    Args:
        pair: the two runs.
        swap: which tensors are taken from the other run.
        direction: `denoise`: the base run is the corrupt run. `noise`: the base run is the clean run.
        items: size of the batches.
        also: places (heads or layers) that are taken from the other run in every patched run, and in the base run too.

    Attributes:
        base: the ids that the base run reads.
        other, values: path → tensor of the other run, and of the base run.
        ends: measure → its value in the corrupt and in the clean run.
        clean: log-probabilities of the clean run in the compared row, for each item.
        base_scores: the measures of each item of the base run.
        shares_prefix: whether the positions before the first patched position are computed only once, and all items use their
            keys and values. In a decoder alone, patching does not change these positions.
    """

    def __init__(self, pair: RunPair, swap: Swap, direction: str, items: int, also: tuple[Place, ...] = ()) -> None:
        self.pair, self.swap, self.items, self.also = pair, swap, items, also
        self.paths = paths_of(pair, swap)
        noise = direction == "noise"
        self.base, other = (pair.clean, pair.corrupt) if noise else (pair.corrupt, pair.clean)
        self.other, other_logits = self.run(other, self.paths)
        self.values, base_logits = self.run(self.base, self.paths)
        self.clean = (base_logits if noise else other_logits)[:, 0].double().log_softmax(-1)
        self.base_scores = scores(pair, base_logits, self.clean)
        ends = self.base_scores, scores(pair, other_logits, self.clean)
        of_corrupt, of_clean = ends[::-1] if noise else ends
        self.ends = {name: (float(getattr(of_corrupt, name)[0]), float(getattr(of_clean, name)[0])) for name in METRICS}
        if also:
            self.values, self.base_scores = self.patched([], self.paths)
        self.shares_prefix = pair.sides == ("target",) and pair.network.new_cache() is not None and not _padded(pair)

    @torch.inference_mode()
    def run(self, ids: Ids, keep: Sequence[str] = (), edits: Sequence[Edit] = (), first: int = 0) -> tuple[Recording, Tensor]:
        """Run a batch of copies of one text. Returns its recorded tensors, and its logits from the compared row on.

        Args:
            ids: the ids of the text.
            keep: paths of the tensors to record.
            edits: edits that change tensors during the run.
            first: the first position that is computed in each item; no edit changes the positions before it. The recorded
                tensors start at this position too.
        """
        network, batch, rows = self.pair.network, ids.times(self.items), self.pair.rows
        cache = self._prefix(ids, first) if first else None
        with tracing(network, edits, keep) as values:
            if batch.target is not None and batch.source is None:
                logits = network.decode(batch.target, None, None, cache, rows)
            else:
                logits = network(batch.source, batch.target)
        return values, logits[:, -rows:]

    def patched(self, places: Sequence[Sequence[Place]], keep: Sequence[str] = (), first: int = 0) -> tuple[Recording, Scores]:
        """Run the base run with places taken from the other run. Returns the recorded tensors (`keep`) and the measures.
        `places` has a list for each item of the batch. Items beyond these lists are the base run itself, so that all batches
        have the same size. `first` is the first position that is computed, from 0."""
        rest = [()] * (self.items - len(places))
        of_items = [(*self.also, *of_item) for of_item in (*places, *rest)]
        values, logits = self.run(self.base, keep, self._taken(of_items), first)
        return values, scores(self.pair, logits, self.clean)

    def changes(self, places: Sequence[Place]) -> Iterator[tuple[list[Place], Scores]]:
        """Patch each place in a batch item of its own. Yields, for each forward pass, its places and the measures of the
        patched runs minus those of the base run."""
        if self.shares_prefix:
            places = sorted(places, key=lambda place: place.position or 0)
        first, base = 0, self.base_scores
        for start in range(0, len(places), self.items):
            chunk = [*places[start : start + self.items]]
            if self._first(chunk) != first:
                first = self._first(chunk)
                base = self.patched([], first=first)[1]
            yield chunk, self.patched([[place] for place in chunk], first=first)[1].moved(base)

    def is_equal(self, place: Place) -> bool:
        """Whether the tensors at `place`, a head or layer, are equal in the base run and in the other run, so that patching it
        changes nothing."""
        return all(edit.is_equal(self.values[edit.path]) for edit in self._taken([[place]]))

    def _taken(self, places: Sequence[Sequence[Place]]) -> list[Taken]:
        return taken(self.pair.network, self.swap, places, self.pair.row, self.other)

    def _first(self, places: Sequence[Place]) -> int:
        """The first position that patching these places can change; 0 if every position is computed in each item."""
        positions = [place.position for place in (*self.also, *places) if place.position is not None]
        if not self.shares_prefix or len(positions) < len(self.also) + len(places):
            return 0
        return min(*positions, self.pair.row)

    def _prefix(self, ids: Ids, length: int) -> object:
        """A cache with the keys and values of the first `length` positions, the same for each item."""
        cache = self.pair.network.new_cache()
        assert ids.target is not None
        with tracing(self.pair.network, keep=False):  # the edits of a scope of the caller must not act here
            self.pair.network.decode(ids.target[:, :length], None, None, cache, rows=1)
        cache.select([0] * self.items)
        return cache


def paths_of(pair: RunPair, swap: Swap) -> list[str]:
    """The paths of all tensors that `swap` can take from the other run, in all layers."""
    grids = swap.grids(pair.network, pair.sides)
    return [
        path for grid, (layers, _) in grids.items() for layer in range(layers) for path in swap.paths(pair.network, grid, layer)
    ]


def batch_size(pair: RunPair, places: int) -> int:
    """The number of places to patch in one forward pass, if there are `places` in all: few enough for memory, and about equally
    many in all passes."""
    config, length = pair.network.config, max(pair.length(side) for side in pair.sides)
    rows = pair.rows if pair.sides == ("target",) else length
    most = max(1, min(MOST_ITEMS, MOST_NUMBERS // max(rows * config.target_vocab, config.heads * length**2)))
    return math.ceil(places / math.ceil(places / most))


def _padded(pair: RunPair) -> bool:
    """Whether a target has padding. Some variants let a padded position attend to later ones."""
    pad = pair.network.config.target_pad
    return any(bool((ids.target == pad).any()) for ids in (pair.clean, pair.corrupt) if ids.target is not None)
