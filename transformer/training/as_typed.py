"""Sentence pairs as people type them: in small letters, without a mark at the end, with numbers in digits."""

import random
import re
from collections.abc import Collection

from transformer.tasks import Pair

# Number words that mean the same in both languages in nearly every sentence; "one" and "un" do not.
NUMBERS = {
    "two": "deux",
    "three": "trois",
    "four": "quatre",
    "five": "cinq",
    "six": "six",
    "seven": "sept",
    "eight": "huit",
    "nine": "neuf",
    "ten": "dix",
    "eleven": "onze",
    "twelve": "douze",
    "fifteen": "quinze",
    "twenty": "vingt",
    "thirty": "trente",
    "forty": "quarante",
    "fifty": "cinquante",
}
NO_END, NO_APOSTROPHE = 0.5, 0.2  # shares of sentences in small letters that also lose their last mark, or their apostrophes


def as_typed(pair: Pair, share: float, rng: random.Random) -> Pair:
    """A pair that may differ from the given one in two ways: its number is another one, in digits; and its source is in small
    letters. Each happens with the probability `share`, 0 to 1."""
    if rng.random() < share:
        pair = with_other_number(pair, rng)
    return pair._replace(source=in_a_hurry(pair.source, rng)) if rng.random() < share else pair


def in_a_hurry(source: str, rng: random.Random) -> str:
    """A sentence in small letters. It may lose the marks at its end, and its apostrophes."""
    source = without_end(source.lower()) if rng.random() < NO_END else source.lower()
    return source.replace("'", "") if rng.random() < NO_APOSTROPHE else source


def without_end(source: str) -> str:
    """A sentence without the marks at its end; a text of marks alone keeps them."""
    return source.rstrip(".!?").rstrip() or source


def with_other_number(pair: Pair, rng: random.Random) -> Pair:
    """A pair with a random number from 2 to 9999 in digits, in place of the one number that both sides name, in digits or in a
    word of `NUMBERS`. The pair itself if there is no such number."""
    source = [match for match in re.finditer(r"\w+", pair.source) if _is_number(match[0], NUMBERS)]
    target = [match for match in re.finditer(r"\w+", pair.target) if _is_number(match[0], NUMBERS.values())]
    if len(source) != 1 or len(target) != 1:
        return pair
    word, other = source[0][0].lower(), target[0][0].lower()
    if NUMBERS.get(word, word) != other:
        return pair
    number = str(rng.randint(*rng.choice(((2, 9), (10, 99), (100, 9999)))))
    return pair._replace(source=_replaced(pair.source, source[0], number), target=_replaced(pair.target, target[0], number))


def _is_number(word: str, words: Collection[str]) -> bool:
    return word.isdecimal() or word.lower() in words


def _replaced(text: str, match: re.Match[str], by: str) -> str:
    return text[: match.start()] + by + text[match.end() :]
