"""A short training of a small model, to compare settings: with and without warm-up, on many pairs or on a few."""

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from transformer.errors import InputError
from transformer.tasks import Pair
from transformer.training.held_out import held_out
from transformer.training.recipe import Recipe, sizes
from transformer.training.run import Training
from transformer.validation import checked, within

CHECK_EVERY = 10  # steps between two points of a curve
CHECKED = 48  # held-out pairs that each point is measured on
SIZES = sizes(32, 4, 1, 64, dropout=0.0)


@dataclass(frozen=True)
class ShortRun:
    """The settings of a short training.

    Attributes:
        task: the name of the task to learn.
        learning_rate: the peak of the learning rate.
        warmup: steps of warm-up.
        steps, batch: number of steps, and pairs per step.
        pairs: the model sees only this many different pairs, again and again; 0 for new pairs in every step.
        config: (field, value) tuples of the configuration, as in `Recipe`.

    Raises:
        ConfigError: a value has a wrong type or is out of its bounds.
    """

    task: str
    learning_rate: float
    warmup: int
    steps: int
    batch: int
    pairs: int = 0
    config: tuple[tuple[str, object], ...] = SIZES

    def __post_init__(self) -> None:
        within("pairs", checked("pairs", self.pairs, int), 0)
        self.recipe  # noqa: B018 (it checks its values)

    @property
    def recipe(self) -> Recipe:
        """The recipe of this training. It has no label smoothing and, with the default `config`, no dropout, so that a loss
        near 0 can be reached."""
        return Recipe(
            task=self.task,
            steps=self.steps,
            batch=self.batch,
            learning_rate=self.learning_rate,
            warmup=self.warmup,
            label_smoothing=0.0,
            bf16=False,
            check_every=max(1, checked("steps", self.steps, int)) + 1,
            check_pairs=1,
            config=self.config,
        )


class Point(NamedTuple):
    """The measurements after one step of a short training.

    Attributes:
        step: steps done.
        loss: loss of the last batch, in nats, before the step on that batch.
        held_out_loss: loss on pairs that are not used for training, in nats.
        exact: share of these pairs that are answered exactly, 0 to 1.
    """

    step: int
    loss: float
    held_out_loss: float
    exact: float


class TrainingOnFewPairs(Training):
    """A training on only `pairs` different pairs. The batches take these pairs in turn, again and again."""

    def __init__(self, name: str, recipe: Recipe, pairs: int) -> None:
        super().__init__(name, recipe)
        self.few = list(itertools.islice(self.task.pairs("train", "few"), pairs))

    def batches(self, pool: int) -> list[list[Pair]]:
        """A list with one batch, the batch of step `pool` (counted from 0): the next pairs in turn."""
        start, count = pool * self.recipe.batch, len(self.few)
        return [[self.few[(start + index) % count] for index in range(self.recipe.batch)]]


def short_run(settings: ShortRun, seconds: float, report: Callable[[int, int], None]) -> tuple[Point, ...]:
    """Train a model from random weights, test it after the first step and after every 10 steps, and return the result of each
    test.

    Args:
        settings: the settings of the training.
        seconds: time limit.
        report: called after each step with the number of steps done and of all steps. If it raises, the training ends.

    Raises:
        InputError: `settings` is not a ShortRun, there is no such task, or the training is not done within the limit.
    """
    if not isinstance(settings, ShortRun):
        raise InputError("The settings must be a ShortRun, not {settings!r}.", settings=settings)
    recipe, start = settings.recipe, time.monotonic()
    training = TrainingOnFewPairs("short", recipe, settings.pairs) if settings.pairs else Training("short", recipe)
    tested = list(itertools.islice(training.task.pairs("held-out", "film"), CHECKED))
    points = []
    for step in training:
        if step.step % CHECK_EVERY == 0 or step.step == 1:
            result = held_out(training.pipeline(), tested)
            points.append(Point(step.step, step.loss, result.loss, result.exact))
        report(step.step, step.steps)
        if time.monotonic() - start > seconds:
            template = "The training was stopped after {seconds:g} seconds, at step {step} of {steps}: the server is busy."
            raise InputError(template, seconds=seconds, step=step.step, steps=step.steps)
    return tuple(points)
