"""The scripts of a text, such as Latin or Cyrillic."""

import unicodedata
from collections.abc import Iterable


def scripts_of(tokens: Iterable[str]) -> frozenset[str]:
    """The names of the scripts of all letters in the tokens, such as `LATIN`: the first word of each letter's Unicode name."""
    letters = {letter for token in tokens for letter in token if letter.isalpha()}
    return frozenset(unicodedata.name(letter, "UNKNOWN").split()[0] for letter in letters)
