"""The worlds the shipped models live in. A new world is one module here and one line below."""

from transformer.errors import InputError
from transformer.tasks.addition import Addition
from transformer.tasks.copy import Copy
from transformer.tasks.dates import Dates
from transformer.tasks.english_french import EnglishFrench, EnglishFrenchStatic
from transformer.tasks.reverse import Reverse
from transformer.tasks.sort import Sort
from transformer.tasks.world import Example, Pair, ReferencePair, Split, World

WORLDS: dict[str, World] = {
    world.name: world for world in (Copy(), Reverse(), Sort(), Addition(), Dates(), EnglishFrench(), EnglishFrenchStatic())
}

__all__ = ["WORLDS", "Example", "Pair", "ReferencePair", "Split", "World", "world"]


def world(name: str) -> World:
    """The world of that name.

    Raises:
        InputError: there is none.
    """
    if name not in WORLDS:
        raise InputError("world", name, f"allowed are {', '.join(WORLDS)}")
    return WORLDS[name]
