"""Sentence pairs as people type them."""

import random

import pytest

from transformer.tasks import Pair
from transformer.training.as_typed import NUMBERS, as_typed, in_a_hurry, with_other_number


def test_a_sentence_in_a_hurry_has_small_letters_and_the_same_words():
    hurried = {in_a_hurry("I don't know Tom!", random.Random(seed)) for seed in range(100)}
    assert hurried == {"i don't know tom!", "i don't know tom", "i dont know tom!", "i dont know tom"}


def test_a_sentence_of_marks_alone_keeps_them():
    assert {in_a_hurry("?!", random.Random(seed)) for seed in range(20)} == {"?!"}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("She has two cats.", "Elle a deux chats."),
        ("Two cats sleep.", "Deux chats dorment."),
        ("She has 12 cats.", "Elle a 12 chats."),
    ],
)
def test_a_number_on_both_sides_becomes_another_one_in_digits(source: str, target: str):
    found = set()
    for seed in range(50):
        pair = with_other_number(Pair(source, target, "words"), random.Random(seed))
        (number,) = (word for word in pair.source.split() if word.isdecimal())
        assert number in pair.target.split()
        assert len(pair.source.split()) == len(source.split())
        assert pair.form == "words"
        found.add(len(number))
    assert {1, 2} <= found


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("She has two cats.", "Elle a trois chats."),  # not the same number
        ("Two and two are four.", "Deux et deux font quatre."),  # more than one
        ("She has one cat.", "Elle a un chat."),  # "un" is an article, too
        ("Come at 10:30.", "Viens à 10 h 30."),
        ("She has cats.", "Elle a deux chats."),
    ],
)
def test_other_pairs_keep_their_numbers(source: str, target: str):
    pair = Pair(source, target, "")
    assert with_other_number(pair, random.Random(0)) == pair


def test_each_number_word_is_replaced():
    for english, french in NUMBERS.items():
        pair = with_other_number(Pair(f"I saw {english} dogs.", f"J'ai vu {french} chiens.", ""), random.Random(1))
        assert english not in pair.source
        assert french not in pair.target.split()


def test_about_the_share_of_pairs_is_changed():
    rng, pair = random.Random(0), Pair("I See Dogs", "Je vois des chiens.", "")
    changed = [as_typed(pair, 0.4, rng) != pair for _ in range(2000)]
    assert 0.36 < sum(changed) / len(changed) < 0.44
    assert as_typed(pair, 0.0, rng) == pair
