"""One patched run: the logits with some places taken from the other run."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.patching.pair import RunPair
from transformer.patching.places import Place, Swap, taken
from transformer.patching.sweep import DIRECTIONS, Bench, paths_of
from transformer.validation import one_of

MOST_TOKENS = 4  # most probable tokens of each run that are compared


@torch.inference_mode()
def patched_logits(
    pair: RunPair, places: Sequence[Place], what: str = "head_output", direction: str = "denoise", steps: str = "all"
) -> Float[Tensor, "row vocab"]:
    """The logits of the base run with these places of the other run, from the compared row on. Arguments and errors are those
    of `patch_everywhere`."""
    swap = Swap(what, steps)
    one_of("direction", direction, DIRECTIONS)
    grids = {grid: (layers, heads, 1) for grid, (layers, heads) in swap.grids(pair.network).items()}
    bench = Bench(pair, swap, direction, 1, paths_of(pair, swap, grids))
    edits = taken(pair.network, swap, [places], pair.row, bench.other)
    return bench.run(bench.base, (), edits)[1][0]


def most_probable(
    tokens: Sequence[int], probabilities: Sequence[Float[np.ndarray, " vocab"]], most: int = MOST_TOKENS
) -> list[int]:
    """The given tokens, then the most probable tokens of each run, each token once; at most twice `most` of them."""
    listed = [*tokens, *(int(token) for of in probabilities for token in np.argsort(-of)[:most])]
    return list(dict.fromkeys(listed))[: 2 * most]
