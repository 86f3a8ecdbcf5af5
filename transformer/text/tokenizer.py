"""Tokenizers. Each has two plain functions, text → tokens and tokens → text, and a name, which is stored in checkpoints."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from transformer.errors import InputError
from transformer.validation import one_of

APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "′": "'", "`": "'", "´": "'"})
DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-"})

# English contractions and their long forms. The word tasks use only the long forms.
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
    "here's": "here is",
    "where's": "where is",
    "when's": "when is",
    "how's": "how is",
    "name's": "name is",
    "i'm": "i am",
    "gonna": "going to",
    "wanna": "want to",
}
SMALL_NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
ENDINGS = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}

# Invisible characters, which are removed because they are in a text only by mistake: control characters except white space,
# soft hyphens, marks of writing direction, zero-width spaces, byte-order marks, variation selectors, tags, and similar ones.
INVISIBLE = (
    "\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
BLANK = "\u2800\u3164\uffa0"  # invisible letters, treated as spaces: Braille's blank and the fillers of Hangul
# ZWNJ and ZWJ. They are kept only between characters whose writing needs them: letters of scripts without case (Hindi,
# Persian), the marks of these letters, and emoji.
JOINERS = "\u200c\u200d"
JOINED = ("Lo", "Mn", "Mc", "So", "Sk")  # Unicode's categories of the characters that joiners may stand between
UNSEEN = re.compile(rf"[\s{INVISIBLE}{BLANK}{JOINERS}\ud800-\udfff]*")

LETTERS = r"[^\W\d_]+"
WORD = rf"{LETTERS}(?:[{JOINERS}]{LETTERS})*"
SIGN = rf"[^\w\s](?:[{JOINERS}]\S)*"
# A possessive `'s` that stands alone is one token, because a split text is joined with spaces and split again.
ENGLISH = re.compile(rf"{WORD}(?:'{WORD})?|'s(?![^\W\d_{JOINERS}])|[0-9]+|\d|{SIGN}")
# `l'`, `qu'`, … are separate tokens; `aujourd'hui` is one word despite its apostrophe.
FRENCH = re.compile(rf"aujourd'hui|{WORD}'|{WORD}(?:-{WORD})*|\d|{SIGN}")
WORDS_AND_DIGITS = re.compile(rf"{WORD}|\d|{SIGN}")
CHARACTERS = re.compile(rf"\S(?:[{JOINERS}]\S)*")


class Tokenizer(NamedTuple):
    """A pair of functions, text → tokens and tokens → text, and the messages for texts that are too long.

    Attributes:
        split: function from text to tokens. It takes time linear in the length of the text.
        join: function from tokens to text in its usual spelling.
        source_too_long, target_too_long: template of the message for a source or a target with too many tokens, with the
            placeholders `count` and `most`.
    """

    split: Callable[[str], list[str]]
    join: Callable[[Sequence[str]], str]
    source_too_long: str
    target_too_long: str


def a_text(text: Any) -> str:
    """`text` itself, after a check that it is a `str`.

    Raises:
        InputError: `text` is not a `str`.
    """
    if not isinstance(text, str):
        raise InputError("A text must be a string; this one is {text!r}.", text=text)
    return text


def plain(text: str) -> str:
    """A text in lower case, with composed accents (NFC), straight apostrophes, hyphens in place of dashes, and without
    invisible characters. Zero-width joiners are kept only between letters or emoji that need them. Raises `InputError` if
    `text` is not a text."""
    visible = re.sub(f"[{BLANK}]", " ", re.sub(f"[{INVISIBLE}]+", "", a_text(text)))
    typed = unicodedata.normalize("NFC", visible).translate(APOSTROPHES).translate(DASHES).lower()
    return re.sub(f"(.)[{JOINERS}]+(?=(.?))", _joined, typed.lstrip(JOINERS), flags=re.DOTALL)


def _joined(match: re.Match[str]) -> str:
    before, after = match[1], match[2]
    joins = after and unicodedata.category(before) in JOINED and unicodedata.category(after) in JOINED
    return match[0][:2] if joins else before


def unseen(text: str) -> bool:
    """Whether a text is invisible on a screen: empty, or only white space, characters without width, or halves of surrogate
    pairs."""
    return UNSEEN.fullmatch(a_text(text)) is not None


def sentence(text: str) -> str:
    """The text in lower case (`plain`), with ` . ` in place of each run of `.`, `!`, `;` and `…`; the question mark stays.
    Commas, colons, quotes, brackets and hyphens outside a word become spaces, because the tasks with words do not use them."""
    ended = re.sub(r"[.!;…][\s.!;…]*", " . ", plain(text))
    return re.sub(r"[,:()\[\]\"“”„«»]|(?<![^\W\d_])-|-(?![^\W\d_])", " ", ended)


def split_characters(text: str) -> list[str]:
    """The characters of a text in lower case (`plain`), without white space: `A b!` → `a` `b` `!`. Characters with a zero-width
    joiner between them are one token."""
    return CHARACTERS.findall(plain(text))


def split_english(text: str) -> list[str]:
    """Words and punctuation of a text in lower case (`sentence`), with contractions and numbers up to 100 written out.
    `It didn't.` → `it` `did` `not` `.`; `Anna's 9` → `anna` `'s` `nine`."""
    return [token for word in ENGLISH.findall(sentence(text).replace("-", " ")) for token in _uncontracted(word).split()]


def split_french(text: str) -> list[str]:
    """Words, digits and punctuation of a text in lower case (`sentence`). An elided word is a token: `L'animal dort.` → `l'`
    `animal` `dort` `.`."""
    return FRENCH.findall(sentence(text))


def split_words_and_digits(text: str) -> list[str]:
    """Words, single digits and punctuation of a text in lower case (`plain`): `March 27!` → `march` `2` `7` `!`."""
    return WORDS_AND_DIGITS.findall(plain(text))


def join_elided(tokens: Sequence[str]) -> str:
    """Words joined with spaces, except after an elision: `l'` `animal` → `l'animal`."""
    return re.sub(r"(\w') ", r"\1", " ".join(tokens))


def _uncontracted(word: str) -> str:
    if word in CONTRACTIONS:
        return CONTRACTIONS[word]
    for ending, long in ENDINGS.items() if "'" in word else ():
        if word.endswith(ending) and len(word) > len(ending):
            return word.removesuffix(ending) + long
    if word.endswith("'s") and len(word) > 2:
        return word.removesuffix("'s") + " 's"
    return _number(word) if word[0] in "0123456789" else word


def _number(digits: str) -> str:
    """A whole number up to 100 in words. A larger number, or one with leading zeros, is returned unchanged."""
    value = int(digits) if len(digits) <= 3 else 101
    if value > 100 or digits != str(value):
        return digits
    if value < 20:
        return SMALL_NUMBERS[value]
    if value == 100:
        return "one hundred"
    ten, unit = TENS[value // 10 - 2], value % 10
    return f"{ten} {SMALL_NUMBERS[unit]}" if unit else ten


TOO_MANY_WORDS = (
    "Your text has {count} words; this model reads up to {most}.",
    "Your target has {count} words; this model reads up to {most}.",
)
TOKENIZERS = {
    "characters": Tokenizer(
        split_characters,
        "".join,
        "Your text has {count} characters; this model reads up to {most}.",
        "Your target has {count} characters; this model reads up to {most}.",
    ),
    "english": Tokenizer(split_english, " ".join, *TOO_MANY_WORDS),
    "french": Tokenizer(split_french, join_elided, *TOO_MANY_WORDS),
    "words and digits": Tokenizer(
        split_words_and_digits,
        " ".join,
        "Your text has {count} words or digits; this model reads up to {most}.",
        "Your target has {count} words or digits; this model reads up to {most}.",
    ),
}


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer called `name`: `characters`, `english`, `french` or `words and digits`.

    Raises:
        ConfigError: no tokenizer has that name.
    """
    return TOKENIZERS[one_of("tokenizer", name, TOKENIZERS)]
