"""The base class of a task: it samples pairs for training and for tests, solves a source, and lists examples to try.

A task is a small language in which every source has one right answer. Its pairs are sampled from a seed, so a run can be
repeated. A hash of the source text decides whether a pair is for training or for tests, so for any seed and any number of
pairs, no source of the test is in the training data.
"""

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from transformer.errors import Remark
from transformer.text.vocabulary import Vocabulary

Split = Literal["train", "held-out"]
HELD_OUT_PERCENT = 10
UNTRAINED_FORM = "No text of this form was in training, so do not trust the answer. Its training had only {accepts}."


class Pair(NamedTuple):
    """A question and its one right answer.

    Attributes:
        source, target: the two texts, as a person would write them.
        form: the group in which the accuracy of this pair is reported ("length 7", "14/7/98", "reference"). Never empty.
        details: further groups that the pair belongs to ("2 carries").
    """

    source: str
    target: str
    form: str
    details: tuple[str, ...] = ()

    @property
    def strata(self) -> tuple[str, ...]:
        """Every group in which the accuracy of this pair is reported: `form`, then `details`."""
        return (self.form, *self.details)


class Example(NamedTuple):
    """A source text to try, and one sentence about what to look for in its attention."""

    source: str
    look_for: str


class ReferencePair(NamedTuple):
    """Two sentences that differ in one word. This word decides which noun a pronoun refers to.

    Attributes:
        source_a, target_a: the sentence whose pronoun refers to the first noun, and its translation.
        source_b, target_b: the sentence whose pronoun refers to the second noun, and its translation.
        noun_1, noun_2: indices of the two nouns in the source tokens, from 0, without `<sos>`; the same in both sentences.
        pronoun_a, pronoun_b: indices of the pronoun in the target tokens of each sentence, from 0, without `<sos>`.
    """

    source_a: str
    target_a: str
    source_b: str
    target_b: str
    noun_1: int
    noun_2: int
    pronoun_a: int
    pronoun_b: int


class Task(ABC):
    """A small language with one right answer to each source, to train a model on. `transformer.tasks.TASKS` has one instance of
    every task, by name.

    Attributes:
        name: the name in URLs and file names ("english-french").
        description: one line that names the input and the output, for a list of tasks.
        accepts: what a person may type, as a clause ("1 to 12 letters from a to z").
        source_vocabulary, target_vocabulary: exactly the tokens that `sample` can produce.
        examples: six or more examples.
        longest: number of tokens of the longest source that `sample` produces, without `<sos>` and `<eos>`.
        data: for a task whose pairs are in a file, a hash of these pairs and of their vocabularies; otherwise empty.
    """

    name: str
    description: str
    accepts: str
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    examples: tuple[Example, ...]
    longest: int
    data: str = ""

    @abstractmethod
    def sample(self, rng: random.Random) -> Pair:
        """One random pair. All randomness is from `rng`, so the same state of `rng` gives the same pair."""

    @abstractmethod
    def solve(self, source: str) -> str | None:
        """The right answer to a source text, or None if the source is not in the language of this task."""

    def alignment(self, source: Sequence[str], target: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        """Pairs (target index, source index), counted from 0: for each target token, the source tokens that it comes from. A
        target token may have several source tokens, or none. The lists of tokens are without `<sos>` and `<eos>`. Returns None
        if the task has no rule for an alignment."""
        return None

    def reference_pairs(self, count: int, seed: int | str, split: Split = "held-out") -> list[ReferencePair]:
        """`count` pairs of sentences from one split, to measure how much the attention of a head changes when one word changes.
        The same `seed` gives the same pairs. Empty for a task without pronouns."""
        return []

    def remark(self, source: str) -> Remark | None:
        """A warning about a model's answer to this text, or None. By default, there is a warning if `solve` returns None and
        all words are in the vocabulary; `Vocabulary.unknown` lists words that are not."""
        if self.solve(source) is not None or self.source_vocabulary.unknown(self.source_vocabulary.split(source)):
            return None
        return Remark(UNTRAINED_FORM, accepts=self.accepts)

    def next_words(self, source: str) -> list[str]:
        """Words that may follow `source`, the beginning of a source text; the likeliest words come first. Empty if no word may
        follow, or if the task has too many such words."""
        return []

    def closest(self, tokens: Sequence[str], index: int) -> list[str]:
        """Known words that are spelled like the unknown token `tokens[index]` and may follow the tokens before it. The most
        similar word comes first. Empty for a task without a grammar."""
        return []

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        """The class of a token of the source or target vocabulary ("noun", "verb", …); None for a token without a class."""
        return None

    def split_key(self, source: str) -> str:
        """The text whose hash decides whether a source is for training or held out. Two sources with the same key are always in
        the same split."""
        return source

    def is_held_out(self, source: str) -> bool:
        """Whether a source is in the tenth of all sources that no model is trained on."""
        digest = hashlib.blake2b(f"{self.name}/{self.split_key(source)}".encode(), digest_size=8).digest()
        return int.from_bytes(digest) % 100 < HELD_OUT_PERCENT

    def pairs(self, split: Split, seed: int | str) -> Iterator[Pair]:
        """An endless iterator of pairs for training ("train") or for tests ("held-out"); pairs may repeat. The same seed gives
        the same pairs in the same order."""
        rng = random.Random(f"{self.name}/{split}/{seed}")
        held_out = split == "held-out"
        while True:
            pair = self.sample(rng)
            if self.is_held_out(pair.source) == held_out:
                yield pair
