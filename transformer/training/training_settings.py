"""The settings of a live training that a person chooses, and the recipe and the task that follow from them."""

import dataclasses
from dataclasses import dataclass

from transformer.tasks import Task, find_task
from transformer.training.recipe import Recipe, sizes
from transformer.training.run import Training
from transformer.training.shortened import can_be_shortened, shortened
from transformer.validation import checked, within

# Steps between two checks on held-out pairs, and pairs per check. A check takes about as long as three steps.
CHECK_EVERY, CHECK_PAIRS = 50, 128


@dataclass(frozen=True, kw_only=True)
class LiveSettings:
    """The settings that a person chooses before a live training starts.

    With the defaults, `reverse` answers 99 % of held-out pairs right after 500 of the 700 steps.

    Attributes:
        task: name of the task to learn.
        longest: length in tokens of the longest source to sample; without effect for a task whose sources cannot be limited.
        d_model, heads, layers, d_ff: sizes of the model; encoder and decoder have `layers` layers each.
        pre_norm: True for a LayerNorm before each sub-layer and one more after the last layer; False for a LayerNorm after
            each residual sum.
        dropout: share of numbers that dropout sets to zero.
        steps, batch, learning_rate, warmup, label_smoothing, seed: as in `Recipe`.
        minutes: limit on the time of training.

    Raises:
        InputError: there is no task called `task`.
        ConfigError: a value has a wrong type or is out of its bounds.
    """

    task: str = "reverse"
    longest: int = 10
    d_model: int = 64
    heads: int = 4
    layers: int = 2
    d_ff: int = 256
    pre_norm: bool = True
    dropout: float = 0.0
    steps: int = 700
    batch: int = 128
    learning_rate: float = 3e-3
    warmup: int = 100
    label_smoothing: float = 0.05
    seed: int = 0
    minutes: int = 10

    def __post_init__(self) -> None:
        for name, least in (("longest", 1), ("minutes", 0)):
            within(name, checked(name, getattr(self, name), int), least)
        self.recipe.make_config()

    @property
    def recipe(self) -> Recipe:
        """The recipe of a training run with these settings."""
        more = {"norm_first": self.pre_norm, "final_norm": self.pre_norm, "dropout": self.dropout}
        return Recipe(
            task=self.task,
            steps=self.steps,
            batch=self.batch,
            learning_rate=self.learning_rate,
            warmup=self.warmup,
            label_smoothing=self.label_smoothing,
            seed=self.seed,
            bf16=False,
            check_every=CHECK_EVERY,
            check_pairs=CHECK_PAIRS,
            config=sizes(self.d_model, self.heads, self.layers, self.d_ff, **more),
        )

    def make_task(self) -> Task:
        """The task that samples the pairs. If the task allows a limit (`can_be_shortened`), its sources have at most `longest`
        tokens."""
        whole = find_task(self.task)
        return shortened(whole, self.longest) if can_be_shortened(whole) and self.longest < whole.longest else whole

    def training(self) -> Training:
        """A new training run with these settings, before its first step."""
        return Training(self.task, self.recipe, self.make_task())

    def values(self) -> dict[str, str | int | float | bool]:
        """Name → value of every setting."""
        return dataclasses.asdict(self)
