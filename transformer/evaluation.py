"""How good a model is: the share of held-out pairs it answers exactly."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from transformer.pipeline import Pipeline
from transformer.tasks import Pair, World

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


def batched(items: list[Pair], size: int) -> Iterator[list[Pair]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _natural(form: str) -> tuple[object, ...]:
    """Sorts "length 2" before "length 10"."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in form.split())
