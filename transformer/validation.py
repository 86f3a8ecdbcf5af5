"""Settings that come from files and from people: each is held against the type and the bounds its field declares."""

import functools
import math
from dataclasses import MISSING, fields
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, get_args, get_origin

from transformer.errors import ConfigError

Settings = TypeVar("Settings")


def by_name(settings: type[Settings]) -> type[Settings]:
    """Let a dataclass whose fields are given by name say itself what is wrong with them: the names are a person's, too.

    Its constructor then raises `ConfigError`, where Python's `TypeError` would not say which fields there are: for a field of
    another name, one that is left out, and values without a name.
    """
    declared: Any = settings
    known = [field.name for field in fields(declared)]
    needed = [field.name for field in fields(declared) if field.default is field.default_factory is MISSING]
    there_are = f"the fields are {', '.join(known)}"
    make = declared.__init__

    @functools.wraps(make)
    def made(self: Any, /, *nameless: Any, **values: Any) -> None:
        if nameless:
            raise ConfigError("fields", nameless, f"must be given by name; {there_are}")
        for name in values:
            if name not in known:
                raise ConfigError(name, values[name], f"is not a field; {there_are}")
        for name in needed:
            if name not in values:
                raise ConfigError(name, None, f"must be given; {there_are}")
        make(self, **values)

    declared.__init__ = made
    return settings


def checked(name: str, value: Any, hint: Any) -> Any:
    """The value of a field as the Python type that its hint names: numbers of NumPy's become Python's.

    Args:
        name: of the field.
        hint: `int`, `float`, `bool`, `str` or a `Literal` of texts; what a field of another kind holds is not looked at.

    Raises:
        ConfigError: a value of another type, or NaN.
    """
    if get_origin(hint) is Literal:
        if not isinstance(value, str) or value not in get_args(hint):
            raise ConfigError(name, value, f"allowed are {', '.join(get_args(hint))}")
    elif hint is bool:
        if not isinstance(value, bool):
            raise ConfigError(name, value, "allowed are True and False")
    elif hint is str:
        if not isinstance(value, str):
            raise ConfigError(name, value, "must be a text")
    elif hint in (int, float):
        if isinstance(value, bool) or not isinstance(value, Integral if hint is int else Real):
            raise ConfigError(name, value, f"must be {'a whole number' if hint is int else 'a number'}")
        if value != value:
            raise ConfigError(name, value, "must be a number")
        # A whole number stays one where a fraction may stand: too large for a float, it is for the bounds to refuse.
        return int(value) if isinstance(value, Integral) else float(value)
    return value


def within(name: str, value: int | float, least: int | float, most: int | float = math.inf, meaning: str = "") -> None:
    """Refuse a number outside its bounds, both of which are allowed; infinity never is.

    Raises:
        ConfigError: it is outside.
    """
    if value == math.inf:
        raise ConfigError(name, value, "must be finite")
    if not least <= value <= most:
        allowed = f"must be at least {least}" if most == math.inf else f"allowed are {least} to {most}"
        raise ConfigError(name, value, allowed + (f", {meaning}" if meaning else ""))
