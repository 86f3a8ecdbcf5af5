"""The worlds the shipped models live in. A new world is one module here and one line below."""

from transformer.errors import InputError
from transformer.worlds.addition import Addition
from transformer.worlds.copy import Copy
from transformer.worlds.dates import Dates
from transformer.worlds.english_french import EnglishFrench, EnglishFrenchStatic
from transformer.worlds.reverse import Reverse
from transformer.worlds.sort import Sort
from transformer.worlds.world import Example, Pair, ReferencePair, Split, World

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
