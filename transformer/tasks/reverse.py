"""The task of writing letters backwards: the smallest task in which cross-attention must attend to another position."""

from collections.abc import Sequence

from transformer.tasks.letters import LetterTask
from transformer.tasks.task import Example


class Reverse(LetterTask):
    """The task: reverse letters. The k-th letter of the answer is the k-th letter of the source from its end."""

    name = "reverse"
    description = "letters in, the same letters backwards out"
    examples = (
        Example("headlight", "Cross-attention runs along the anti-diagonal: the first letter out is the last one in."),
        Example("abcdefghijkl", "Twelve letters, the longest trained on: compare the anti-diagonal at its two ends."),
        Example("aaaaaaaa", "Eight times the same letter: only position can tell them apart."),
        Example("racecar", "A palindrome: the answer reads like the question, yet attention still has to cross over."),
        Example("abababab", "Two letters in turn: compare the rows of equal letters at different places."),
        Example("z", "One letter: watch where a head rests when there is nothing to reverse."),
        Example("stressed", "The answer is a word again; the model knows no words, so nothing changes."),
    )

    def order(self, letters: Sequence[str]) -> Sequence[int]:
        return range(len(letters) - 1, -1, -1)
