"""The whole grammar: draw a sentence, read one, and list the words that fit next."""

import random
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from bisect import bisect
from typing import NamedTuple

from transformer.worlds.conversation.frames import FRAMES, Frame
from transformer.worlds.conversation.frames.frame import opening
from transformer.worlds.conversation.path import DeadEndError, Draw, Path, Read
from transformer.worlds.conversation.sound import settle

LONGEST = 14  # source tokens drawn, but for the questions about a reference
LONGEST_QUESTION = 20
_CUMULATIVE = list(accumulate(frame.share for frame in FRAMES.values()))
_FRAMES = tuple(FRAMES.values())


class Sentence(NamedTuple):
    """A sentence in both languages, and the name of its frame."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    frame: str


def drawn(rng: random.Random, frame: Frame | None = None) -> Sentence:
    """A random sentence, of `frame` if given."""
    frame = frame or _FRAMES[bisect(_CUMULATIVE, rng.random() * _CUMULATIVE[-1])]
    longest = LONGEST_QUESTION if frame.name == "reference question" else LONGEST
    while True:
        path = Draw(rng)
        try:
            french = _sentence(path, frame)
        except DeadEndError:
            continue
        if len(path.tokens) <= longest:
            return Sentence(tuple(path.english()), tuple(french), frame.name)


def read(tokens: Sequence[str]) -> Sentence | None:
    """The first reading of a text that the grammar has, in the order of the frames; None if it has none."""
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
    return list(fitting)


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
