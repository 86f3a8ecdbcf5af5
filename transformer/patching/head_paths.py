"""Path patching: the part of one head's effect on the answer that passes through one other head."""

import numpy as np
from jaxtyping import Float

from transformer.errors import InputError
from transformer.patching.bench import DIRECTIONS, Bench, batch_size, paths_of
from transformer.patching.pair import RunPair, check_pair
from transformer.patching.places import Head, Swap, Taken, check_head
from transformer.patching.scores import LEAST_GAPS, scores
from transformer.patching.sweep import all_places
from transformer.validation import one_of

BRANCHES = ("query", "key", "value")


def path_effects(
    pair: RunPair, sender: tuple[str, int, int], through: str = "query", direction: str = "denoise"
) -> dict[str, Float[np.ndarray, "layer head"]]:
    """The effect of one head (the sender) on the answer through each head (the receiver): kind of attention → a share for each
    receiver. The sender's output is taken from the other run, but only the receiver reads the change, and only in its query,
    key or value. The share is the change of the logit difference, divided by the gap between the clean and the corrupt run: 0
    for heads that do not read the sender's output; positive for `denoise` and negative for `noise` if the path carries the
    clean answer.

    This takes three steps (Wang et al. 2022), all in the run that `direction` changes. First, the sender is changed while all
    other heads keep their output, so that the change reaches the inputs of later heads only directly or through feed-forward
    networks. Second, in a new run, only the query, key or value of one receiver is replaced by its value from the first step.
    Third, the logit difference of this new run is measured.

    Args:
        pair: the two runs.
        sender: kind, layer and head, counted from 0.
        through: the input of the receiver: `query`, `key` or `value`.
        direction: `denoise`: the sender's clean output is put into the corrupt run. `noise`: the reverse.

    Raises:
        InputError: `pair` is not a RunPair, the network has no such head, or the runs barely differ.
        ConfigError: `through` or `direction` is not one of these.
    """
    check_pair(pair)
    sender = check_head(pair.network, sender, pair.sides)
    one_of("through", through, BRANCHES)
    one_of("direction", direction, DIRECTIONS)
    read = Swap(through)
    shapes, places = all_places(pair, read, each=False)
    bench = Bench(pair, Swap("head_output"), direction, batch_size(pair, len(places)))
    corrupt, clean = bench.ends["logit"]
    if not abs(clean - corrupt) >= LEAST_GAPS["logit"]:
        template = "The two runs barely differ (logit differences {corrupt:.3g} and {clean:.3g}), so a path carries no share."
        raise InputError(template, corrupt=corrupt, clean=clean)
    reached, _ = bench.run(bench.base, paths_of(pair, read), [*_taken_sender(bench, sender), *_frozen(bench, sender)])
    moved = {grid: np.zeros((layers, heads)) for grid, (layers, heads, _) in shapes.items()}
    for start in range(0, len(places), bench.items):
        chunk = places[start : start + bench.items]
        edits = [
            Taken(path, reached[path], ((item, place.head, None),))
            for item, place in enumerate(chunk)
            for path in read.paths(pair.network, place.grid, place.layer)
        ]
        after = scores(pair, bench.run(bench.base, (), edits)[1], bench.clean).moved(bench.base_scores)
        for place, value in zip(chunk, after.logit.tolist(), strict=False):
            moved[place.grid][place.layer, place.head] = value / (clean - corrupt)
    return moved


def _taken_sender(bench: Bench, sender: Head) -> list[Taken]:
    """The edits that take the sender's output from the other run, in all items of the batch."""
    paths = bench.swap.paths(bench.pair.network, sender.kind, sender.layer)
    return [Taken(path, bench.other[path], tuple((item, sender.head, None) for item in range(bench.items))) for path in paths]


def _frozen(bench: Bench, sender: Head) -> list[Taken]:
    """The edits that keep the output of every head but the sender as in the base run."""
    own = bench.swap.paths(bench.pair.network, sender.kind, sender.layer)
    edits = []
    for path in bench.paths:
        base = bench.values[path]
        heads = [head for head in range(base.shape[1]) if path not in own or head != sender.head]
        edits.append(Taken(path, base, tuple((item, head, None) for item in range(bench.items) for head in heads)))
    return edits
