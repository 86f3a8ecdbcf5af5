"""The task of copying letters, the smallest task. Its attention map is a diagonal, with which other maps can be compared."""

from collections.abc import Sequence

from transformer.tasks.letters import LetterTask
from transformer.tasks.task import Example


class Copy(LetterTask):
    """The task: copy letters. The k-th letter of the answer is the k-th letter of the source."""

    name = "copy"
    description = "letters in, the same letters out"
    examples = (
        Example("headlight", "Cross-attention runs along the diagonal: the first letter written is the first read."),
        Example("abcdefghijkl", "Twelve letters, the longest trained on: compare the diagonal at its two ends."),
        Example("aaaaaaaa", "Eight times the same letter: if there is a diagonal, it can come from position only."),
        Example("abababab", "Two letters in turn: going by letter gives a chequerboard, going by place a diagonal."),
        Example("banana", "Three a's: see whether the row that predicts one of them also lights up the other two."),
        Example("q", "One letter: there is one place to read, and what is left falls on the start and end marks."),
        Example("noon", "A palindrome: right from either end, so only the map tells from which one it is read."),
    )

    def order(self, letters: Sequence[str]) -> Sequence[int]:
        return range(len(letters))
