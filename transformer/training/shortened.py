"""A world of letters with a limit on the length of its sources, so that a training takes less time."""

import random
from typing import Any

from transformer.worlds import Pair, World
from transformer.worlds.letters import LetterWorld


def can_be_shortened(world: World) -> bool:
    """Whether all lengths of sources are drawn equally often. A limit on the length then does not change the task."""
    return isinstance(world, LetterWorld)


def shortened(world: World, longest: int) -> World:
    """A world that draws sources of at most `longest` tokens, and is otherwise like the given world, with the same split.

    Args:
        world: one that `can_be_shortened`.
        longest: from 1 to `world.longest`.
    """
    world_class: Any = type(world)

    class Shortened(world_class):
        accepts = f"1 to {longest} letters from a to z"

        def draw(self, rng: random.Random) -> Pair:
            while True:
                pair = super().draw(rng)
                if len(self.source_vocabulary.split(pair.source)) <= longest:
                    return pair

    Shortened.longest = longest
    return Shortened()
