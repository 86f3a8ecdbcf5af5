"""Changes between neighbouring French words: elision (`le` `animal` → `l'` `animal`) and contraction (`de` `le` → `du`).

A sentence is first written in full forms and then passed to `settle`, so no rule of the grammar depends on the next word. An
object pronoun is written with a mark (`le_`), because it does not contract: `besoin de le voir`.
"""

import unicodedata
from collections.abc import Sequence

# Words whose h prevents elision: `le hérisson`, but `l'homme`.
ASPIRATED = ("hérisson", "haricot", "hamster", "hamburger", "haut", "huit")
ELIDED = {
    "le": "l'",
    "la": "l'",
    "le_": "l'",
    "la_": "l'",
    "de": "d'",
    "ne": "n'",
    "que": "qu'",
    "je": "j'",
    "me": "m'",
    "te": "t'",
    "se": "s'",
    "ce_": "c'",  # the pronoun; the determiner becomes `cet`
}
# The plural article is dropped after `de`: `près de maisons`.
CONTRACTED = {
    ("de", "le"): "du",
    ("de", "les"): "des",
    ("à", "le"): "au",
    ("à", "les"): "aux",
    ("de", "des"): "de",
    ("de", "de"): "de",
}


def starts_with_vowel(word: str) -> bool:
    """Whether a French word begins with a vowel sound or a mute h, so that the word before it elides (`le` → `l'`)."""
    first = unicodedata.normalize("NFD", word)[0]
    return (
        (first in "aeiouœ" and word not in ("oui", "onze")) or word in ("y", "yeux") or (first == "h" and not _aspirated(word))
    )


def settle(words: Sequence[str]) -> list[str]:
    """French words after elision and contraction: `près` `de` `le` `animal` → `près` `de` `l'` `animal`.

    The words are changed from right to left, because `de` contracts with `le` only if `le` does not elide.
    """
    settled: list[str] = []
    for word in reversed(words):
        if settled and (word, settled[-1]) in CONTRACTED:
            word = CONTRACTED[word, settled.pop()]
        if settled and word in ELIDED and starts_with_vowel(settled[-1]):
            word = ELIDED[word]
        settled.append(word)
    return [word.rstrip("_") for word in settled[::-1]]


def _aspirated(word: str) -> bool:
    return word.startswith(ASPIRATED)
