"""Sentence pairs as people type them: in lower case or in capitals, without a mark at the end, with numbers in digits, other
names and an emoji."""

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
# Names that are the same in both languages, in place of those that most named sentences of the file have. None begins with "h"
# or "y": before these letters, some names take "de" and others "d'".
NAMES = {
    "Tom": "Adam Ahmed Alex Ali Antonio Arjun Ben Carlos Chen Daniel David Diego Emil Erik Felix Finn Ivan Jack Jacob Jan "
    "John Jonas Juan Karim Kevin Leo Liam Lucas Luis Marco Mark Martin Max Michael Mohamed Nico Noah Omar Oscar Paul Pedro "
    "Peter Raj Robert Sam Simon Thomas Tim Victor William",
    "Mary": "Aisha Alice Amina Anna Astrid Carla Chloe Clara Diana Elena Elsa Emily Emma Eva Fatima Fiona Grace Ida Ines "
    "Jane Julia Kate Laura Leila Lena Lily Linda Lisa Lucy Maria Maya Mei Mia Mina Nadia Nina Nora Olga Olivia Priya Rosa "
    "Ruby Sara Sarah Sofia Sophie Susan Tina Vera Zoe",
    "Boston": "Amsterdam Bangkok Berlin Bordeaux Budapest Chicago Dallas Delhi Detroit Dublin Lagos Lima Lyon Madrid "
    "Manchester Miami Milan Mumbai Munich Nagoya Nairobi Osaka Oslo Paris Porto Prague Rome Seattle Stockholm Sydney Tokyo "
    "Toronto Toulouse Zurich",
}
# The parts of an invented name.
ONSETS, VOWELS, LAST = "b br c ch d f g gr j k kl l m n p r s sh st t tr v w z", "aeiou", "lnrst"
EMOJI = (
    "😀 😂 😊 😍 😎 😢 😡 😭 😱 🙂 🙏 🤔 🤣 🥰 👋 👍 👏 💪 ❤️ 💔 🎉 🎂 🎁 🔥 ✨ ⭐ ☀️ 🌧️ 🌸 🐶 🐱 🍕 🍎 🍰 ☕ "
    "🍺 ⚽ 🎵 📚 💻 🚗 ✈️ 🏠 💯"
)
# Words that lose their last letter before a vowel.
ELIDED = re.compile(r"\b([Dd]|(?:[Jj]us|[Ll]ors|[Pp]uis)?[Qq]u)e (?=[AEIOU])")
CAPITALS = 0.2  # share of sentences in a hurry that are in capitals instead of small letters
NO_END, NO_APOSTROPHE = 0.5, 0.2  # shares of sentences in a hurry that also lose their last marks, and their apostrophes
INVENTED = 0.5  # share of the other names that are invented, so that the model learns to copy a name that it has never read
MORE_NAMES, FEWER_EMOJI = 2.0, 0.15  # times the share of the pairs that are in a hurry


def as_typed(pair: Pair, share: float, rng: random.Random) -> Pair:
    """The sentence pair with up to four random changes: another number, in digits, with the probability `share` (0 to 1); other
    names, with twice this probability; the source typed in a hurry (`in_a_hurry`), with the probability `share`; an emoji at
    the end of both sides, with 0.15 times this probability."""
    if rng.random() < share:
        pair = with_other_number(pair, rng)
    if rng.random() < share * MORE_NAMES:
        pair = with_other_name(pair, rng)
    if rng.random() < share:
        pair = pair._replace(source=in_a_hurry(pair.source, rng))
    if rng.random() < share * FEWER_EMOJI:
        emoji = rng.choice(EMOJI.split())
        pair = pair._replace(source=f"{pair.source} {emoji}", target=f"{pair.target} {emoji}")
    return pair


def in_a_hurry(source: str, rng: random.Random) -> str:
    """The sentence in lower case or, less often, in capitals. At random it also loses the marks at its end, its apostrophes, or
    both."""
    source = source.upper() if rng.random() < CAPITALS else source.lower()
    source = without_end(source) if rng.random() < NO_END else source
    return source.replace("'", "") if rng.random() < NO_APOSTROPHE else source


def without_end(source: str) -> str:
    """A sentence without `.`, `!` and `?` at its end; a text of these marks alone is returned unchanged."""
    return source.rstrip(".!?").rstrip() or source


def with_other_number(pair: Pair, rng: random.Random) -> Pair:
    """The sentence pair with a random number from 2 to 9999 in digits, in place of its number, which may be in digits or a word
    such as "three". Returned unchanged unless each side has exactly one number, and both are equal."""
    source = [match for match in re.finditer(r"\w+", pair.source) if _is_number(match[0], NUMBERS)]
    target = [match for match in re.finditer(r"\w+", pair.target) if _is_number(match[0], NUMBERS.values())]
    if len(source) != 1 or len(target) != 1:
        return pair
    word, other = source[0][0].lower(), target[0][0].lower()
    if NUMBERS.get(word, word) != other:
        return pair
    number = str(rng.randint(*rng.choice(((2, 9), (10, 99), (100, 9999)))))
    return pair._replace(source=_replaced(pair.source, source[0], number), target=_replaced(pair.target, target[0], number))


def with_other_name(pair: Pair, rng: random.Random) -> Pair:
    """The sentence pair with another name, listed or invented, in place of Tom, Mary and Boston, each only if both sides have
    it equally often. If the new name begins with a vowel, French words such as "de" before it lose their last letter:
    "d'Anna"."""
    source, target = pair.source, pair.target
    for known, others in NAMES.items():
        pattern = re.compile(rf"\b{known}\b")
        count = len(pattern.findall(source))
        if count and count == len(pattern.findall(target)):
            name = invented_name(known, rng) if rng.random() < INVENTED else rng.choice(others.split())
            source, target = pattern.sub(name, source), pattern.sub(name, target)
            if name[0] in "AEIOU":
                target = ELIDED.sub(r"\1'", target)
    return pair._replace(source=source, target=target)


def invented_name(known: str, rng: random.Random) -> str:
    """A random name of two or three syllables that replaces the name `known`. It ends with "a" if `known` is "Mary"."""
    syllables: list[str] = [rng.choice(ONSETS.split()) + rng.choice(VOWELS) for _ in range(rng.choice((2, 2, 3)))]
    syllables[0] = syllables[0][-1] if rng.random() < 0.2 else syllables[0]  # a fifth begin with a vowel
    last = "" if rng.random() < 0.5 else rng.choice(LAST)
    name = "".join(syllables)
    return (name[:-1] + "a" if known == "Mary" else name + last).capitalize()


def _is_number(word: str, words: Collection[str]) -> bool:
    return word.isdecimal() or word.lower() in words


def _replaced(text: str, match: re.Match[str], by: str) -> str:
    return text[: match.start()] + by + text[match.end() :]
