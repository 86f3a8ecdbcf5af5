"""Tests of the task that sorts letters."""

import random
from collections import Counter

import pytest

from transformer.tasks.sort import Sort

TASK = Sort()


@pytest.mark.parametrize(
    ("source", "target"),
    [("headlight", "adeghhilt"), ("banana", "aaabnn"), ("z", "z"), ("CaB", "abc"), (" z y\tx ", "xyz"), ("aaa", "aaa")],
)
def test_known_texts_have_their_answers(source: str, target: str):
    assert TASK.solve(source) == target


@pytest.mark.parametrize("source", ["a1", "été", "a-b", "7"])
def test_solve_returns_none_for_other_texts(source: str):
    assert TASK.solve(source) is None


@pytest.mark.parametrize(
    ("source", "sources"),
    [("cab", (1, 2, 0)), ("banana", (1, 3, 5, 0, 2, 4)), ("aaa", (0, 1, 2)), ("dcba", (3, 2, 1, 0))],
)
def test_alignment_keeps_equal_letters_in_their_order(source: str, sources: tuple[int, ...]):
    assert TASK.alignment(source, sorted(source)) == tuple(enumerate(sources))


def test_aligned_letters_are_the_same_and_each_is_used_once():
    rng = random.Random(0)
    for _ in range(300):
        pair = TASK.sample(rng)
        alignment = TASK.alignment(pair.source, pair.target) or ()
        assert [pair.source[column] for _, column in alignment] == list(pair.target)
        assert sorted(column for _, column in alignment) == list(range(len(pair.source)))


def test_texts_are_drawn_with_every_possible_number_of_repetitions():
    rng = random.Random(0)
    details = Counter(detail for _ in range(6_000) for detail in TASK.sample(rng).details)
    assert set(details) == {"all letters different", *(f"a letter {count} times" for count in range(2, 13))}
    assert min(details.values()) > 20


def test_alignment_of_an_unfinished_answer_ends_at_its_last_token():
    assert TASK.alignment("cab", "ab") == ((0, 1), (1, 2))
