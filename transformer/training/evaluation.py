"""Measure a trained model: its exact answers to held-out pairs, and what its heads attend to."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from transformer.analysis.head_measures import MEASURES, PerHead, alignment_mask, mean_of, measure, shift, strongest
from transformer.network.tap import Edit
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import Pair, ReferencePair, Task
from transformer.tracing.interventions import silence
from transformer.tracing.paths import Kind

Item = TypeVar("Item")


class Accuracy(NamedTuple):
    """How many pairs (a source and its right answer) a model answered exactly in a test.

    Attributes:
        right, total: number of pairs answered exactly, and number of all pairs.
        by_form: group of pairs (`Pair.strata`), such as "length 7" → (number answered exactly, number of all).
        wrong: up to 20 pairs that were answered wrongly, each with the wrong answer.
    """

    right: int
    total: int
    by_form: dict[str, tuple[int, int]]
    wrong: tuple[tuple[Pair, str], ...]

    @property
    def share(self) -> float:
        return self.right / max(1, self.total)

    @property
    def share_by_form(self) -> dict[str, float]:
        return {form: right / total for form, (right, total) in self.by_form.items()}


def accuracy(pipeline: Pipeline, pairs: Iterable[Pair], batch_size: int = 256) -> Accuracy:
    """How many pairs the model answers exactly by greedy decoding, with `batch_size` sources in a batch."""
    pairs, all_right = list(pairs), 0
    right, total, wrong = Counter[str](), Counter[str](), []
    # Sources of similar length share a batch, so it has little padding.
    for batch in batched(sorted(pairs, key=lambda pair: len(pair.source)), batch_size):
        for pair, answer in zip(batch, pipeline.answers([pair.source for pair in batch]), strict=True):
            is_right = answer.text == pair.target
            all_right += is_right
            for stratum in pair.strata:
                total[stratum] += 1
                right[stratum] += is_right
            if answer.text != pair.target and len(wrong) < 20:
                wrong.append((pair, answer.text))
    by_form = {form: (right[form], total[form]) for form in sorted(total, key=_natural)}
    return Accuracy(all_right, len(pairs), by_form, tuple(wrong))


def held_out_pairs(task: Task, per_form: int, seed: int | str = "test", most_samples: int = 20_000) -> list[Pair]:
    """Different pairs that are not used for training: at least `per_form` of each group in which accuracy is reported
    (`Pair.strata`); fewer of a group that is too rare among `most_samples` sampled pairs."""
    chosen: dict[str, Pair] = {}
    counts = Counter[str]()
    # The number of samples is limited, because a form may be rare, or have fewer held-out sources than `per_form`.
    for pair in itertools.islice(task.pairs("held-out", seed), most_samples):
        if pair.source not in chosen and any(counts[stratum] < per_form for stratum in pair.strata):
            chosen[pair.source] = pair
            counts.update(pair.strata)
        elif all(count >= per_form for count in counts.values()):
            break
    return list(chosen.values())


def head_measures(pipeline: Pipeline, task: Task, pairs: Iterable[Pair]) -> dict[str, dict[str, PerHead]]:
    """What heads attend to: kind of attention (`encoder`, `decoder`, `cross`) → measure (`analysis.head_measures.measure`) →
    mean over the pairs, [layer, head]. The decoder reads the right answer (teacher forcing)."""
    measures: dict[str, list[dict[str, PerHead]]] = {str(kind): [] for kind in Kind}
    for pair in pairs:
        trace = pipeline.trace(pair.source, pair.target)
        source, target = trace.source_tokens[0][1:-1], trace.target_tokens[0][1:]
        aligned = alignment_mask(task.alignment(source, target), len(target) + 1, len(source) + 2)
        for kind in trace.kinds:
            weights = trace.attention(kind)[:, 0].numpy()
            measures[kind].append(measure(weights, aligned if kind == "cross" else None))
    return {kind: mean_of(of_pairs) for kind, of_pairs in measures.items()}


def strongest_heads(measures: dict[str, dict[str, PerHead]]) -> dict[str, dict[str, dict[str, float | int]]]:
    """Kind of attention → measure → `layer`, `head` and `value` of the head with the largest value. Layers and heads are
    counted from 1. `measures` is a result of `head_measures`."""
    return {
        kind: {
            name: {"layer": layer + 1, "head": head + 1, "value": round(float(values[layer, head]), 4)}
            for name, values in sorted(by_name.items(), key=lambda item: MEASURES.index(item[0]))
            for layer, head in [strongest(values)]
        }
        for kind, by_name in measures.items()
    }


def head_shifts(pipeline: Pipeline, pairs: list[ReferencePair]) -> PerHead:
    """For each cross-attention head, [layer, head]: how much attention it moves from one noun to another between two sentences
    that differ only in the word that decides which noun a pronoun refers to (`shift`, −1 to 1). Measured at the query that
    predicts the pronoun; mean over the pairs of sentences."""
    shifts = []
    for pair in pairs:
        rows = []
        for source, target, pronoun in (
            (pair.source_a, pair.target_a, pair.pronoun_a),
            (pair.source_b, pair.target_b, pair.pronoun_b),
        ):
            rows.append(pipeline.trace(source, target).attention("cross")[:, 0, :, pronoun].numpy())
        shifts.append(shift(rows[0], rows[1], pair.noun_1 + 1, pair.noun_2 + 1))
    return np.mean(shifts, axis=0)


def pronoun_accuracy(pipeline: Pipeline, pairs: list[ReferencePair], edits: Sequence[Edit] = ()) -> float:
    """Share of the sentences in `pairs`, 0 to 1, whose greedy answer has the right pronoun at the right index. `edits` change
    tensors while the answers are written."""
    expected = [
        (source, target, pronoun)
        for pair in pairs
        for source, target, pronoun in (
            (pair.source_a, pair.target_a, pair.pronoun_a),
            (pair.source_b, pair.target_b, pair.pronoun_b),
        )
    ]
    answers = pipeline.answers([source for source, _, _ in expected], edits)
    right = 0
    for answer, (_, target, pronoun) in zip(answers, expected, strict=True):
        tokens = pipeline.target_vocabulary.split(target)
        right += list(answer.tokens[pronoun : pronoun + 1]) == tokens[pronoun : pronoun + 1]
    return right / max(1, len(expected))


def pronouns_without(pipeline: Pipeline, pairs: list[ReferencePair]) -> dict[str, PerHead]:
    """Kind of attention → for each head, [layer, head], the share of right pronouns (`pronoun_accuracy`) while the attention
    weights of this head are set to 0."""
    config = pipeline.config
    shares: dict[str, PerHead] = {}
    for kind in Kind:
        layers = config.encoder_layers if kind == Kind.ENCODER else config.decoder_layers
        shares[str(kind)] = np.array(
            [
                [pronoun_accuracy(pipeline, pairs, [silence(kind, layer, (head,))]) for head in range(config.heads)]
                for layer in range(layers)
            ]
        )
    return shares


def card_measures(pipeline: Pipeline, task: Task, sentences: int = 100, references: int = 300) -> dict[str, Any]:
    """Measurements of heads for a model's training record (`Card.measures`). `strongest`: the strongest head for each kind of
    attention and each measure, on `sentences` held-out pairs. In a task with pronouns also `pronouns`: the share of right
    pronouns, and the cross-attention head that moves the most attention to the noun that a pronoun refers to (`head_shifts`),
    on `references` pairs of sentences."""
    pairs = list(itertools.islice(task.pairs("held-out", "heads"), sentences))
    measures: dict[str, Any] = {"strongest": strongest_heads(head_measures(pipeline, task, pairs))}
    reference_pairs = task.reference_pairs(references, "test")
    if reference_pairs:
        shifts = head_shifts(pipeline, reference_pairs)
        layer, head = strongest(shifts)
        measures["pronouns"] = {
            "pairs": len(reference_pairs),
            "right": pronoun_accuracy(pipeline, reference_pairs),
            "shift": round(float(shifts[layer, head]), 4),
            "layer": layer + 1,
            "head": head + 1,
            "shifts": [[round(float(value), 4) for value in row] for row in shifts],
        } | _silenced(pipeline, reference_pairs, layer, head)
    return measures


def _silenced(pipeline: Pipeline, pairs: list[ReferencePair], layer: int, head: int) -> dict[str, Any]:
    """The effect of setting a head's attention weights to 0: the share of right pronouns without the given cross-attention
    head, without the head that is needed most, and without each head."""
    without = pronouns_without(pipeline, pairs)
    kind, needed = min(without.items(), key=lambda item: item[1].min())
    needed_layer, needed_head = np.unravel_index(needed.argmin(), needed.shape)
    return {
        "right_without": round(float(without[str(Kind.CROSS)][layer, head]), 4),
        "needed": {
            "kind": kind,
            "layer": int(needed_layer) + 1,
            "head": int(needed_head) + 1,
            "right_without": round(float(needed.min()), 4),
        },
        "without": {kind: [[round(float(value), 4) for value in row] for row in rows] for kind, rows in without.items()},
    }


def batched(items: list[Item], size: int) -> Iterator[list[Item]]:
    """An iterator over consecutive slices of the list, each with `size` items; the last may have fewer."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _natural(form: str) -> tuple[object, ...]:
    """A sort key that puts "length 2" before "length 10"."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in form.split())
