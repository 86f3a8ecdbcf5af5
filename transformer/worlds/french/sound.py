"""How neighbouring French words change each other: elision (`le` `animal` → `l'` `animal`), contraction (`de` `le` → `du`).

A sentence is first written in full forms and then passed to `settle`, so no rule of the grammar has to look ahead.
"""

import unicodedata
from collections.abc import Sequence

# An h that blocks elision: `le hérisson`, but `l'homme`.
ASPIRATED = frozenset({"hérisson", "hérissons", "haricot", "haricots"})

ELIDED = {
    "le": "l'",
    "la": "l'",
    "de": "d'",
    "ne": "n'",
    "que": "qu'",
    "je": "j'",
    "me": "m'",
    "te": "t'",
}

# The indefinite article is dropped after `de`: `près de maisons`.
CONTRACTED = {
    ("de", "le"): "du",
    ("de", "les"): "des",
    ("à", "le"): "au",
    ("à", "les"): "aux",
    ("de", "des"): "de",
    ("de", "de"): "de",
}


def starts_with_vowel(word: str) -> bool:
    """Whether a word before this one elides: it begins with a vowel sound, mute h included."""
    first = unicodedata.normalize("NFD", word)[0]
    return first in "aeiouœ" or (first == "h" and word not in ASPIRATED)


def settle(words: Sequence[str]) -> list[str]:
    """Full forms → the forms that are written: `près` `de` `le` `animal` → `près` `de` `l'` `animal`.

    Works from the right: whether `le` elides must be known before `de` can contract with it.
    """
    settled: list[str] = []
    for word in reversed(words):
        if settled and (word, settled[-1]) in CONTRACTED:
            word = CONTRACTED[word, settled.pop()]
        if settled and word in ELIDED and starts_with_vowel(settled[-1]):
            word = ELIDED[word]
        settled.append(word)
    return settled[::-1]
