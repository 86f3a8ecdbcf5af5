"""How good a model is, on pairs it never saw, and what its heads do there."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from transformer.analysis.head_measures import MEASURES, PerHead, alignment_mask, mean_of, measure, shift, strongest
from transformer.pipeline.pipeline import Pipeline
from transformer.tracing.trace import KINDS
from transformer.worlds import Pair, ReferencePair, World

BATCH = 256
DRAWS_PER_FORM = 2_000


class Accuracy(NamedTuple):
    """Exact matches.

    Attributes:
        right, total: pairs answered exactly, and all.
        by_form: form → (right, total).
        wrong: the first few that went wrong, with what was answered.
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


def accuracy(pipeline: Pipeline, pairs: Iterable[Pair]) -> Accuracy:
    """Answer every source greedily, and compare."""
    right, total, wrong = Counter[str](), Counter[str](), []
    # Sources of like length stand together, so a batch has little padding.
    for batch in batched(sorted(pairs, key=lambda pair: len(pair.source)), BATCH):
        for pair, answer in zip(batch, pipeline.answers([pair.source for pair in batch]), strict=True):
            total[pair.form] += 1
            right[pair.form] += answer.text == pair.target
            if answer.text != pair.target and len(wrong) < 20:
                wrong.append((pair, answer.text))
    by_form = {form: (right[form], total[form]) for form in sorted(total, key=_natural)}
    return Accuracy(right.total(), total.total(), by_form, tuple(wrong))


def held_out_pairs(world: World, per_form: int, seed: int | str = "test") -> list[Pair]:
    """Different held-out pairs, up to `per_form` of each form (fewer where the world has no more)."""
    found: dict[str, dict[str, Pair]] = {}
    pairs = world.pairs("held-out", seed)
    # A form that is rare, or has few held-out sources, must not keep the search going for ever.
    for pair in itertools.islice(pairs, DRAWS_PER_FORM * 20):
        form = found.setdefault(pair.form, {})
        if len(form) < per_form:
            form[pair.source] = pair
        elif all(len(others) >= per_form for others in found.values()):
            break
    return [pair for form in found.values() for pair in form.values()]


def head_measures(pipeline: Pipeline, world: World, pairs: Iterable[Pair]) -> dict[str, dict[str, PerHead]]:
    """Kind of attention → measure → its mean over the pairs, for every layer and head. The decoder reads the right answer."""
    found: dict[str, list[dict[str, PerHead]]] = {kind: [] for kind in KINDS}
    for pair in pairs:
        trace = pipeline.trace(pair.source, pair.target)
        source, target = trace.source_tokens[0][1:-1], trace.target_tokens[0][1:]
        aligned = alignment_mask(world.alignment(source, target), len(target) + 1, len(source) + 2)
        for kind in KINDS:
            weights = trace.attention(kind)[:, 0].numpy()
            found[kind].append(measure(weights, aligned if kind == "cross" else None))
    return {kind: mean_of(measures) for kind, measures in found.items()}


def strongest_heads(measures: dict[str, dict[str, PerHead]]) -> dict[str, dict[str, dict[str, float | int]]]:
    """For each kind and measure the head with the largest value, layers and heads counted from 1 as people see them."""
    return {
        kind: {
            name: {"layer": layer + 1, "head": head + 1, "value": round(float(values[layer, head]), 4)}
            for name, values in sorted(by_name.items(), key=lambda item: MEASURES.index(item[0]))
            for layer, head in [strongest(values)]
        }
        for kind, by_name in measures.items()
    }


def head_shifts(pipeline: Pipeline, pairs: list[ReferencePair]) -> PerHead:
    """How far each cross-attention head turns to the other noun, at the step that writes the pronoun; mean over the pairs."""
    found = []
    for pair in pairs:
        rows = []
        for source, target, pronoun in (
            (pair.source_a, pair.target_a, pair.pronoun_a),
            (pair.source_b, pair.target_b, pair.pronoun_b),
        ):
            rows.append(pipeline.trace(source, target).attention("cross")[:, 0, :, pronoun].numpy())
        found.append(shift(rows[0], rows[1], pair.noun_1 + 1, pair.noun_2 + 1))
    return np.mean(found, axis=0)


def pronoun_accuracy(pipeline: Pipeline, pairs: list[ReferencePair]) -> float:
    """Share of the sentences whose answer has the right pronoun in its place."""
    wanted = [
        (source, target, pronoun)
        for pair in pairs
        for source, target, pronoun in (
            (pair.source_a, pair.target_a, pair.pronoun_a),
            (pair.source_b, pair.target_b, pair.pronoun_b),
        )
    ]
    answers = pipeline.answers([source for source, _, _ in wanted])
    right = 0
    for answer, (_, target, pronoun) in zip(answers, wanted, strict=True):
        expected = pipeline.target_vocabulary.split(target)[: pronoun + 1]
        right += list(answer.tokens[pronoun : pronoun + 1]) == expected[pronoun:]
    return right / max(1, len(wanted))


def what_heads_do(pipeline: Pipeline, world: World, sentences: int = 100, references: int = 300) -> dict[str, Any]:
    """What a card says of the heads: the strongest of each kind by each measure; where there are pronouns, how many are
    right, and which head turns furthest."""
    pairs = list(itertools.islice(world.pairs("held-out", "heads"), sentences))
    found: dict[str, Any] = {"strongest": strongest_heads(head_measures(pipeline, world, pairs))}
    references_ = world.reference_pairs(references, "test")
    if references_:
        shifts = head_shifts(pipeline, references_)
        layer, head = strongest(shifts)
        found["pronouns"] = {
            "pairs": len(references_),
            "right": pronoun_accuracy(pipeline, references_),
            "shift": round(float(shifts[layer, head]), 4),
            "layer": layer + 1,
            "head": head + 1,
            "shifts": [[round(float(value), 4) for value in row] for row in shifts],
        }
    return found


def batched(items: list[Pair], size: int) -> Iterator[list[Pair]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _natural(form: str) -> tuple[object, ...]:
    """Sorts "length 2" before "length 10"."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in form.split())
