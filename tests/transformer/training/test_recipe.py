"""Tests of the recipes and their settings."""

import dataclasses
import itertools
import json
import math
from typing import get_type_hints

import numpy as np
import pytest
import torch

from transformer.errors import ConfigError, HeadlightError, InputError
from transformer.network.config import TransformerConfig
from transformer.tasks import TASKS
from transformer.text.subwords import FIRST, Subwords
from transformer.training.corpus import Corpus, Sentence
from transformer.training.recipe import BOUNDS, RECIPES, Recipe, recipe


def rates(**values: object) -> list[float]:
    chosen = Recipe(task="reverse", **values)
    return [chosen.rate_at(step) for step in range(chosen.steps)]


def test_the_learning_rate_rises_to_its_peak_and_falls_to_zero_in_straight_lines():
    schedule = rates(steps=100, warmup=20, learning_rate=2e-3)
    assert schedule[0] == pytest.approx(2e-3 / 20)
    assert schedule[19] == schedule[20] == max(schedule) == 2e-3
    assert schedule[-1] == pytest.approx(2e-3 / 80)
    rises = [after - before for before, after in itertools.pairwise(schedule[:20])]
    falls = [after - before for before, after in itertools.pairwise(schedule[20:])]
    assert rises == pytest.approx([2e-3 / 20] * 19)
    assert falls == pytest.approx([-2e-3 / 80] * 79)


def test_the_learning_rate_rises_and_falls_a_second_time_for_the_hardest_pairs():
    schedule = rates(steps=60, warmup=10, learning_rate=2e-3, hard=2, hard_from=40, hard_rate=1e-3)
    assert schedule[:40] == rates(steps=40, warmup=10, learning_rate=2e-3)
    assert schedule[40:] == rates(steps=20, warmup=10, learning_rate=1e-3)


@pytest.mark.parametrize(("steps", "warmup"), [(1, 0), (1, 300), (10, 0), (10, 10), (10, 300), (301, 300)])
def test_any_schedule_stays_between_zero_and_the_peak(steps: int, warmup: int):
    assert all(0 < rate <= 1e-3 for rate in rates(steps=steps, warmup=warmup, learning_rate=1e-3))


def corpus(pieces: int) -> Corpus:
    """A corpus of one sentence in each split, with a vocabulary of that many invented pieces."""
    sentences = [Sentence(f"no {number}", ("a",)) for number in range(300)]
    return Corpus("everyday", sentences, Subwords((*FIRST, *(f"w{number}" for number in range(pieces - len(FIRST))))))


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_can_be_built(name: str):
    chosen = recipe(name)
    task = corpus(chosen.pieces) if chosen.pieces else chosen.make_task()
    assert (chosen.task in TASKS) == (not chosen.pieces)
    config = chosen.make_config(task)
    assert isinstance(config, TransformerConfig)
    assert (config.source_vocab, config.target_vocab) == (len(task.source_vocabulary), len(task.target_vocabulary))
    # Two more positions for <sos> and <eos>.
    assert config.max_len >= task.longest + 2
    assert hash(chosen) == hash(recipe(name))


def test_each_description_is_complete_and_different():
    descriptions = [chosen.description for chosen in RECIPES.values()]
    assert len(set(descriptions)) == len(descriptions)
    for description in descriptions:
        assert " in, " in description
        assert " out" in description
        assert "the same, " not in description.split("in, ")[0]


@pytest.mark.parametrize(
    "name", ["steps", "batch", "pool", "turning_layer", "turning_head", "check_every", "check_pairs", "test_pairs"]
)
@pytest.mark.parametrize("value", [0, -1])
def test_a_count_below_one_is_refused(name: str, value: int):
    with pytest.raises(ConfigError, match=f"{name} is {value}; it must be at least 1"):
        recipe("reverse").replace(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *(("steps", value, "must be a whole number") for value in ("4", None, True, 2.5, math.inf)),
        *((name, 1.5, "must be a whole number") for name in ("batch", "warmup", "check_every", "seed")),
        ("seed", None, "must be a whole number"),
        *(
            (name, math.nan, "must be a number")
            for name in ("learning_rate", "clip", "label_smoothing", "stillness", "decisive")
        ),
        ("learning_rate", "1e-3", "must be a number"),
        *((name, math.inf, "must be finite") for name in ("learning_rate", "clip", "stillness", "decisive")),
        *((name, value, "allowed are 0 to 1") for name in ("learning_rate", "label_smoothing") for value in (-0.1, 2)),
        *(
            (name, -1, "must be at least 0")
            for name in ("warmup", "clip", "stillness", "turning", "turning_from", "decisive", "hard")
        ),
        *(("bf16", value, "allowed are True and False") for value in ("no", 0, None)),
        *((name, value, "must be a text") for name in ("task", "start", "about", "preset") for value in (None, 3, ["x"])),
    ],
)
def test_an_invalid_setting_is_refused_by_name(name: str, value: object, message: str):
    with pytest.raises(ConfigError, match=f"^{name} is .*; (it )?{message}"):
        recipe("reverse").replace(**{name: value})


@pytest.mark.parametrize("value", [None, 3, "heads", (1, 2), (("heads", [2]),), {"heads": 2}])
def test_a_config_that_is_not_pairs_is_refused(value: object):
    with pytest.raises(ConfigError, match=r"^config must be a tuple of \(field, value\) tuples, not "):
        recipe("reverse").replace(config=value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "must be a tuple of steps, not 3"),
        ([0, 5], "must be a tuple of steps"),
        ((0, 1.5), "must be a whole number"),
        ((-1, 2), "must be at least 0"),
        ((0, 5, 5), "each step must be later than the one before"),
        ((5, 0), "each step must be later than the one before"),
    ],
)
def test_snapshots_that_are_not_steps_in_order_are_refused(value: object, message: str):
    with pytest.raises(ConfigError, match=f"^snapshots .*{message}"):
        recipe("reverse").replace(snapshots=value)


def test_numpy_numbers_become_python_numbers():
    chosen = recipe("reverse").replace(steps=np.int64(5), learning_rate=np.float32(0.5))
    assert json.loads(json.dumps(dataclasses.asdict(chosen)))["steps"] == 5
    assert (type(chosen.steps), type(chosen.learning_rate)) == (int, float)


def test_exactly_the_numbers_have_bounds():
    hints = get_type_hints(Recipe)
    assert {name for name, hint in hints.items() if hint in (int, float)} == BOUNDS.keys() | {"bits", "snapshot_bits"}


@pytest.mark.parametrize("name", ["bits", "snapshot_bits"])
@pytest.mark.parametrize("bits", [-4, 2, 16])
def test_only_some_numbers_of_bits_can_be_stored(name: str, bits: int):
    with pytest.raises(ConfigError, match=f"{name} is {bits}; allowed are 0, 4 and 8"):
        recipe("reverse").replace(**{name: bits})


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_seed_outside_the_range_of_the_generator_is_refused(seed: int):
    with pytest.raises(ConfigError, match=f"seed is {seed}; allowed are {-(2**63)} to {2**64 - 1}"):
        recipe("reverse").replace(seed=seed)


@pytest.mark.parametrize("seed", [2**64 - 1, -(2**63)])
def test_the_least_and_greatest_seeds_are_accepted(seed: int):
    torch.Generator().manual_seed(recipe("reverse").replace(seed=seed).seed)


def test_an_unknown_name_is_refused_with_the_list_of_names():
    with pytest.raises(InputError, match=r"^There is no recipe for 'klingon'; the models are .*reverse"):
        recipe("klingon")
    with pytest.raises(HeadlightError, match=r"^There is no task called 'klingon'; the tasks are addition, .*sort\.$"):
        Recipe(task="klingon", steps=1).make_config()


def test_an_unknown_setting_is_refused_with_the_list_of_settings():
    with pytest.raises(ConfigError, match="epochs is not a field; the fields are task, steps, start, batch"):
        recipe("reverse").replace(epochs=3)
    with pytest.raises(ConfigError, match="steps is missing and has no default"):
        Recipe(task="reverse")


def test_the_config_of_a_recipe_is_checked():
    with pytest.raises(ConfigError, match="must be a multiple of heads"):
        Recipe(task="reverse", steps=1, config=(("d_model", 10), ("heads", 3))).make_config()


def test_recipes_compare_by_value_and_are_frozen():
    chosen = recipe("reverse")
    assert chosen.replace(steps=3) != chosen
    assert chosen.replace(steps=3).replace(steps=chosen.steps) == chosen
    with pytest.raises(dataclasses.FrozenInstanceError):
        chosen.steps = 3
