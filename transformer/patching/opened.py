"""One patched run: the logits with some places taken from the other run."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from torch import Tensor

from transformer.patching.bench import DIRECTIONS, Bench
from transformer.patching.pair import RunPair, check_pair
from transformer.patching.places import Place, Swap, check_places, taken
from transformer.patching.sweep import all_places
from transformer.validation import one_of

MOST_TOKENS = 4  # most probable tokens of each run that are compared


def patched_logits(
    pair: RunPair, places: Sequence[Place], what: str = "head_output", direction: str = "denoise", steps: str = "all"
) -> Float[Tensor, "row vocab"]:
    """The logits of one run of `pair`, from row `pair.row` (the compared row) on, while all `places` (heads or layers) have the
    tensors of the other run. If `direction` is `denoise`, the corrupt run is patched; if `noise`, the clean run. `what` names
    the tensor of a place, and `steps` is `all` or `this`, as in `patch_everywhere`, which also explains the errors."""
    check_pair(pair)
    swap = Swap(what, steps)
    shapes, _ = all_places(pair, swap, each=False)
    listed = check_places("places", places, shapes, {grid: pair.length(swap.side(grid)) for grid in shapes})
    bench = Bench(pair, swap, one_of("direction", direction, DIRECTIONS), 1)
    edits = taken(pair.network, swap, [listed], pair.row, bench.other)
    return bench.run(bench.base, (), edits)[1][0]


def most_probable(
    tokens: Sequence[int], probabilities: Sequence[Float[np.ndarray, " vocab"]], most: int = MOST_TOKENS
) -> list[int]:
    """The ids in `tokens`, then the ids of the `most` most probable tokens of each run. Each id occurs once, and the list is
    cut to 2 · `most` ids. `probabilities` has a distribution for each run."""
    listed = [*tokens, *(int(token) for of in probabilities for token in np.argsort(-of)[:most])]
    return list(dict.fromkeys(listed))[: 2 * most]
