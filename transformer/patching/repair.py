"""Self-repair: how much the output of all other heads changes if the output of one head is taken from the other run."""

import numpy as np
from jaxtyping import Float

from transformer.patching.bench import DIRECTIONS, Bench
from transformer.patching.pair import RunPair, check_pair
from transformer.patching.places import Place, Swap, check_head
from transformer.validation import one_of


def changes_elsewhere(
    pair: RunPair, head: tuple[str, int, int], direction: str = "noise"
) -> dict[str, Float[np.ndarray, "layer head"]]:
    """How much the output of each head changes if the output of `head` is taken from the other run: kind of attention → the
    length of the change divided by the length of the unchanged output, over all tokens. 0 for heads that do not read the output
    of `head`, 1 for a change as long as the output itself, and infinite for a head whose output was zero. For `head` itself,
    the number is the size of the change that was made.

    A change shows that another head reacts. To see whether that head makes up for the loss, measure the answer with both heads
    taken from the other run: `patch_everywhere(pair, direction="noise", also=[Place(*head)])`.

    Args:
        pair: the two runs.
        head: kind of attention, layer and head; both are counted from 0.
        direction: `noise`: the head's output in the corrupt run is put into the clean run. `denoise`: the reverse.

    Raises:
        InputError: `pair` is not a RunPair, or the network has no such head.
        ConfigError: there is no such direction.
    """
    check_pair(pair)
    head = check_head(pair.network, head, pair.sides)
    one_of("direction", direction, DIRECTIONS)
    swap = Swap("head_output")
    bench = Bench(pair, swap, direction, items=1)
    before, after = bench.values, bench.patched([[Place(*head)]], bench.paths)[0]
    changes = {}
    for grid, (layers, _) in swap.grids(pair.network, pair.sides).items():
        rows = []
        for layer in range(layers):
            (path,) = swap.paths(pair.network, grid, layer)
            old, new = before[path][0].double(), after[path][0].double()
            change, length = (new - old).flatten(1).norm(dim=1), old.flatten(1).norm(dim=1)
            rows.append((change / length).where(change > 0, 0).numpy())
        changes[grid] = np.stack(rows)
    return changes
