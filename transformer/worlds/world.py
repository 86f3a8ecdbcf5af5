"""The protocol of a world: it draws pairs to train on and to test on, solves a source, and lists examples to try.

A world is a small language with a right answer. Its pairs are drawn from a seed, so a run can be repeated, and are split by
a hash of the source text, so no source of the test is ever in the training data, for any seed and any number of pairs.
"""

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple

from transformer.errors import Remark
from transformer.text.vocabulary import Vocabulary

Split = Literal["train", "held-out"]
HELD_OUT_PERCENT = 10
UNTRAINED_FORM = "No text of this form was in training, so do not trust the answer. In training was {accepts}."


class Pair(NamedTuple):
    """A question and its one right answer.

    Attributes:
        source, target: the two texts, as a person would write them.
        form: the group in which accuracy is reported ("length 7", "14/7/98", "reference"). Never empty.
        details: further groups that the pair belongs to ("2 carries").
    """

    source: str
    target: str
    form: str
    details: tuple[str, ...] = ()

    @property
    def strata(self) -> tuple[str, ...]:
        """Every group in which its accuracy is reported."""
        return (self.form, *self.details)


class Example(NamedTuple):
    """A source worth trying, and one sentence on what to look for in its attention."""

    source: str
    look_for: str


class ReferencePair(NamedTuple):
    """Two sentences that differ in one word, which decides what a pronoun refers to.

    Attributes:
        source_a, target_a: the sentence whose pronoun refers to the first noun, and its translation.
        source_b, target_b: the one whose pronoun refers to the second.
        noun_1, noun_2: indices of the two nouns in the source tokens, without `<sos>`; the same in both sentences.
        pronoun_a, pronoun_b: index of the pronoun in the target tokens, without `<sos>`.
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
        """The right answer to a source text, or None if the source is not in the language of this world."""

    def alignment(self, source: Sequence[str], target: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        """(target index, source index) pairs: the source tokens that each target token comes from, in token lists without
        `<sos>` and `<eos>`. A target token may have several sources or none. None: the world has no such rule."""
        return None

    def reference_pairs(self, count: int, seed: int | str, split: Split = "held-out") -> list[ReferencePair]:
        """Pairs to measure how far a head turns when one word changes; empty in a world without pronouns."""
        return []

    def remark(self, source: str) -> Remark | None:
        """What a person should know before they trust the answer to this text; None if the world's rule reads it, or if a word
        of it is not in the vocabulary (`Vocabulary.unknown` names it)."""
        if self.solve(source) is not None or self.source_vocabulary.unknown(self.source_vocabulary.split(source)):
            return None
        return Remark(UNTRAINED_FORM, accepts=self.accepts)

    def next_words(self, source: str) -> list[str]:
        """Words that may follow the beginning of a source, those that make most sense first; none if it has no continuation, or
        if the world has too many."""
        return []

    def closest(self, tokens: Sequence[str], index: int) -> list[str]:
        """Known words that may stand in the place of an unknown token, those with a similar spelling first; none if the world
        has no words to choose from by what stands before."""
        return []

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        """The class of a token ("noun", "verb", …); None for a token without a class."""
        return None

    def split_key(self, source: str) -> str:
        """The text whose hash decides the split: two sources with the same key are always in the same split."""
        return source

    def is_held_out(self, source: str) -> bool:
        """Whether a source is in the tenth that no model is trained on."""
        digest = hashlib.blake2b(f"{self.name}/{self.split_key(source)}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) % 100 < HELD_OUT_PERCENT

    def pairs(self, split: Split, seed: int | str) -> Iterator[Pair]:
        """An endless stream of pairs of one split, with repetition; the same seed gives the same pairs in the same order."""
        rng = random.Random(f"{self.name}/{split}/{seed}")
        held_out = split == "held-out"
        while True:
            pair = self.draw(rng)
            if self.is_held_out(pair.source) == held_out:
                yield pair
