"""What every world gives: pairs to learn from, pairs to be tested on, and what to look for in a model that learned them.

A world is a small language with a right answer. Its pairs are drawn from a seed, so a run can be repeated, and are split by
a hash of the source text, so no source that is tested on was ever trained on, whatever the seed and however many are drawn.
"""

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple

from transformer.text.vocabulary import Vocabulary

Split = Literal["train", "held-out"]
HELD_OUT_PERCENT = 10


class Pair(NamedTuple):
    """A question and its one right answer.

    Attributes:
        source, target: the two texts, as a person would write them.
        form: the group it is counted with when accuracy is reported ("length 7", "14/7/98", "reference"). Never empty.
    """

    source: str
    target: str
    form: str


class Example(NamedTuple):
    """A source worth trying, and one sentence on what to look for in its attention."""

    source: str
    look_for: str


class ReferencePair(NamedTuple):
    """Two sentences that differ in one word, which decides what a pronoun refers to.

    Attributes:
        source_a, target_a: the sentence whose pronoun refers to the first noun, and its translation.
        source_b, target_b: the one whose pronoun refers to the second.
        noun_1, noun_2: where the nouns stand among the source tokens, without `<sos>`; the same in both.
        pronoun_a, pronoun_b: where the pronoun stands among the target tokens, without `<sos>`.
    """

    source_a: str
    target_a: str
    source_b: str
    target_b: str
    noun_1: int
    noun_2: int
    pronoun_a: int
    pronoun_b: int


class World(ABC):
    """The protocol of a world. `transformer.worlds.WORLDS` holds one instance of every world, by name.

    Attributes:
        name: as in a link and a file name ("english-french").
        description: one line for a picker: what goes in and what comes out.
        accepts: what a person may type, as a clause ("1 to 12 letters from a to z").
        source_vocabulary, target_vocabulary: every token that `draw` can produce, no others.
        examples: six or more.
        longest: tokens of the longest source that `draw` produces, without `<sos>` and `<eos>`.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    accepts: ClassVar[str]
    source_vocabulary: ClassVar[Vocabulary]
    target_vocabulary: ClassVar[Vocabulary]
    examples: ClassVar[tuple[Example, ...]]
    longest: ClassVar[int]

    @abstractmethod
    def draw(self, rng: random.Random) -> Pair:
        """One pair, drawn with `rng` alone: the same state gives the same pair."""

    @abstractmethod
    def solve(self, source: str) -> str | None:
        """The right answer to a source text, or None where the world has no rule for it."""

    def alignment(self, source: Sequence[str], target: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        """Which source token each target token comes from, as (target index, source index) pairs into the token lists
        without `<sos>` and `<eos>`; a target token may have several sources or none. None: the world has no such rule."""
        return None

    def reference_pairs(self, count: int, seed: int | str, split: Split = "held-out") -> list[ReferencePair]:
        """Pairs to see how far a head turns when one word changes; none in a world without pronouns."""
        return []

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        """What a token is ("noun", "verb", …), where the world knows such classes."""
        return None

    def split_key(self, source: str) -> str:
        """What decides the split: two sources with the same key always fall on the same side."""
        return source

    def is_held_out(self, source: str) -> bool:
        """Whether a source belongs to the tenth that is never trained on."""
        digest = hashlib.blake2b(f"{self.name}/{self.split_key(source)}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) % 100 < HELD_OUT_PERCENT

    def pairs(self, split: Split, seed: int | str) -> Iterator[Pair]:
        """Pairs of one split, without end, with repetition; the same seed gives the same pairs in the same order."""
        rng = random.Random(f"{self.name}/{split}/{seed}")
        wanted = split == "held-out"
        while True:
            pair = self.draw(rng)
            if self.is_held_out(pair.source) == wanted:
                yield pair
