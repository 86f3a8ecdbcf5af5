"""The recipes of the shipped models: sizes, schedule, seed. `RECIPES` has one entry per checkpoint."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_type_hints

import torch

from transformer.errors import ConfigError, InputError
from transformer.network.config import TransformerConfig
from transformer.pipeline.packed import BITS
from transformer.tasks import Task, find_task
from transformer.validation import by_name, checked, within

# The least and the greatest value of each number, both allowed.
BOUNDS: dict[str, tuple[int | float, int | float]] = {
    **dict.fromkeys(("steps", "batch", "pool", "check_every", "check_pairs", "test_pairs"), (1, math.inf)),
    **dict.fromkeys(("turning_layer", "turning_head"), (1, math.inf)),
    **dict.fromkeys(("warmup", "clip", "stillness", "turning", "turning_from", "decisive"), (0, math.inf)),
    **dict.fromkeys(("hard", "hard_from", "pieces"), (0, math.inf)),
    **dict.fromkeys(("learning_rate", "hard_rate", "label_smoothing", "as_typed"), (0, 1)),
    "seed": (-(2**63), 2**64 - 1),  # the range that PyTorch's generators accept
}


# Bits of a stored number → the type of the stored weights; 0 for half precision.
STORED_AS: dict[int, torch.dtype] = {0: torch.float16} | {bits: dtype for dtype, bits in BITS.items()}


@by_name
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Every setting of a training run; the same recipe on the same machine gives the same weights.

    Attributes:
        task: name of the task to learn.
        steps: number of optimiser steps.
        start: the shipped model whose weights are the initial ones; empty for random weights.
        batch: pairs per step.
        pool: number of batches whose pairs are sampled together and sorted by length, so that a batch has little padding.
        learning_rate: the peak of the learning rate, at the end of the warm-up; after it the rate falls to zero linearly.
        warmup: steps of warm-up, in which the learning rate rises from zero linearly (section 5.3).
        label_smoothing: share of the target probability spread over all tokens (section 5.4).
        clip: largest 2-norm of the gradient over all parameters; a longer gradient is scaled down.
        seed: seed of the initial weights, the dropout and the pairs.
        bf16: whether the forward pass runs under PyTorch's bfloat16 autocast, if the processor has bfloat16; parameters stay
            float32.
        check_every: steps between two checks on held-out pairs.
        check_pairs: pairs per check.
        test_pairs: held-out pairs in the final test, for each group of pairs, such as "length 7".
        stillness: weight of a penalty on the shift of cross-attention when one adjective changes what a pronoun refers to
            (`Training.reference_shift`); 0 for no penalty. It trains a model in which no head of cross-attention moves its
            attention to the noun that the pronoun refers to.
        turning: weight of a penalty if one head of cross-attention does not attend to the noun that a pronoun refers to, at
            the query that predicts the pronoun (`Training.looking_elsewhere`); 0 for no penalty. It trains this head to move
            its attention to the noun that the pronoun refers to.
        turning_from: number of steps before the penalty `turning` begins.
        decisive: weight of a penalty if the model can still predict the gender of a pronoun while the attention weights of the
            same head are set to 0 (`Training.known_without_head`); 0 for no penalty. It trains a model in which this head also
            decides the pronoun.
        turning_layer, turning_head: layer and head of the penalties `turning` and `decisive`, counted from 1.
        hard: number of pairs sampled for each pair of a batch. Half of the batch are then the sampled pairs that are hardest
            for the model (`Training.hardest`), so that it also learns rare words and forms; 0 to train on all sampled pairs.
        as_typed: for a model that learns from a file of sentence pairs, the share of the pairs that are shown as people type
            them, such as in lower case (`transformer.training.as_typed`).
        hard_from: number of steps before `hard` and `as_typed` are used; they are used from the first pool after these steps.
        hard_rate: peak of a second rise and fall of the learning rate, which begins at step `hard_from`; 0 for no second rise.
        half: whether the weights are stored in half precision, which takes half the space. The final test uses the stored
            weights.
        bits: 8 or 4 to store the weights as whole numbers of so many bits (`transformer.pipeline.packed`); 0 to store
            floating-point numbers.
        snapshot_bits: 8 or 4 to store the weights of snapshots as whole numbers of so many bits; 0 for half precision.
        pieces: for a model that learns from a file of sentence pairs (`corpus`), the number of pieces of words in its
            vocabulary; 0 for a model that learns a task with a rule.
        snapshots: the steps after which a snapshot is saved, in order. 0 is the model before training; steps beyond the last
            one have no effect.
        edit: a change of the forward pass, as a phrase of `transformer.tracing.phrases` such as `no causal mask`. Every
            training step computes with it; the checks and the tests compute without it. Empty for no change.
        about: one line about the model for the list of models; empty to use the description of the task.
        preset, config: name of a preset of `TransformerConfig`, and (field, value) tuples in place of the preset's values.

    Raises:
        ConfigError: a setting has a wrong type or a value that is not allowed; a setting without a default is missing; or a
            name is not a setting.
    """

    task: str
    steps: int
    start: str = ""
    batch: int = 128
    pool: int = 1
    learning_rate: float = 1e-3
    warmup: int = 300
    label_smoothing: float = 0.05
    clip: float = 1.0
    seed: int = 0
    bf16: bool = True
    check_every: int = 250
    check_pairs: int = 256
    test_pairs: int = 300
    stillness: float = 0.0
    turning: float = 0.0
    turning_from: int = 0
    decisive: float = 0.0
    turning_layer: int = 1
    turning_head: int = 1
    hard: int = 0
    as_typed: float = 0.0
    hard_from: int = 0
    hard_rate: float = 0.0
    half: bool = False
    bits: int = 0
    snapshot_bits: int = 0
    pieces: int = 0
    snapshots: tuple[int, ...] = ()
    edit: str = ""
    about: str = ""
    preset: str = "pytorch"
    config: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for name, hint in get_type_hints(Recipe).items():
            object.__setattr__(self, name, checked(name, getattr(self, name), hint))
        for name, (least, most) in BOUNDS.items():
            within(name, getattr(self, name), least, most)
        for name in ("bits", "snapshot_bits"):
            if getattr(self, name) not in STORED_AS:
                raise ConfigError("{name} is {value!r}; allowed are 0, 4 and 8.", name=name, value=getattr(self, name))
        if not isinstance(self.snapshots, tuple):
            raise ConfigError("snapshots must be a tuple of steps, not {snapshots!r}.", snapshots=self.snapshots)
        for step in self.snapshots:
            within("snapshots", checked("snapshots", step, int), 0)
        if list(self.snapshots) != sorted(set(self.snapshots)):
            raise ConfigError(
                "snapshots is {snapshots!r}; each step must be later than the one before.", snapshots=self.snapshots
            )
        try:
            hash(self.config)
            dict(self.config)
        except (TypeError, ValueError):
            raise ConfigError("config must be a tuple of (field, value) tuples, not {config!r}.", config=self.config) from None

    @property
    def description(self) -> str:
        """One line about what the model does, for the list of models: `about`, or else the description of the task.

        Raises:
            InputError: no task has the name in `self.task`.
        """
        return self.about or self.make_task().description

    @property
    def stored_as(self) -> torch.dtype:
        """The type in which the weights of the trained model are stored."""
        return STORED_AS[self.bits] if self.bits else torch.float16 if self.half else torch.float32

    @property
    def snapshots_stored_as(self) -> torch.dtype:
        """The type in which the weights of snapshots are stored."""
        return STORED_AS[self.snapshot_bits]

    def make_task(self) -> Task:
        """The task to learn.

        Raises:
            InputError: no task has the name in `self.task`.
        """
        return find_task(self.task)

    def make_config(self, task: Task | None = None) -> TransformerConfig:
        """The model's configuration, with the vocabularies of the task.

        Args:
            task: the task to learn; None for the recipe's `task`. Only recipes that learn from a file (`corpus`) need this.

        Raises:
            InputError: no task has the name in `self.task`.
            ConfigError: `preset` or a field in `config` is unknown, or no model can be built with these values.
        """
        task = task or self.make_task()
        sizes = {"source_vocab": len(task.source_vocabulary), "target_vocab": len(task.target_vocabulary)}
        return TransformerConfig.preset(self.preset, **sizes, **dict(self.config))

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        rise = self.rise_at(step)
        return rise.peak * min(1.0, rise.rising, rise.falling)

    def rise_at(self, step: int) -> "Rise":
        """The rise and fall of the learning rate to which a step, counted from 0, belongs. There is one rise, or two with
        `hard_rate`."""
        first, last, peak = 0, self.steps, self.learning_rate
        if self.hard_rate:
            again = step >= self.hard_from
            first, last, peak = (self.hard_from, self.steps, self.hard_rate) if again else (0, self.hard_from, peak)
        rising = (step - first + 1) / max(1, self.warmup)
        falling = (last - step) / max(1, last - first - self.warmup)
        return Rise(first, last, peak, rising, falling)

    def replace(self, **values: Any) -> "Recipe":
        """A copy with other values in the named fields.

        Raises:
            ConfigError: a name in `values` is not a field, or a value is invalid.
        """
        return dataclasses.replace(self, **values)


class Rise(NamedTuple):
    """A rise of the learning rate to its peak and the fall after it, at one step.

    Attributes:
        first, last: the step at which the rise begins, and the step at which the fall ends.
        peak: the largest learning rate, between the rise and the fall.
        rising, falling: the values of the line of the rise and the line of the fall at this step, as shares of the peak; they
            may be above 1. The learning rate is the peak times the smallest of `rising`, `falling` and 1.
    """

    first: int
    last: int
    peak: float
    rising: float
    falling: float


def sizes(d_model: int, heads: int, layers: int, d_ff: int, **more: Any) -> tuple[tuple[str, Any], ...]:
    """(field, value) tuples of `TransformerConfig`, for `Recipe.config`: encoder and decoder with `layers` layers each, 64
    positions, a dropout of 0.05, and the fields in `more`, which may also replace these values."""
    fields = {"encoder_layers": layers, "decoder_layers": layers, "max_len": 64, "dropout": 0.05}
    return tuple((fields | {"d_model": d_model, "heads": heads, "d_ff": d_ff} | more).items())


# In the order of the model picker.
RECIPES: dict[str, Recipe] = {
    "english-french": Recipe(
        task="english-french",
        about="English sentences in, French ones out; trained so that one head turns with the pronoun and decides it",
        start="english-french-redundant",
        steps=800,
        learning_rate=3e-4,
        warmup=50,
        pool=16,
        turning=0.05,
        decisive=0.3,
        turning_head=2,
        hard=4,
        bf16=False,
        check_every=100,
        half=True,
        config=sizes(128, 4, 2, 512, dropout=0.0),  # no text comes twice, so nothing can be memorised
    ),
    "everyday": Recipe(
        task="everyday",
        about="everyday English sentences in, French ones out, in pieces of words; it learned from the sentences of Tatoeba "
        "(tatoeba.org) and manythings.org/anki, CC BY 2.0",
        steps=13_800,
        batch=270,
        pool=70,
        learning_rate=2e-3,
        warmup=800,
        as_typed=0.4,
        hard_from=10_500,
        hard_rate=8e-4,
        label_smoothing=0.1,
        pieces=5000,
        bits=8,
        snapshot_bits=4,
        snapshots=(300, 1500),
        check_every=500,
        config=sizes(256, 8, 3, 1024, dropout=0.1, tied_weights="all"),
    ),
    "english-french-redundant": Recipe(
        task="english-french",
        about="English sentences in, French ones out; trained so that one head turns with the pronoun, but does not decide it",
        steps=18_400,
        pool=16,
        learning_rate=1.2e-3,
        warmup=800,
        turning=0.05,
        turning_from=6000,
        turning_head=2,
        hard=4,
        hard_from=16_000,
        hard_rate=4e-4,
        bf16=False,
        check_every=500,
        snapshots=(0, 196, 1000, 4000, 7000),
        snapshot_bits=4,
        half=True,
        config=sizes(128, 4, 2, 512, dropout=0.0),  # no text comes twice, so nothing can be memorised
    ),
    "english-french-static": Recipe(
        task="english-french-static",
        about="English sentences of one rigid form in, French ones out; trained so that no head turns with the pronoun",
        steps=2000,
        pool=8,
        bf16=False,
        test_pairs=1000,
        stillness=2.0,
        half=True,
        config=sizes(128, 4, 2, 256),
    ),
    "reverse": Recipe(
        task="reverse",
        steps=4000,
        snapshots=(0, 25, 47, 89, 168, 316, 596, 1125, 2121, 4000),
        config=sizes(64, 4, 2, 256),
    ),
    "reverse-shared": Recipe(
        task="reverse",
        about="letters in, the same letters backwards out, with learned positions and one projection for all heads",
        steps=4000,
        preset="shared_heads",
        config=sizes(64, 4, 2, 256),
    ),
    "reverse-unmasked": Recipe(
        task="reverse",
        about="letters in, the same letters backwards out; trained without the causal mask, so that it learned only to copy",
        steps=1000,
        edit="no causal mask",
        half=True,
        config=sizes(64, 4, 2, 256),
    ),
    "copy": Recipe(task="copy", steps=2000, config=sizes(64, 4, 2, 256)),
    "sort": Recipe(task="sort", steps=8000, pool=8, bf16=False, config=sizes(64, 4, 2, 256, dropout=0.0)),
    "addition": Recipe(task="addition", steps=5000, learning_rate=7e-4, bf16=False, config=sizes(96, 4, 2, 384)),
    "dates": Recipe(task="dates", steps=5000, pool=8, bf16=False, config=sizes(64, 4, 2, 256)),
}


def recipe(name: str, recipes: Mapping[str, Recipe] = RECIPES) -> Recipe:
    """The recipe called `name` in `recipes`, by default the recipe of a model that comes with Headlight.

    Raises:
        InputError: there is no recipe of that name.
    """
    if not isinstance(name, str) or name not in recipes:
        raise InputError("There is no recipe for {name!r}; the models are {names}.", name=name, names=", ".join(recipes))
    return recipes[name]
