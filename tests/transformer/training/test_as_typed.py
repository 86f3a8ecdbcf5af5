"""Sentence pairs as people type them."""

import random
import re

import pytest

from transformer.tasks import Pair
from transformer.training.as_typed import EMOJI, NAMES, NUMBERS, as_typed, in_a_hurry, with_other_name, with_other_number


def seeds() -> list[random.Random]:
    return [random.Random(seed) for seed in range(200)]


def test_a_sentence_in_a_hurry_has_small_letters_or_capitals_and_the_same_words():
    hurried = {in_a_hurry("I don't know Tom!", rng) for rng in seeds()}
    small = {"i don't know tom!", "i don't know tom", "i dont know tom!", "i dont know tom"}
    assert hurried == small | {sentence.upper() for sentence in small}


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


def names_in(source: str, target: str) -> set[tuple[str, ...]]:
    """The sentences that a pair becomes with other names."""
    return {with_other_name(Pair(source, target, "words"), rng)[:2] for rng in seeds()}


def test_a_name_on_both_sides_becomes_another_one_on_both_sides():
    found = names_in("I know Tom, and Tom's dog.", "Je connais Tom, et le chien de Tom.")
    names = set()
    for source, target in found:
        name = re.fullmatch(r"I know (\w+), and \1's dog\.", source)
        assert name
        elided = "d'" if name[1][0] in "AEIOU" else "de "
        assert target == f"Je connais {name[1]}, et le chien {elided}{name[1]}."
        names.add(name[1])
    assert len(names) > 100  # the invented ones
    assert len(names & set(NAMES["Tom"].split())) > 20
    assert any(name[0] in "AEIOU" for name in names)


def test_each_name_of_a_sentence_becomes_another_one():
    for source, target in names_in("Tom met Mary in Boston.", "Tom a rencontré Mary à Boston."):
        man, woman, place = source[:-1].replace(" met ", " ").replace(" in ", " ").split()
        assert target == f"{man} a rencontré {woman} à {place}."


@pytest.mark.parametrize("word", ["que", "Que", "lorsque", "puisque", "jusque", "de"])
def test_a_word_before_a_name_that_begins_with_a_vowel_loses_its_last_letter(word: str):
    targets = {target for _, target in names_in("Tom", f"{word} Tom")}
    assert any(re.fullmatch(rf"{word[:-1]}'[AEIOU]\w+", target) for target in targets)
    assert all(re.fullmatch(rf"{word[:-1]}'[AEIOU]\w+|{word} [^AEIOU]\w+", target) for target in targets)


def test_a_name_that_the_sides_do_not_share_is_kept():
    assert names_in("Mary sings.", "Marie chante.") == {("Mary sings.", "Marie chante.")}
    assert names_in("Tom, Tom!", "Tom !") == {("Tom, Tom!", "Tom !")}
    assert names_in("Tomorrow.", "Tomate.") == {("Tomorrow.", "Tomate.")}


def test_no_listed_name_needs_a_rule_that_is_not_written():
    names = [name for names in NAMES.values() for name in names.split()]
    assert all(name.isalpha() and name.isascii() and name[0] not in "HY" for name in names)
    assert len(set(names)) == len(names)


def test_an_emoji_stands_at_both_ends():
    pair = Pair("I See Dogs", "Je vois des chiens.", "")
    typed = [as_typed(pair, 1.0, rng) for rng in seeds()]
    with_emoji = [(*end.source.split()[-1:], *end.target.split()[-1:]) for end in typed if end.target != pair.target]
    assert len(with_emoji) > 10
    assert all(source == target and source in EMOJI.split() for source, target in with_emoji)


def test_about_the_share_of_pairs_is_changed():
    rng, pair = random.Random(0), Pair("I See Dogs", "Je vois des chiens.", "")
    changed = [as_typed(pair, 0.4, rng) != pair for _ in range(2000)]
    assert 0.39 < sum(changed) / len(changed) < 0.49  # in a hurry, with an emoji, or both
    assert as_typed(pair, 0.0, rng) == pair
