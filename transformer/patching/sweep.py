"""`patch_everywhere`: one place after another is taken from the other run, and the answer is measured each time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.errors import InputError
from transformer.network.tap import Recording, tracing
from transformer.patching.pair import Ids, RunPair
from transformer.patching.places import Place, Swap, taken
from transformer.patching.scores import LEAST_GAPS, METRICS, Scores, scores
from transformer.validation import one_of

DIRECTIONS = ("denoise", "noise")
EACH = ("together", "each")
MOST_ITEMS = 32  # places that are patched in one pass, each in its own item of the batch
MOST_NUMBERS = 1 << 25  # numbers in the logits of one pass, 128 MB; with many tokens, fewer places share a pass

Grids = dict[str, Float[np.ndarray, "layer head position"]]


@dataclass(frozen=True, eq=False)
class Patched:
    """What each place carries of the difference between two runs.

    Attributes:
        row: the compared row of the logits.
        tokens: ids of the two compared tokens.
        swap: what was taken.
        direction: `denoise`: places of the clean run were put into the corrupt run. `noise`: places of the corrupt run were put
            into the clean run.
        done, total: number of places that have been patched so far, and of all places.
        ends: measure → its value in the corrupt and in the clean run.
        moved: measure → grid → its change by patching the place; NaN for places that have not been patched yet. The axis of
            positions has the size 1 if all positions were taken together.
    """

    row: int
    tokens: tuple[int, int]
    swap: Swap
    direction: str
    done: int
    total: int
    ends: dict[str, tuple[float, float]]
    moved: dict[str, Grids]

    def differs(self, metric: str = "logit") -> bool:
        """Whether the two runs differ enough in a measure to speak of shares of the difference (`LEAST_GAPS`)."""
        corrupt, clean = self.ends[one_of("metric", metric, METRICS)]
        return abs(clean - corrupt) >= LEAST_GAPS[metric]

    def shares(self, metric: str = "logit") -> Grids:
        """Grid → where the patched run stands between the corrupt run (0) and the clean run (1). A run can also be outside of
        both: nothing is clipped.

        Raises:
            InputError: there is no such measure, or the runs differ too little in it.
        """
        if not self.differs(metric):
            corrupt, clean = self.ends[metric]
            raise InputError(
                "The two runs barely differ in this measure ({corrupt:.3g} and {clean:.3g}), so no share of the difference is "
                "computed; look at `moved`.",
                corrupt=corrupt,
                clean=clean,
            )
        gap, start = self.ends[metric][1] - self.ends[metric][0], 1.0 if self.direction == "noise" else 0.0
        return {grid: start + values / gap for grid, values in self.moved[metric].items()}

    def values(self, metric: str = "logit") -> Grids:
        """Grid → the measure itself in the patched run."""
        base = self.ends[one_of("metric", metric, METRICS)][self.direction == "noise"]
        return {grid: base + values for grid, values in self.moved[metric].items()}


def patch_everywhere(
    pair: RunPair,
    what: str = "head_output",
    direction: str = "denoise",
    positions: str = "together",
    steps: str = "all",
    also: Sequence[Place] = (),
) -> Iterator[Patched]:
    """Take every place of a kind from the other run, one at a time, reported pass by pass.

        for patched in patch_everywhere(pair):
            print(patched.done, patched.total)
        patched.shares()["cross"]            # [layer, head, position]

    Patching a run into itself changes no bit: the other run, the base run and the patched runs are computed in batches of the
    same size, and each item is compared with the same item of the base run.

    Args:
        pair: the two runs.
        what: what is taken. Of heads: `head_output` (what it carries to the residual stream), `weights` (where it looks),
            `query`, `key`, `value` (what it looks for, what it is found by, what it reads), `key_and_value` (in
            cross-attention: the encoder's output, as this head alone reads it). Of layers: `attention`, `feed_forward`,
            `residual_stream` (after the layer), `embedding`.
        direction: `denoise` or `noise` (`Patched`).
        positions: `together`: all tokens of a place at once; `each`: every token on its own.
        steps: `all`, or `this`: of a place in the decoder, only the step that writes the token of the row.
        also: places that are taken in every run, also in the base run.

    Raises:
        InputError: `pair` is not a RunPair, or the network has no such tensors. Raised at the first report.
        ConfigError: there is no such tensor, direction or choice.
    """
    if not isinstance(pair, RunPair):
        raise InputError("The pair must be a RunPair, as `run_pair` returns it, not {pair!r}.", pair=pair)
    swap = Swap(what, steps)
    one_of("direction", direction, DIRECTIONS)
    one_of("positions", positions, EACH)
    return _sweep(pair, swap, direction, positions == "each", tuple(also))


def all_places(pair: RunPair, swap: Swap, each: bool) -> tuple[dict[str, tuple[int, int, int]], list[Place]]:
    """Grid → its shape [layer, head, position], and every place of the grids.

    Raises:
        InputError: the network has no such tensors.
    """
    lengths = {side: ids.shape[1] for side, ids in zip(("source", "target"), pair.clean, strict=True) if ids is not None}
    shapes = {
        grid: (layers, heads, lengths[swap.side(grid)] if each else 1)
        for grid, (layers, heads) in swap.grids(pair.network).items()
        if swap.side(grid) in lengths
    }
    if not shapes:
        raise InputError("This network has no tensors {what}.", what=swap.what)
    places = [
        Place(grid, layer, head, position if each else None)
        for grid, shape in shapes.items()
        for layer, head, position in np.ndindex(shape)
    ]
    return shapes, places


class Bench:
    """The two runs of a pair in batches of one size, and patched runs beside them.

    Args:
        pair: the two runs.
        swap: what is taken from the other run.
        direction: `denoise` or `noise`.
        items: size of the batches.
        paths: paths of the tensors that are taken.
    """

    def __init__(self, pair: RunPair, swap: Swap, direction: str, items: int, paths: Sequence[str]) -> None:
        self.pair, self.swap, self.items = pair, swap, items
        noise = direction == "noise"
        self.base, other = (pair.clean, pair.corrupt) if noise else (pair.corrupt, pair.clean)
        self.other, other_logits = self.run(other, paths)
        base_logits = self.run(self.base)[1]
        clean = (base_logits if noise else other_logits)[:, 0].double().log_softmax(-1)
        self.clean, self.base_scores = clean, scores(pair, base_logits, clean)
        ends = self.base_scores, scores(pair, other_logits, clean)
        # The corrupt run first.
        of_corrupt, of_clean = ends[::-1] if noise else ends
        self.ends = {name: (float(getattr(of_corrupt, name)[0]), float(getattr(of_clean, name)[0])) for name in METRICS}

    @torch.inference_mode()
    def run(self, ids: Ids, keep: Sequence[str] = (), edits: Sequence[object] = ()) -> tuple[Recording, Tensor]:
        """The tensors of a batch of equal texts, and its logits from the compared row on."""
        network, batch = self.pair.network, ids.times(self.items)
        with tracing(network, list(edits), keep=list(keep)) as values:  # pyright: ignore[reportArgumentType]
            logits = network(batch.source, batch.target)  # pyright: ignore[reportArgumentType]
        return values, logits[:, self.pair.row :]

    def patched(self, places: Sequence[Sequence[Place]], keep: Sequence[str] = ()) -> tuple[Recording, Scores]:
        """The tensors and measures of the base run with places of the other run, each item its own."""
        edits = taken(self.pair.network, self.swap, places, self.pair.row, self.other)
        values, logits = self.run(self.base, keep, edits)
        return values, scores(self.pair, logits, self.clean)


def _sweep(pair: RunPair, swap: Swap, direction: str, each: bool, also: tuple[Place, ...]) -> Iterator[Patched]:
    shapes, places = all_places(pair, swap, each)
    items = batch_size(pair, len(places))
    bench = Bench(pair, swap, direction, items, paths_of(pair, swap, shapes))
    base = bench.patched([also] * items)[1] if also else bench.base_scores
    moved = {name: {grid: np.full(shape, np.nan) for grid, shape in shapes.items()} for name in METRICS}
    for start in range(0, len(places), items):
        chunk = places[start : start + items]
        # Items that are left over in the last pass are not patched, so that all batches have the same size.
        of_items = [(*also, place) for place in chunk] + [also] * (items - len(chunk))
        change = bench.patched(of_items)[1].moved(base)
        for name in METRICS:
            for place, value in zip(chunk, getattr(change, name).tolist(), strict=False):
                moved[name][place.grid][place.layer, place.head, place.position or 0] = value
        copies = {name: {grid: values.copy() for grid, values in grids.items()} for name, grids in moved.items()}
        done = start + len(chunk)
        yield Patched(pair.row, pair.tokens, swap, direction, done, len(places), bench.ends, copies)


def paths_of(pair: RunPair, swap: Swap, shapes: dict[str, tuple[int, int, int]]) -> list[str]:
    """The paths of the tensors of all places."""
    return [
        path for grid, shape in shapes.items() for layer in range(shape[0]) for path in swap.paths(pair.network, grid, layer)
    ]


def batch_size(pair: RunPair, places: int) -> int:
    """The number of runs in one pass."""
    length = max(ids.shape[1] for ids in pair.clean if ids is not None)
    return max(1, min(places, MOST_ITEMS, MOST_NUMBERS // (length * pair.network.config.target_vocab)))
