"""`patch_everywhere`: the tensor of one head or layer after another is taken from the other run of a pair, and the answer is
measured each time."""

import itertools
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from transformer.errors import InputError
from transformer.patching.bench import DIRECTIONS, Bench, batch_size
from transformer.patching.pair import RunPair, check_pair
from transformer.patching.places import Place, Swap, check_places
from transformer.patching.scores import LEAST_GAPS, LEAST_PART, METRICS, Scores
from transformer.validation import one_of

EACH = ("together", "each")

Grids = dict[str, Float[np.ndarray, "layer head position"]]


@dataclass(frozen=True, eq=False)
class Patched:
    """The results of patching so far: how each measure of the answer changes if a place (head or layer) of one run is replaced
    by that of the other run.

    Attributes:
        row: the compared row of the logits, counted from 0.
        tokens: ids of the two compared tokens.
        swap: which tensors were taken.
        direction: `denoise`: places of the clean run were put into the corrupt run. `noise`: places of the corrupt run were put
            into the clean run.
        also: places that were taken from the other run in every run.
        done, total: number of places that have been patched so far, and of all places.
        ends: measure (`METRICS`) → its value in the corrupt and in the clean run.
        base: measure → its value in the run into which the places are put: the corrupt or the clean run, with the places of
            `also` taken.
        moved: measure → `Place.grid` (`encoder`, `decoder` or `cross`) → the change of the measure by patching each place,
            [layer, head, position]; NaN for places that have not been patched yet. Position has the size 1 if all positions
            were taken together.
    """

    row: int
    tokens: tuple[int, int]
    swap: Swap
    direction: str
    also: tuple[Place, ...]
    done: int
    total: int
    ends: dict[str, tuple[float, float]]
    base: dict[str, float]
    moved: dict[str, Grids]

    def differs(self, metric: str = "logit") -> bool:
        """Whether the two runs differ enough in a measure for `shares` to mean something: by at least `LEAST_GAPS[metric]`. For
        `logit`, the values must also differ by at least `LEAST_PART` times the larger of their magnitudes.

        Raises:
            ConfigError: there is no such measure.
        """
        corrupt, clean = self.ends[one_of("metric", metric, METRICS)]
        least = max(LEAST_GAPS[metric], LEAST_PART * max(abs(corrupt), abs(clean)) if metric == "logit" else 0.0)
        return abs(clean - corrupt) >= least

    def shares(self, metric: str = "logit") -> Grids:
        """`Place.grid` (`encoder`, `decoder` or `cross`) → the share of each place: where the patched run's measure lies
        between that of the corrupt run (0) and that of the clean run (1). A share can also be below 0 or above 1.

        Raises:
            ConfigError: there is no such measure.
            InputError: the runs differ too little in this measure.
        """
        differs = self.differs(metric)
        corrupt, clean = self.ends[metric]
        if not differs:
            raise InputError(
                "The two runs barely differ in this measure ({corrupt:.3g} and {clean:.3g}), so no share of the difference is "
                "computed; look at `moved`.",
                corrupt=corrupt,
                clean=clean,
            )
        gap = clean - corrupt
        return {grid: (self.base[metric] - corrupt) / gap + values / gap for grid, values in self.moved[metric].items()}

    def values(self, metric: str = "logit") -> Grids:
        """`Place.grid` (`encoder`, `decoder` or `cross`) → the measure itself in the run patched at each place.

        Raises:
            ConfigError: there is no such measure.
        """
        base = self.base[one_of("metric", metric, METRICS)]
        return {grid: base + values for grid, values in self.moved[metric].items()}


def patch_everywhere(
    pair: RunPair,
    what: str = "head_output",
    direction: str = "denoise",
    positions: str = "together",
    steps: str = "all",
    also: Sequence[Place] = (),
) -> Generator[Patched, None, None]:
    """Patch one run of the pair at one place (head or layer) after another, with the tensor of the other run, and measure each
    patched run. Yields the results so far after each forward pass, which is a batch of runs with one patched place each.

        for patched in patch_everywhere(pair):
            print(patched.done, patched.total)
        patched.shares()["cross"]            # [layer, head, position]

    Patching a run into itself changes no bit: the other run, the base run and the patched runs are computed in batches of the
    same size, and each item is compared with the same item of the base run (the run that is patched). Places whose tensors are
    equal in both runs change nothing, so they are not run; their results come first.

    Args:
        pair: the two runs.
        what: the tensor that is taken. Of each head: `head_output` (its weighted average of the values), `weights` (its
            attention weights), `query`, `key`, `value`, or `key_and_value` (in cross-attention: all that the head reads of the
            encoder's output). Of each layer: `attention` or `feed_forward` (the output of this sub-layer), `residual_stream`
            (after the layer). Before the first layer: `embedding`.
        direction: `denoise`: places of the clean run are put into the corrupt run. `noise`: the reverse.
        positions: `together`: all tokens of a place at once; `each`: every token as a place of its own.
        steps: `all` steps of the decoder, or `this`: at a place in the decoder, only the step that writes the token of
            the compared row.
        also: places that are taken from the other run in every run, also in the base run.

    Raises:
        InputError: `pair` is not a RunPair, its network is in training mode, or the network has no such tensors or places.
        ConfigError: `what`, `direction`, `positions` or `steps` is not one of these.
    """
    check_pair(pair)
    swap = Swap(what, steps)
    one_of("direction", direction, DIRECTIONS)
    each = one_of("positions", positions, EACH) == "each"
    shapes, places = all_places(pair, swap, each)
    also = check_places("also", also, shapes, {grid: pair.length(swap.side(grid)) for grid in shapes})
    return _sweep(pair, swap, direction, also, shapes, places)


def all_places(pair: RunPair, swap: Swap, each: bool) -> tuple[dict[str, tuple[int, int, int]], list[Place]]:
    """The shape [layer, head, position] of the places of each `Place.grid` (`encoder`, `decoder` or `cross`), and all these
    places. With `each`, every position is a place of its own; otherwise the axis of positions has the size 1.

    Raises:
        InputError: the network has no such tensors.
    """
    shapes = {
        grid: (layers, heads, pair.length(swap.side(grid)) if each else 1)
        for grid, (layers, heads) in swap.grids(pair.network, pair.sides).items()
    }
    if not shapes:
        raise InputError("This network has no tensors {what}.", what=swap.what)
    places = [
        Place(grid, layer, head, position if each else None)
        for grid, shape in shapes.items()
        for layer, head, position in np.ndindex(shape)
    ]
    return shapes, places


def _sweep(
    pair: RunPair,
    swap: Swap,
    direction: str,
    also: tuple[Place, ...],
    shapes: dict[str, tuple[int, int, int]],
    places: list[Place],
) -> Generator[Patched, None, None]:
    bench = Bench(pair, swap, direction, batch_size(pair, len(places)), also)
    base = {name: float(values[0]) for name, values in bench.base_scores._asdict().items()}
    moved = {name: {grid: np.full(shape, np.nan) for grid, shape in shapes.items()} for name in METRICS}
    equal = dict.fromkeys(place for place in places if bench.is_equal(place))
    nothing = Scores(*(torch.zeros(len(equal)) for _ in METRICS))
    unequal, done = [place for place in places if place not in equal], 0
    for chunk, change in itertools.chain([([*equal], nothing)], bench.changes(unequal)):
        done += len(chunk)
        for name, values in change._asdict().items():
            for place, value in zip(chunk, values.tolist(), strict=False):
                moved[name][place.grid][place.layer, place.head, place.position or 0] = value
        if chunk:
            copies = {name: {grid: values.copy() for grid, values in grids.items()} for name, grids in moved.items()}
            compared = pair.row, pair.tokens, swap, direction, also
            yield Patched(*compared, done, len(places), bench.ends, base, copies)
