"""Two runs of one model to patch, and the cached results of patching every place. The page Patching and lessons share them."""

import time
from dataclasses import dataclass, replace

from pages.shell.view.runs import Report
from pages.shell.view.view import View, view_of
from pages.ui.caches import RESULTS
from pages.ui.limits import PATCHING_SECONDS
from pages.ui.pickers import choice_label
from pages.ui.text import text
from transformer import InputError
from transformer.patching import Head, Patched, Place, RunPair, patch_everywhere
from transformer.patching.pair import Ids
from transformer.patching.places import Swap
from transformer.patching.sweep import all_places
from transformer.pipeline.answer import Answer

TURN_WORK = 3 * 10**10  # work up to which a run of the page keeps its turn: about half a second


@dataclass(frozen=True)
class Runs:
    """Two runs of one model, between which activations are patched. Hashable by its fields, so it can be the key of a cache.

    Attributes:
        clean, corrupt: the model and text of each run. Both have the same target, which the decoder reads.
        row: the row of the logits that is compared, from 0; None for the row that `RunPair.of` picks by default.
    """

    clean: View
    corrupt: View
    row: int | None = None

    @property
    def pair(self) -> RunPair:
        """Both runs as the library's `RunPair`."""
        clean, corrupt = (Ids.of(each.trace()) for each in (self.clean, self.corrupt))
        row, tokens, wanted, same_answer = _compared(self)
        return RunPair(self.clean.pipeline.network, clean, corrupt, row, tokens, wanted, same_answer)

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention that both runs have: `encoder`, `decoder`, `cross`, or some of these."""
        return [str(kind) for kind in self.clean.trace().kinds]


@dataclass(frozen=True)
class Choice:
    """What is patched, and how: the arguments of `patch_everywhere` with these names. Hashable, for a cache."""

    what: str = "head_output"
    direction: str = "denoise"
    positions: str = "together"
    steps: str = "all"
    also: tuple[Place, ...] = ()


@RESULTS.cached
def _compared(runs: Runs) -> tuple[int, tuple[int, int], tuple[int, ...], bool]:
    """What is compared: the fields of the `RunPair` after its texts. Computing them takes a forward pass of each run. The pair
    itself is not cached, because it would keep a network that the session has dropped."""
    pair = RunPair.of(runs.clean.pipeline.network, runs.clean.trace(), runs.corrupt.trace(), runs.row)
    return pair.row, pair.tokens, pair.wanted, pair.same_answer


def places_of(runs: Runs, choice: Choice) -> int:
    """The number of places (a head or layer, and perhaps a position) that are patched in two runs."""
    return len(all_places(runs.pair, Swap(choice.what), choice.positions == "each")[1])


def work_of(runs: Runs, choice: Choice) -> int:
    """The work of patching every place (a head or layer, and perhaps a position): places × tokens of a run × parameters."""
    pair = runs.pair
    return places_of(runs, choice) * sum(pair.length(side) for side in pair.sides) * runs.clean.pipeline.parameters


def is_heavy(runs: Runs, choice: Choice) -> bool:
    """Whether patching every place is so much work that other visitors' clicks go first (`turns.aside`). A smaller computation
    does not let others go first, so that it does not wait for their heavy work."""
    return runs.clean.heavy or work_of(runs, choice) > TURN_WORK


def one_model(view: View, second: View) -> tuple[View, View]:
    """The two views (model and texts), changed so that one model reads the texts of both. The vocabulary of an untrained model
    has only the words of its texts, so each view alone would have a model of its own, with other random weights."""
    key = view_of(view.model, (view.source, second.source), (view.target, second.target)).key
    return replace(view, key=key), replace(second, key=key)


def runs_of(view: View, second: View) -> Runs:
    """The two runs to patch, with the first texts of two views. Both decoders read the first view's target, or else its
    answer."""
    clean, corrupt = one_model(view, second)
    read = _target(clean)
    return Runs(_with_target(clean, read), _with_target(corrupt, read))


def head_name(head: Head) -> str:
    """The name of a head: `cross L1 H2`. Layer and head are counted from 1."""
    return text("patching")["head"].format(kind=choice_label("kind", head.kind), layer=head.layer + 1, head=head.head + 1)


def patch(runs: Runs, choice: Choice, report: Report, seconds: float = PATCHING_SECONDS) -> Patched:
    """The effect of patching each place (a head or layer, and perhaps a position) between two runs, as `choice` says. `report`
    is called with the number of places done and their total. `patched_runs` is this function with a cache.

    Raises:
        InputError: not all places are patched after `seconds`.
    """
    last, start = None, time.monotonic()
    for last in patch_everywhere(runs.pair, choice.what, choice.direction, choice.positions, choice.steps, choice.also):
        report(last.done, last.total)
        if last.done < last.total and time.monotonic() - start > seconds:
            template = (
                "Patching was stopped after {seconds} seconds, at place {done} of {total}. Take shorter texts, a smaller "
                "model, or all tokens at once."
            )
            raise InputError(template, seconds=seconds, done=last.done, total=last.total)
    assert last is not None
    return last


patched_runs = RESULTS.cached(patch, ignored=1)


def _with_target(view: View, target: str | Answer | None) -> View:
    """The view of the first text alone, with this target."""
    return replace(view, sources=view.sources[:1], targets=(target,), examples=0)


def _target(view: View) -> str | Answer | None:
    """What both decoders read: the target or the answer of `view`. Empty for a model with only a decoder, which reads the
    source text."""
    if view.pipeline.stacks == ("decoder",):
        return ""
    return view.answer() if view.target is None and view.writes else view.target
