"""How much an answer loses without each head, and how much each head restores alone: averages over many pairs of texts, with
intervals."""

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_language_head, check_number, check_text_pipeline
from transformer.errors import InputError
from transformer.patching.need import Needs, OfHeads, needs
from transformer.patching.pair import run_pair
from transformer.patching.pair_checks import LENGTHS, check_evaluation_mode
from transformer.patching.places import OF_HEADS, STEPS
from transformer.patching.scores import METRICS
from transformer.patching.sweep import patch_everywhere
from transformer.pipeline.answer import Source
from transformer.pipeline.protocol import TextPipeline
from transformer.tasks import Pair, find_task
from transformer.validation import as_list, one_of

SHARES = ("lost", "restored")
RESAMPLES, PERCENT = 2000, 95
MOST_PAIRS = 500


@dataclass(frozen=True, eq=False)
class Interval:
    """A mean over pairs of texts, and its 95 % bootstrap interval: the middle 95 % of the means of resampled lists of pairs.

    Attributes:
        mean, low, high: the mean, and the ends of the interval. Each: kind of attention → a share for each head, [layer, head].
    """

    mean: OfHeads
    low: OfHeads
    high: OfHeads


@dataclass(frozen=True, eq=False)
class AverageNeeds:
    """How much the answer loses without each head, and how much each head alone restores, for every pair of texts so far.

    Attributes:
        done, total: number of pairs that have been read so far, and of all pairs.
        left_out: number of read pairs that are not in the averages, because their two runs barely differ, prefer the same
            token, or differ in length.
        lost, restored: measure (`scores.METRICS`) → kind of attention → the share of each head in each pair, as in `need.role`.
    """

    done: int
    total: int
    left_out: int
    lost: dict[str, dict[str, Float[np.ndarray, "pair layer head"]]]
    restored: dict[str, dict[str, Float[np.ndarray, "pair layer head"]]]

    @property
    def pairs(self) -> int:
        """The number of pairs in the averages."""
        return self.done - self.left_out

    def needs(self, metric: str = "logit") -> Needs:
        """The means of `lost` and of `restored` over the pairs, for one measure. Empty if there is no pair in the averages yet.

        Raises:
            ConfigError: `metric` is not a measure in `lost`.
        """
        one_of("metric", metric, self.lost)
        return Needs(*({kind: of.mean(0) for kind, of in shares[metric].items()} for shares in (self.lost, self.restored)))

    def interval(self, which: str, metric: str = "logit", seed: int = 0) -> Interval:
        """The mean of `lost` or of `restored` over the pairs, with its 95 % interval. Empty if there is no pair in the averages
        yet.

        Args:
            which: `lost` or `restored`.
            metric: a measure in them.
            seed: seed of the resampling; the same seed gives the same interval.

        Raises:
            ConfigError: `which` is neither `lost` nor `restored`, or `metric` is not a measure in them.
            InputError: the seed is not a whole number of at least 0.
        """
        check_number("seed", seed, 0)
        shares: dict[str, dict[str, np.ndarray]] = getattr(self, one_of("which", which, SHARES))
        of_measure = shares[one_of("metric", metric, shares)]
        chosen = np.random.default_rng(seed).integers(0, max(self.pairs, 1), (RESAMPLES, self.pairs))
        edge = (100 - PERCENT) / 2
        ends = {kind: np.percentile(_means(values, chosen), [edge, 100 - edge], axis=0) for kind, values in of_measure.items()}
        return Interval(
            {kind: values.mean(0) for kind, values in of_measure.items()},
            {kind: low for kind, (low, _) in ends.items()},
            {kind: high for kind, (_, high) in ends.items()},
        )


def average_needs(
    pipeline: TextPipeline,
    pairs: Sequence[tuple[Source, Source]],
    what: str = "head_output",
    steps: str = "all",
    metrics: Sequence[str] = ("logit", "probability"),
) -> Generator[AverageNeeds, None, None]:
    """Patch every head in both directions (`patch_everywhere`), for one pair of texts after another. Yields, after each pair,
    the shares of each head (`need.role`) in all pairs so far.

    Args:
        pipeline: the pipeline of a model.
        pairs: the clean and the corrupt text of each pair; at most `MOST_PAIRS` pairs.
        what, steps: the tensor of each head that is patched, and the decoder's steps (`all` or `this`), as in
            `patch_everywhere`.
        metrics: the measures whose shares are computed, of `METRICS`.

    Raises:
        InputError: an argument has a wrong type, there are no pairs or too many, or the network is in training mode or has no
            language head. Raised only during the iteration: the model cannot read a text.
        ConfigError: `what`, `steps` or an item of `metrics` is not one of these.
    """
    check_text_pipeline(pipeline)
    check_language_head(pipeline.network)
    check_evaluation_mode(pipeline.network)
    one_of("what", what, OF_HEADS)
    one_of("steps", steps, STEPS)
    if isinstance(pairs, str) or not isinstance(pairs, Sequence) or not all(_is_pair(pair) for pair in pairs):
        raise InputError("The pairs must be a list of pairs of texts, not {pairs!r}.", pairs=pairs)
    check_number("pairs", len(pairs), 1, MOST_PAIRS)
    chosen = None if isinstance(metrics, str) else as_list(metrics)
    if not chosen:
        raise InputError('The metrics must be a list of measures, such as ["logit"], not {metrics!r}.', metrics=metrics)
    return _averages(pipeline, pairs, what, steps, tuple(one_of("metric", metric, METRICS) for metric in chosen))


def pairs_of_task(name: str, count: int, seed: int | str = 0) -> list[tuple[str, str]]:
    """At most `count` pairs of held-out texts of the task `name`. If the task is about pronouns, the two sentences of a pair
    differ in the word that decides what the pronoun means. In any other task, a pair is two texts of equally many tokens with
    different answers. The same seed gives the same pairs.

    Raises:
        InputError: there is no such task, `count` is not from 1 to `MOST_PAIRS`, or the seed is not a text or a whole number.
    """
    task = find_task(name)
    check_number("count", count, 1, MOST_PAIRS)
    if not isinstance(seed, str):
        check_number("seed", seed, -math.inf)
    if listed := task.reference_pairs(count, seed):
        return [(pair.source_a, pair.source_b) for pair in listed]
    waiting: dict[int, Pair] = {}
    found: list[tuple[str, str]] = []
    for pair in task.pairs("held-out", seed):
        length = len(task.source_vocabulary.split(pair.source))
        first = waiting.pop(length, None)
        if first is None or first.target == pair.target:
            waiting[length] = pair
            continue
        found.append((first.source, pair.source))
        if len(found) == count:
            break
    return found


def _averages(
    pipeline: TextPipeline, pairs: Sequence[tuple[Source, Source]], what: str, steps: str, metrics: tuple[str, ...]
) -> Generator[AverageNeeds, None, None]:
    collected: dict[str, list[Needs]] = {metric: [] for metric in metrics}
    left_out = 0
    for done, (clean, corrupt) in enumerate(pairs, 1):
        found = _needs_of(pipeline, clean, corrupt, what, steps, metrics)
        left_out += found is None
        for metric, of_pair in (found or {}).items():
            collected[metric].append(of_pair)
        lost, restored = (
            {metric: _stacked([getattr(of_pair, name) for of_pair in listed]) for metric, listed in collected.items()}
            for name in ("lost", "restored")
        )
        yield AverageNeeds(done, len(pairs), left_out, lost, restored)


def _needs_of(
    pipeline: TextPipeline, clean: Source, corrupt: Source, what: str, steps: str, metrics: Sequence[str]
) -> dict[str, Needs] | None:
    """Measure → the Needs of one pair; None if the pair is left out."""
    try:
        pair = run_pair(pipeline, clean, corrupt)
    except InputError as error:
        if error.template == LENGTHS:
            return None
        raise
    if pair.same_answer:
        return None
    *_, denoised = patch_everywhere(pair, what, "denoise", steps=steps)
    *_, noised = patch_everywhere(pair, what, "noise", steps=steps)
    if not all(denoised.differs(metric) for metric in metrics):
        return None
    return {metric: needs(denoised, noised, metric) for metric in metrics}


def _stacked(parts: Sequence[OfHeads]) -> dict[str, Float[np.ndarray, "pair layer head"]]:
    return {kind: np.stack([part[kind] for part in parts]) for kind in parts[0]} if parts else {}


def _means(values: Float[np.ndarray, "pair ..."], chosen: np.ndarray) -> Float[np.ndarray, "resample ..."]:
    """The mean of each resampled list of pairs. `chosen` has a row of indices of pairs for each list."""
    counts = np.stack([np.bincount(row, minlength=len(values)) for row in chosen])
    flat = counts @ values.reshape(len(values), -1) / len(values)
    return flat.reshape(len(chosen), *values.shape[1:])


def _is_pair(pair: object) -> bool:
    return isinstance(pair, tuple | list) and len(pair) == 2
