"""Tests of the task that reverses letters."""

import random

import pytest

from transformer.tasks.reverse import Reverse

TASK = Reverse()


@pytest.mark.parametrize(
    ("source", "target"),
    [("headlight", "thgildaeh"), ("z", "z"), ("AbC", "cba"), (" a b\tc ", "cba"), ("a" * 12, "a" * 12)],
)
def test_known_texts_have_their_answers(source: str, target: str):
    assert TASK.solve(source) == target


@pytest.mark.parametrize("source", ["a1", "été", "a-b", "7"])
def test_solve_returns_none_for_other_texts(source: str):
    assert TASK.solve(source) is None


def test_alignment_is_the_anti_diagonal():
    assert TASK.alignment("abc", "cba") == ((0, 2), (1, 1), (2, 0))


def test_alignment_of_an_unfinished_answer_ends_at_its_last_token():
    assert TASK.alignment("abcd", "dc") == ((0, 3), (1, 2))


def test_every_length_is_a_form():
    rng = random.Random(0)
    pairs = [TASK.sample(rng) for _ in range(500)]
    assert {pair.form for pair in pairs} == {f"length {length}" for length in range(1, 13)}
    assert all(pair.form == f"length {len(pair.source)}" for pair in pairs)


def test_capitals_and_spaces_do_not_change_the_split():
    assert {TASK.is_held_out(source) for source in ("headlight", "Headlight", " head LIGHT ")} == {False}
