"""Text ⇄ tokens. A tokenizer is a pair of plain functions with a name, so that a checkpoint can say which one it needs."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from transformer.errors import ConfigError

APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "′": "'", "`": "'", "´": "'"})
DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-"})

# English writes these together; the worlds are made of the long forms.
CONTRACTIONS = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "let's": "let us",
    "it's": "it is",
    "that's": "that is",
    "he's": "he is",
    "she's": "she is",
    "what's": "what is",
    "who's": "who is",
    "there's": "there is",
    "i'm": "i am",
}
ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}

WORD = r"[^\W\d_]+"
ENGLISH = re.compile(rf"{WORD}(?:'{WORD})?|\d|[^\w\s]")
# `l'`, `qu'`, … are tokens of their own; `aujourd'hui` is one word in spite of its apostrophe.
FRENCH = re.compile(rf"aujourd'hui|{WORD}'|{WORD}(?:-{WORD})*|\d|[^\w\s]")
WORDS_AND_DIGITS = re.compile(rf"{WORD}|\d|[^\w\s]")
# What takes no ink though it counts as a letter, a mark or a symbol: the joiner of graphemes, fillers of Hangul, inherent
# vowels of Khmer, selectors of variants, the blank of Braille.
NO_INK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]")
NOT_SHOWN = ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")  # Unicode's categories of commands, halves of surrogate pairs, and blanks


class Tokenizer(NamedTuple):
    """How a text becomes tokens and tokens become a text again.

    Attributes:
        split: text → tokens. Case, spacing and typographic marks are made plain first.
        join: tokens → text as a person would write it.
        unit: what one token is called in a message ("letter", "word").
    """

    split: Callable[[str], list[str]]
    join: Callable[[Sequence[str]], str]
    unit: str

    def counted(self, tokens: int) -> str:
        """A number of tokens, by what they are called: `1 word or digit`, `2 words or digits`."""
        kinds = self.unit.split(" or ")
        return f"{tokens} {' or '.join(kind + 's' * (tokens != 1) for kind in kinds)}"


def plain(text: str) -> str:
    """Lower case, composed accents, straight apostrophes and hyphens: what a person means, not how they typed it."""
    return unicodedata.normalize("NFC", text).translate(APOSTROPHES).translate(DASHES).lower()


def unseen(text: str) -> bool:
    """Whether nothing of a text would show on a screen: every character is a blank, say, or has no width."""
    return all(unicodedata.category(sign) in NOT_SHOWN or NO_INK.fullmatch(sign) for sign in text)


def sentence(text: str) -> str:
    """`plain`, with the punctuation of a written sentence reduced to what the worlds of words know: a question mark, and a
    period for everything else that ends a sentence. Commas, quotes and the like are dropped."""
    ended = re.sub(r"[.!;…][\s.!;…]*", " . ", plain(text))
    return re.sub(r"[,:()\[\]\"“”„«»]|(?<![^\W\d_])-|-(?![^\W\d_])", " ", ended)


def split_characters(text: str) -> list[str]:
    """Every character but blanks, `plain`: `A b!` → `a` `b` `!`."""
    return [character for character in plain(text) if not character.isspace()]


def split_english(text: str) -> list[str]:
    """Words, each digit and each mark of a `sentence`, contractions written out: `It didn't.` → `it` `did` `not` `.`."""
    return [token for word in ENGLISH.findall(sentence(text).replace("-", " ")) for token in _uncontracted(word).split()]


def split_french(text: str) -> list[str]:
    """Words, each digit and each mark of a `sentence`, elided words apart: `L'animal dort.` → `l'` `animal` `dort` `.`."""
    return FRENCH.findall(sentence(text))


def split_words_and_digits(text: str) -> list[str]:
    """Words, each digit and each mark, `plain`: `March 27!` → `march` `2` `7` `!`."""
    return WORDS_AND_DIGITS.findall(plain(text))


def join_elided(tokens: Sequence[str]) -> str:
    """Words with spaces between them, except after an elision: `l'` `animal` → `l'animal`."""
    return re.sub(r"(\w') ", r"\1", " ".join(tokens))


def _uncontracted(word: str) -> str:
    if word in CONTRACTIONS:
        return CONTRACTIONS[word]
    for ending, long in ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            return word.removesuffix(ending) + long
    return word


TOKENIZERS = {
    "characters": Tokenizer(split_characters, "".join, "character"),
    "english": Tokenizer(split_english, " ".join, "word"),
    "french": Tokenizer(split_french, join_elided, "word"),
    "words and digits": Tokenizer(split_words_and_digits, " ".join, "word or digit"),
}


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in TOKENIZERS:
        raise ConfigError("tokenizer", name, f"allowed are {', '.join(TOKENIZERS)}")
    return TOKENIZERS[name]
