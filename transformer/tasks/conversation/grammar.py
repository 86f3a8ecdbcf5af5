"""A grammar is a set of frames (kinds of sentences). It samples sentences, parses them, and lists words that may follow the
beginning of a sentence."""

import random
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from transformer.tasks.conversation.frames import FRAMES, RIGID_FRAMES, Frame
from transformer.tasks.conversation.frames.courtesy import FIXED
from transformer.tasks.conversation.frames.frame import opening
from transformer.tasks.conversation.path import DeadEndError, ParsingPath, Path, SamplingPath
from transformer.tasks.conversation.sound import settle

LONGEST = 14  # most source tokens of a sampled sentence, except questions about a reference
LONGEST_QUESTION = 20
TWO, TWO_SHARE, MARKS = "two sentences", 0.1, (".", "?")
AND = "and"
_MAY_REFER = ("it", "they", "he", "she", "because", "this", "that", "these", "those")
_QUESTION_WORDS = ("what", "who", "where", "when", "why", "how", "which", "whose")
_AUXILIARIES = ("am", "is", "are", "was", "were", "do", "does", "did", "can", "could", "would", "should", "will", "may")


class Sentence(NamedTuple):
    """A sentence as tokens in both languages, and the name of its frame (kind of sentence)."""

    english: tuple[str, ...]
    french: tuple[str, ...]
    frame: str


class Grammar:
    """A set of frames (kinds of sentences), from which sentences are sampled and with which texts are parsed.

    Attributes:
        frames: name → frame.
        two_share: share of sampled texts that have two sentences; 0 if neither `sample` nor `parse` allows two sentences.
    """

    def __init__(self, frames: Mapping[str, Frame], two_share: float) -> None:
        self.frames, self.two_share = frames, two_share
        self._all = tuple(frames.values())
        self._cumulative = list(accumulate(frame.share for frame in self._all))
        self._starting_with = lru_cache(maxsize=4096)(self._frames_starting_with)

    def sample(self, rng: random.Random, frame: Frame | None = None) -> Sentence:
        """A random sentence, of `frame` if one is given; otherwise sometimes two short sentences."""
        if frame is None and rng.random() < self.two_share:
            return self._two(rng)
        frame = frame or self._any_frame(rng)
        longest = LONGEST_QUESTION if frame.name == "reference question" else LONGEST
        while True:
            path = SamplingPath(rng)
            try:
                french = _sentence(path, frame)
            except DeadEndError:
                continue
            english = tuple(path.english())
            # `i am good` is a fixed phrase with its own meaning, so it must not be sampled as a description.
            as_phrase = frame.name != "courtesy" and without_mark(english) in FIXED
            if len(english) <= longest and not as_phrase:
                return Sentence(english, tuple(french), frame.name)

    def parse(self, tokens: Sequence[str]) -> Sentence | None:
        """The English tokens with their French, from the first frame (kind of sentence) that can parse the whole text. If no
        frame can, the text is parsed as two sentences with a mark or `and` between them. None if the text cannot be parsed."""
        sentence = self._parse_one(tokens)
        ends = [index for index, token in enumerate(tokens[:-1]) if token in MARKS]
        ands = [index for index, token in enumerate(tokens[:-1]) if token == AND]
        if sentence is not None or not self.two_share or (len(ends) or len(ands)) != 1:
            return sentence
        index = (ends or ands)[0]
        first, second = self._parse_one(tokens[: index + len(ends)]), self._parse_one(tokens[index + 1 :])
        if first is None or second is None or not (ends or _may_be_joined(first, second)):
            return None
        return Sentence(tuple(tokens), (*first.french, *([] if ends else ["et"]), *second.french), TWO)

    def next_words(self, tokens: Sequence[str]) -> list[str]:
        """The words that may follow the beginning of a sentence; words that make most sense come first. Empty if no sentence
        begins with these tokens."""
        fitting: dict[str, None] = {}
        for path in self._parse_in_every_way(tokens):
            fitting |= path.next_words
        ends = [index for index, token in enumerate(tokens) if token in (*MARKS, AND)]
        if not fitting and len(ends) == 1 and ends[0] < len(tokens) and self.two_share:
            return self.next_words(tokens[ends[0] + 1 :])
        if self.two_share and not ends and self._may_go_on(tokens):
            fitting.setdefault(AND)
        return list(fitting)

    def parsable(self, tokens: Sequence[str]) -> int:
        """The number of tokens, from the start of a text, that can be parsed. This is also the index of the first token that no
        frame can parse at its place."""
        return max((path.farthest for path in self._parse_in_every_way(tokens)), default=0)

    def _any_frame(self, rng: random.Random) -> Frame:
        return self._all[bisect(self._cumulative, rng.random() * self._cumulative[-1])]

    def _two(self, rng: random.Random) -> Sentence:
        """Two random sentences in one text: `i have a dog . his name is max`, `my name is anna and i am from france`."""
        while True:
            first, second = (self.sample(rng, self._any_frame(rng)) for _ in range(2))
            both = [*first.english, *second.english]
            marks = sum(map(both[:-1].count, MARKS))
            if first.english[-1] in MARKS and len(both) <= LONGEST and marks == 1:
                return Sentence(tuple(both), (*first.french, *second.french), TWO)
            joined = [*first.english, AND, *second.english]
            if marks == 0 and AND not in both and len(joined) <= LONGEST and _may_be_joined(first, second):
                return Sentence(tuple(joined), (*first.french, "et", *second.french), TWO)

    def _may_go_on(self, tokens: Sequence[str]) -> bool:
        """Whether the tokens are a sentence that `and` may join to another sentence."""
        sentence = self._parse_one(tokens)
        return sentence is not None and _may_be_joined(sentence)

    def _parse_one(self, tokens: Sequence[str]) -> Sentence | None:
        for frame in self._frames_for(tokens):
            for french in ParsingPath(tokens).parses(lambda path, frame=frame: _sentence(path, frame)):
                return Sentence(tuple(tokens), tuple(french), frame.name)
        return None

    def _parse_in_every_way(self, tokens: Sequence[str]) -> Iterator[ParsingPath]:
        """Yields, for each frame, a path that has tried to parse the tokens in every way."""
        for frame in self._frames_for(tokens):
            path = ParsingPath(tokens)
            for _ in path.parses(lambda path, frame=frame: _sentence(path, frame)):
                pass
            yield path

    def _frames_for(self, tokens: Sequence[str]) -> Sequence[Frame]:
        return self._all if not tokens else self._starting_with(tokens[0])

    def _frames_starting_with(self, word: str) -> tuple[Frame, ...]:
        """The frames with a sentence that starts with this word."""
        starting = []
        for frame in self._all:
            path = ParsingPath([word])
            for _ in path.parses(lambda path, frame=frame: _sentence(path, frame)):
                break
            if path.farthest or path.next_words:  # the word may be the first of several words of an entry
                starting.append(frame)
        return tuple(starting)


def without_mark(tokens: Sequence[str]) -> str:
    """The tokens joined by spaces, without a period or question mark at the end."""
    return " ".join(tokens[:-1] if tokens and tokens[-1] in MARKS else tokens)


def _may_be_joined(*sentences: Sentence) -> bool:
    """Whether `and` may join sentences: all are statements, and the subject of a later sentence cannot refer to a noun of the
    first sentence."""
    if any(later.english[0] in _MAY_REFER for later in sentences[1:]):
        return False
    if any("?" in s.english or s.english[0] in (*_QUESTION_WORDS, *_AUXILIARIES) for s in sentences):
        return False
    return not {"courtesy", "order"} & {s.frame for s in sentences}


def _sentence(path: Path, frame: Frame) -> list[str]:
    opened = opening(path) if frame.opens else []
    return settle([*opened, *frame.sentence(path)])


CONVERSATION = Grammar(FRAMES, TWO_SHARE)
RIGID = Grammar(RIGID_FRAMES, 0.0)
