"""Letters in, the same letters in alphabetical order out: where to look depends on what stands there, not where."""

from collections.abc import Sequence

from transformer.worlds.letters import LetterWorld
from transformer.worlds.world import Example


class Sort(LetterWorld):
    """The letter written k-th is the k-th in the alphabet's order. Duplicates are all kept, the earlier one first."""

    name = "sort"
    description = "letters in, the same letters in alphabetical order out"
    examples = (
        Example("headlight", "Cross-attention jumps about: each row looks for the next letter in alphabetical order."),
        Example("abcdefghijkl", "Already in order: the map is the diagonal that a copying model shows."),
        Example("zyxwvutsrqpo", "In falling order: the map is the anti-diagonal that a reversing model shows."),
        Example("banana", "Three a's come first: any of them is right to read, so see how their rows spread weight."),
        Example("bookkeeper", "Three e's, two o's and two k's: equal letters are written in a run, wherever they stood."),
        Example("mississippi", "Runs of four i's and four s's: compare a row inside a run with the row after it."),
        Example("bcdefghijkla", "Only the last letter is out of order: one row jumps to it, the others lag by one."),
        Example("z", "One letter: with nothing to put in order, see where the row that writes it looks."),
    )

    def order(self, letters: Sequence[str]) -> Sequence[int]:
        return sorted(range(len(letters)), key=lambda index: letters[index])
