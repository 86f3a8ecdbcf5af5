"""The worlds of the shipped models. To add a world, add a module to this folder; the code below finds it.

Every class in a module of this folder that derives from `World` and has no abstract methods is a world.
"""

import importlib
import inspect
import pkgutil

from transformer.errors import InputError
from transformer.worlds.world import Example, Pair, ReferencePair, Split, World

__all__ = ["WORLDS", "Example", "Pair", "ReferencePair", "Split", "World", "world"]


def _worlds() -> dict[str, World]:
    """One instance of every world of this package, by name, in alphabetical order."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    worlds: dict[str, World] = {}
    for module in modules:
        for _, world_class in inspect.getmembers(module, inspect.isclass):
            defined_here = world_class.__module__ == module.__name__
            if not defined_here or not issubclass(world_class, World) or inspect.isabstract(world_class):
                continue
            if world_class.name in worlds:
                raise TypeError(f"{world_class.__name__} and {type(worlds[world_class.name]).__name__} have the same name.")
            worlds[world_class.name] = world_class()
    return dict(sorted(worlds.items()))


WORLDS: dict[str, World] = _worlds()


def world(name: str) -> World:
    """The world with this name.

    Raises:
        InputError: no world has this name.
    """
    if name not in WORLDS:
        raise InputError("There is no world called {name!r}; the worlds are {names}.", name=name, names=", ".join(WORLDS))
    return WORLDS[name]
