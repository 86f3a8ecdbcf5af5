"""Tests of the card of a checkpoint."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer.pipeline.checkpoints import CARD
from transformer.errors import CheckpointError
from transformer.pipeline.card import Card


def test_json_round_trip():
    assert Card.from_json(CARD.to_json()) == CARD


def test_a_card_that_calls_the_task_a_world_is_read():
    former = CARD.to_json().replace('"task"', '"world"').replace('"steps": 4000', '"steps": 4000, "world": "reverse"')
    assert Card.from_json(former) == dataclasses.replace(CARD, recipe=CARD.recipe | {"task": "reverse"})


def test_only_fields_without_a_default_are_required():
    least = {"task": "w", "description": "d", "accepts": "a", "longest": 3, "command": ""}
    assert Card.from_json(json.dumps(least)) == Card(**least)
    for name in least:
        with pytest.raises(CheckpointError, match="is not a Headlight card"):
            Card.from_json(json.dumps({key: value for key, value in least.items() if key != name}))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("task", [1, None, [], True]),
        ("description", [1, None, {}]),
        ("accepts", [None, ["a"]]),
        ("longest", ["12", 12.5, None, True, -3, 10**400]),
        ("command", [None, 0]),
        ("recipe", [[], "none", None]),
        ("trained_on", ["many", 1.5, False, -1]),
        ("minutes", ["3", None, True, -0.5, math.nan, math.inf, 10**400]),
        ("machine", [None, 7]),
        ("tested_on", [None, "3", -1]),
        ("accuracy", ["1.0", None, [], math.nan, -7.0, 1.01]),
        ("accuracy_by_form", [[], {"length 7": "all"}, {"length 7": None}, {"length 7": math.nan}, {"length 7": 1.5}, None]),
        ("history", [{}, [3], [{"step": "first"}], [{"loss": math.nan}], [[]], None]),
        ("measures", [[], 3, None]),
    ],
)
def test_a_field_of_another_type_is_refused_by_name(name: str, values: list[object]):
    for value in values:
        text = json.dumps(json.loads(CARD.to_json()) | {name: value})
        with pytest.raises(CheckpointError, match=f"^The card's {name} is .*; it must be "):
            Card.from_json(text)


@pytest.mark.parametrize("entry", [{}, {"loss": 1.0}, {"step": 5, "accuracy": 0.5}])
def test_a_check_of_the_history_without_step_or_loss_is_refused(entry: dict[str, float]):
    with pytest.raises(CheckpointError, match="a step and a loss"):
        Card.from_json(json.dumps(json.loads(CARD.to_json()) | {"history": [entry]}))


@pytest.mark.parametrize(
    "text", ["", "garbage", "[]", "null", "3", "{}", "[" * 100_000, '{"what": 1}'], ids=lambda text: text[:9]
)
def test_invalid_json_is_refused(text: str):
    with pytest.raises(CheckpointError, match="is not a Headlight card"):
        Card.from_json(text)


@pytest.mark.parametrize("name", ["description", "accepts", "machine"])
def test_half_of_a_surrogate_pair_is_refused_both_ways(name: str):
    with pytest.raises(CheckpointError, match="cannot be written"):
        Card.from_json(json.dumps(json.loads(CARD.to_json()) | {name: "\ud800"}))
    with pytest.raises(CheckpointError, match="cannot be written"):
        dataclasses.replace(CARD, **{name: "\ud800"}).to_json()


@pytest.mark.parametrize("value", [object(), {1, 2}, np.float32(0.5)], ids=lambda value: type(value).__name__)
def test_a_value_that_json_cannot_hold_is_refused(value: object):
    with pytest.raises(CheckpointError, match="cannot be written"):
        dataclasses.replace(CARD, recipe={"x": value}).to_json()


def test_an_additional_field_is_refused():
    with pytest.raises(CheckpointError, match="is not a Headlight card"):
        Card.from_json(json.dumps(json.loads(CARD.to_json()) | {"signed_by": "nobody"}))


@given(st.text())
def test_arbitrary_text_is_refused_as_json(text: str):
    with pytest.raises(CheckpointError):
        Card.from_json(text)
