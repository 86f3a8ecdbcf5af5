"""Tests of the world that copies letters."""

import random

import pytest

from transformer.worlds.copy import Copy

WORLD = Copy()


@pytest.mark.parametrize(("source", "target"), [("headlight", "headlight"), ("z", "z"), ("AbC", "abc"), (" a b\tc ", "abc")])
def test_known_texts_have_their_answers(source: str, target: str):
    assert WORLD.solve(source) == target


@pytest.mark.parametrize("source", ["a1", "été", "a-b", "7"])
def test_solve_returns_none_for_other_texts(source: str):
    assert WORLD.solve(source) is None


def test_alignment_is_the_diagonal():
    assert WORLD.alignment("abc", "abc") == ((0, 0), (1, 1), (2, 2))


def test_alignment_of_an_unfinished_answer_ends_at_its_last_token():
    assert WORLD.alignment("abcd", "ab") == ((0, 0), (1, 1))


def test_every_length_is_a_form_of_both_splits():
    lengths = {f"length {length}" for length in range(1, 13)}
    for pairs in (WORLD.pairs("train", 0), WORLD.pairs("held-out", 0)):
        assert {next(pairs).form for _ in range(500)} == lengths


def test_every_length_is_equally_likely():
    rng = random.Random(0)
    forms = [WORLD.draw(rng).form for _ in range(6000)]
    assert all(400 < forms.count(form) < 600 for form in set(forms))
