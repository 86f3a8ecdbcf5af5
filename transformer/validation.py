"""Check settings from files and forms against the type and the bounds of their field."""

import functools
import math
from collections.abc import Iterable, Mapping, Set
from dataclasses import MISSING, fields
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, get_args, get_origin

import torch
from torch import Tensor

from transformer.errors import ConfigError, cut

Settings = TypeVar("Settings")


def by_name(settings: type[Settings]) -> type[Settings]:
    """A decorator for dataclasses, whose constructor then accepts keyword arguments only. Unknown fields, missing fields and
    positional values raise `ConfigError`, with the list of fields."""
    declared: Any = settings
    known = [field.name for field in fields(declared)]
    needed = [field.name for field in fields(declared) if field.default is field.default_factory is MISSING]
    listed = ", ".join(known)
    make = declared.__init__

    @functools.wraps(make)
    def init(self: Any, /, *unnamed: Any, **values: Any) -> None:
        if unnamed:
            raise ConfigError(
                "Fields are given by name, not as {values!r}; the fields are {fields}.", values=unnamed, fields=listed
            )
        for name in values:
            if name not in known:
                raise ConfigError("{name} is not a field; the fields are {fields}.", name=cut(name, 60), fields=listed)
        for name in needed:
            if name not in values:
                raise ConfigError("{name} is missing and has no default; the fields are {fields}.", name=name, fields=listed)
        make(self, **values)

    declared.__init__ = init
    return settings


def checked(name: str, value: Any, hint: Any) -> Any:
    """The value of a field, checked against the type hint of the field. NumPy's numbers become Python's.

    Args:
        name: name of the field, for the message of an error.
        value: the value. A whole number stays an `int` if `hint` is `float`.
        hint: `int`, `float`, `bool`, `str` or a `Literal` of texts. Values of any other hint are returned unchecked.

    Raises:
        ConfigError: the value has another type, is NaN, or is not one of the texts of the `Literal`.
    """
    if get_origin(hint) is Literal:
        one_of(name, value, get_args(hint))
    elif hint is bool:
        if not isinstance(value, bool):
            raise ConfigError("{name} is {value!r}; allowed are True and False.", name=name, value=value)
    elif hint is str:
        if not isinstance(value, str):
            raise ConfigError("{name} is {value!r}; it must be a text.", name=name, value=value)
    elif hint in (int, float):
        if hint is int and (isinstance(value, bool) or not isinstance(value, Integral)):
            raise ConfigError("{name} is {value!r}; it must be a whole number.", name=name, value=value)
        if isinstance(value, bool) or not isinstance(value, Real) or value != value:
            raise ConfigError("{name} is {value!r}; it must be a number.", name=name, value=value)
        # An integer stays an integer in a float field. It may be too large for a float; `within` then refuses it.
        return int(value) if isinstance(value, Integral) else float(value)
    return value


def as_list(given: Any) -> list[Any] | None:
    """The items of a list, tuple, array, generator, or any other ordered collection; of a text, its characters. None for
    anything else.

    None also for bytes, mappings and sets, whose items have no order or are not what the caller meant; and for sparse tensors
    and tensors on the device meta, whose numbers are not all in memory.
    """
    if isinstance(given, bytes | bytearray | memoryview | Mapping | Set):
        return None
    if isinstance(given, Tensor) and not has_numbers(given):
        return None
    try:
        return list(given)
    except (TypeError, NotImplementedError):  # a single number as an array or tensor; a tensor that cannot be taken apart
        return None


def has_numbers(tensor: Tensor) -> bool:
    """Whether every number of a tensor is in memory: False on the device meta, and for a sparse tensor, which omits zeros."""
    return not tensor.is_meta and tensor.layout is torch.strided


def one_of(name: str, value: Any, allowed: Iterable[str]) -> str:
    """`value`, after a check that it is one of the allowed texts. `name` is the name of the setting in the message of an error.

    Raises:
        ConfigError: `value` is not one of the allowed texts.
    """
    allowed = tuple(allowed)
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError("{name} is {value!r}; allowed are {allowed}.", name=name, value=value, allowed=", ".join(allowed))
    return value


def within(name: str, value: int | float, least: int | float, most: int | float = math.inf) -> None:
    """Check that a number is finite, at least `least` and at most `most`. `name` is the name of the setting in the message.

    Raises:
        ConfigError: the value is outside these limits.
    """
    if value == math.inf:
        raise ConfigError("{name} is {value!r}; it must be finite.", name=name, value=value)
    if most == math.inf and value < least:
        raise ConfigError("{name} is {value!r}; it must be at least {least}.", name=name, value=value, least=least)
    if not least <= value <= most:
        raise ConfigError("{name} is {value!r}; allowed are {least} to {most}.", name=name, value=value, least=least, most=most)
