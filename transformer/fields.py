"""Settings that come from files and from people: each is held against the type and the bounds its field declares."""

import math
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin

from transformer.errors import ConfigError


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
