"""Tests of the task that copies letters."""

import random

import pytest

from transformer.tasks.copy import Copy

TASK = Copy()


@pytest.mark.parametrize(("source", "target"), [("headlight", "headlight"), ("z", "z"), ("AbC", "abc"), (" a b\tc ", "abc")])
def test_known_texts_have_their_answers(source: str, target: str):
    assert TASK.solve(source) == target


@pytest.mark.parametrize("source", ["a1", "été", "a-b", "7"])
def test_solve_returns_none_for_other_texts(source: str):
    assert TASK.solve(source) is None


def test_alignment_is_the_diagonal():
    assert TASK.alignment("abc", "abc") == ((0, 0), (1, 1), (2, 2))


def test_alignment_of_an_unfinished_answer_ends_at_its_last_token():
    assert TASK.alignment("abcd", "ab") == ((0, 0), (1, 1))


def test_every_length_is_a_form_of_both_splits():
    lengths = {f"length {length}" for length in range(1, 13)}
    for pairs in (TASK.pairs("train", 0), TASK.pairs("held-out", 0)):
        assert {next(pairs).form for _ in range(500)} == lengths


def test_every_length_is_equally_likely():
    rng = random.Random(0)
    forms = [TASK.sample(rng).form for _ in range(6000)]
    assert all(400 < forms.count(form) < 600 for form in set(forms))
