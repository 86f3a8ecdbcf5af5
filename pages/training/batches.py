"""The batches of a model's training split, and the recipe of its training."""

import itertools

from transformer import Pipeline
from transformer.tasks import TASKS, Pair
from transformer.training.recipe import Recipe

PAIRS = 6  # the size of the batch: few enough pairs to read


def batches(pipeline: Pipeline, count: int) -> list[list[Pair]]:
    """The first `count` batches of the training split of a model's task (one of `TASKS`), each with `PAIRS` pairs of texts."""
    pairs = TASKS[pipeline.card.task].pairs("train", "one step")
    return [list(itertools.islice(pairs, PAIRS)) for _ in range(count)]


def schedule(pipeline: Pipeline) -> Recipe:
    """The settings of a model's training, from its model card: the steps, learning rates, label smoothing and clipping. The
    other fields of `Recipe` have their defaults."""
    recipe = pipeline.card.recipe
    names = ("task", "steps", "learning_rate", "warmup", "hard", "hard_from", "hard_rate", "label_smoothing", "clip")
    return Recipe(**{name: recipe[name] for name in names if name in recipe})
