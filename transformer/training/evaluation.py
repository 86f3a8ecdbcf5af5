"""Measure a trained model: exact answers on held-out pairs, and what its heads attend to."""

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
    """The exact matches of a test.

    Attributes:
        right, total: number of pairs answered exactly, and number of all pairs.
        by_form: form or detail of a pair (`Pair.strata`) → (number answered exactly, number of all).
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
    """How many pairs the model answers exactly. It answers the sources greedily, `batch_size` at a time."""
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
    """Distinct held-out pairs, `per_form` or more of each form and each detail; fewer if the task has no more, or if a form is
    too rare among `most_samples` pairs."""
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
    """Kind of attention → measure → mean over the pairs, per layer and head. The decoder reads the right answer."""
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
    """Kind → measure → `layer`, `head` and `value` of the head with the largest value. Layers and heads are counted from 1, as
    on the pages."""
    return {
        kind: {
            name: {"layer": layer + 1, "head": head + 1, "value": round(float(values[layer, head]), 4)}
            for name, values in sorted(by_name.items(), key=lambda item: MEASURES.index(item[0]))
            for layer, head in [strongest(values)]
        }
        for kind, by_name in measures.items()
    }


def head_shifts(pipeline: Pipeline, pairs: list[ReferencePair]) -> PerHead:
    """How much attention each cross-attention head moves to the other noun when the adjective changes (`shift`), in the row
    that predicts the pronoun: mean over the pairs, `[layer, head]`."""
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
    """Share of the sentences, 0 to 1, whose answer, written with these edits, has the right pronoun at the right index."""
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
    """Kind of attention → share of right pronouns while one head is silenced, per layer and head."""
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
    """The head measures of a card: the strongest head by kind and measure, on `sentences` held-out pairs. In a task with
    pronouns also the share of right pronouns, and the cross-attention head that moves the most attention to the other noun, on
    `references` pairs of sentences."""
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
    """The effect of silencing heads: the share of right pronouns without the given cross-attention head, without the head that
    is needed most, and without each head."""
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
    """Consecutive slices of at most `size` items."""
    return (items[start : start + size] for start in range(0, len(items), size))


def _natural(form: str) -> tuple[object, ...]:
    """A sort key that puts "length 2" before "length 10"."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in form.split())
