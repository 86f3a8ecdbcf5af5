"""The whole grammar: draw a sentence, read one, and list the words that fit next."""

import random
from bisect import bisect
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from transformer.worlds.conversation.frames import FRAMES, Frame
from transformer.worlds.conversation.frames.courtesy import FIXED
from transformer.worlds.conversation.frames.frame import opening
from transformer.worlds.conversation.path import DeadEndError, Draw, Path, Read
from transformer.worlds.conversation.sound import settle

LONGEST = 14  # source tokens drawn, but for the questions about a reference
LONGEST_QUESTION = 20
TWO, TWO_SHARE, MARKS = "two sentences", 0.025, (".", "?")
_CUMULATIVE = list(accumulate(frame.share for frame in FRAMES.values()))
_FRAMES = tuple(FRAMES.values())


class Sentence(NamedTuple):
    """A sentence in both languages, and the name of its frame."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    frame: str


def drawn(rng: random.Random, frame: Frame | None = None) -> Sentence:
    """A random sentence, of `frame` if given; sometimes two short ones."""
    if frame is None and rng.random() < TWO_SHARE:
        return _two(rng)
    frame = frame or _FRAMES[bisect(_CUMULATIVE, rng.random() * _CUMULATIVE[-1])]
    longest = LONGEST_QUESTION if frame.name == "reference question" else LONGEST
    while True:
        path = Draw(rng)
        try:
            french = _sentence(path, frame)
        except DeadEndError:
            continue
        english = tuple(path.english())
        # A fixed phrase means what it means: `i am good` is no description.
        as_phrase = frame.name != "courtesy" and without_mark(english) in FIXED
        if len(english) <= longest and not as_phrase:
            return Sentence(english, tuple(french), frame.name)


def _two(rng: random.Random) -> Sentence:
    """`i have a dog . his name is max`."""
    while True:
        first, second = drawn(rng), drawn(rng)
        both = [*first.english, *second.english]
        if first.english[-1] in MARKS and len(both) <= LONGEST and sum(map(both[:-1].count, MARKS)) == 1:
            return Sentence(tuple(both), (*first.french, *second.french), TWO)


def read(tokens: Sequence[str]) -> Sentence | None:
    """The first reading of a text, in the order of the frames; if it is none as a whole, that of its two sentences."""
    sentence = _read_one(tokens)
    ends = [index for index, token in enumerate(tokens[:-1]) if token in MARKS]
    if sentence is not None or len(ends) != 1:
        return sentence
    first, second = _read_one(tokens[: ends[0] + 1]), _read_one(tokens[ends[0] + 1 :])
    if first is None or second is None:
        return None
    return Sentence(tuple(tokens), (*first.french, *second.french), TWO)


def _read_one(tokens: Sequence[str]) -> Sentence | None:
    for frame in _frames_for(tokens):
        path = Read(tokens)
        for french in path.readings(lambda path, frame=frame: _sentence(path, frame)):
            return Sentence(tuple(tokens), tuple(french), frame.name)
    return None


def next_words(tokens: Sequence[str]) -> list[str]:
    """The words that may follow the beginning of a sentence, those that make most sense first; none if it is not one."""
    fitting: dict[str, None] = {}
    for frame in _frames_for(tokens):
        path = Read(tokens)
        for _ in path.readings(lambda path, frame=frame: _sentence(path, frame)):
            pass
        fitting |= path.next_words
    marks = [index for index, token in enumerate(tokens[:-1]) if token in MARKS]
    if not fitting and len(marks) == 1:
        return next_words(tokens[marks[0] + 1 :])
    return list(fitting)


def without_mark(tokens: Sequence[str]) -> str:
    """The text without the mark that ends it."""
    return " ".join(tokens[:-1] if tokens and tokens[-1] in MARKS else tokens)


def unread(tokens: Sequence[str]) -> int:
    """How many tokens of a text the frame that comes farthest can read."""
    farthest = 0
    for frame in _frames_for(tokens):
        path = Read(tokens)
        for _ in path.readings(lambda path, frame=frame: _sentence(path, frame)):
            pass
        farthest = max(farthest, path.farthest)
    return farthest


def _sentence(path: Path, frame: Frame) -> list[str]:
    opened = opening(path) if frame.opens else []
    return settle([*opened, *frame.sentence(path)])


def _frames_for(tokens: Sequence[str]) -> Sequence[Frame]:
    return _FRAMES if not tokens else [_FRAMES[index] for index in _starting_with(tokens[0])]


@lru_cache(maxsize=4096)
def _starting_with(word: str) -> tuple[int, ...]:
    """Which frames have a sentence that starts with a word."""
    starting = []
    for index, frame in enumerate(_FRAMES):
        path = Read([word])
        for _ in path.readings(lambda path, frame=frame: _sentence(path, frame)):
            break
        if path.farthest or path.next_words:  # a word of the first entry may be all that the text has
            starting.append(index)
    return tuple(starting)
