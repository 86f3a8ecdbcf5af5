"""The task of writing letters in alphabetical order. Which letter a row of cross-attention must attend to depends on the
letters, not on their positions."""

import random
from collections.abc import Sequence

from transformer.tasks.letters import LETTERS, LONGEST, LetterTask
from transformer.tasks.task import Example, Pair

# Share of the sampled texts that have a small alphabet: between one letter and as many letters as the text is long.
FEW_LETTERS_SHARE = 0.6


class Sort(LetterTask):
    """The task: sort letters. The k-th letter of the answer is the k-th letter of the source in alphabetical order. Duplicates
    are kept; in the alignment, equal letters stay in the order of the source.

    If all letters were sampled from the whole alphabet, texts with many repeated letters such as `hahahaha` would be very rare.
    So many texts are sampled from only a few different letters.
    """

    name = "sort"
    description = "letters in, the same letters in alphabetical order out"
    examples = (
        Example("headlight", "Cross-attention jumps about: find the head whose rows look for the next letter in order."),
        Example("abcdefghijkl", "Already in order: the map is the diagonal that a copying model shows."),
        Example("zyxwvutsrqpo", "In falling order: the map is the anti-diagonal that a reversing model shows."),
        Example("banana", "Three a's come first: any of them is right to read, so see how their rows spread weight."),
        Example("bookkeeper", "Three e's, two o's and two k's: equal letters are written in a run, wherever they stood."),
        Example("mississippi", "Runs of four i's and four s's: compare a row inside a run with the row after it."),
        Example("bcdefghijkla", "Only the last letter is out of order: one row jumps to it, the others lag by one."),
        Example("z", "One letter: with nothing to put in order, see where the row that predicts it looks."),
    )

    def sample(self, rng: random.Random) -> Pair:
        length = rng.randint(1, LONGEST)
        few = rng.random() < FEW_LETTERS_SHARE
        letters = rng.choices(rng.sample(LETTERS, rng.randint(1, rng.randint(1, length))) if few else LETTERS, k=length)
        most = max(map(letters.count, letters))
        return self.pair(letters, f"a letter {most} times" if most > 1 else "all letters different")

    def order(self, letters: Sequence[str]) -> Sequence[int]:
        return sorted(range(len(letters)), key=lambda index: letters[index])
