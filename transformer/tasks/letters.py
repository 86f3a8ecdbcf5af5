"""The base class of the tasks of letters: the answer has the letters of the source, in an order that each task defines."""

import random
import string
from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal

from transformer.tasks.task import Pair, Task
from transformer.text.tokenizer import split_characters
from transformer.text.vocabulary import Vocabulary

LETTERS = string.ascii_lowercase
LONGEST = 12


class LetterTask(Task):
    """The base of tasks whose answer is the letters of the source, in the order that `order` returns. A sampled source has 1 to
    12 letters. By default, all lengths and all letters are equally likely."""

    accepts = f"1 to {LONGEST} letters from a to z"
    source_vocabulary = Vocabulary.of(LETTERS, "characters")
    target_vocabulary = source_vocabulary
    longest = LONGEST

    @abstractmethod
    def order(self, letters: Sequence[str]) -> Sequence[int]:
        """For each letter of the answer, its index in `letters`, the letters of the source, counted from 0."""

    def sample(self, rng: random.Random) -> Pair:
        letters = rng.choices(LETTERS, k=rng.randint(1, LONGEST))
        return self.pair(letters)

    def pair(self, letters: Sequence[str], *details: str) -> Pair:
        """The pair whose source is these letters. `details` names further groups in which its accuracy is reported, as in
        `Pair`."""
        return Pair("".join(letters), self._answer(letters), f"length {len(letters)}", details)

    def solve(self, source: str) -> str | None:
        letters = split_characters(source)
        return self._answer(letters) if letters and set(letters) <= set(LETTERS) else None

    def alignment(self, source: Sequence[str], target: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        return tuple(enumerate(self.order(source)))[: len(target)]

    def word_class(self, token: str, side: Literal["source", "target"]) -> str | None:
        return "letter" if token in self.source_vocabulary.words else None

    def split_key(self, source: str) -> str:
        # "Head Light" is the same question as "headlight", so both must be in the same split.
        return "".join(split_characters(source))

    def _answer(self, letters: Sequence[str]) -> str:
        return "".join(letters[index] for index in self.order(letters))
