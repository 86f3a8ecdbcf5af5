"""One patched run: the logits with some places taken from the other run."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from transformer.patching.pair import RunPair
from transformer.patching.places import Place, Swap, taken
from transformer.patching.sweep import DIRECTIONS, Bench, paths_of
from transformer.validation import one_of


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
