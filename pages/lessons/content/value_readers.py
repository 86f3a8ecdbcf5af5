"""Functions that check the values of a lesson's file, one by one."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pages.lessons.content.lesson import LessonError
from pages.ui.limits import LESSON_OPTIONS

SHORT = 400  # characters of an option or a reason
# Checks a value. Called with the place of its table, its name and the value; returns the value as the dataclass has it.
Reader = Callable[[str, str, Any], Any]


def read_table(where: str, values: Any, readers: Mapping[str, Reader], *needed: str) -> dict[str, Any]:
    """The values of a parsed table of TOML or JSON, each checked by the function that `readers` has for its name. The names in
    `needed` must have a value. `where` is the place of the table, for errors, such as "Stop 3: question".

    Raises:
        LessonError: `values` is not a table, a name is unknown or missing, or its value is not allowed.
    """
    if not isinstance(values, Mapping):
        raise LessonError("{where} is {value!r}; it must be a table.", where=where, value=values)
    for name in values:
        if name not in readers:
            template = "{where} has {name!r}, which is not a name that a lesson can have there."
            raise LessonError(template, where=where, name=name)
    table = {name: read(where, name, values[name]) for name, read in readers.items() if values.get(name) is not None}
    for name in needed:
        if table.get(name) is None:
            raise LessonError("{where}: {name} is missing; it must be a text.", where=where, name=name)
        if not table[name]:
            raise LessonError("{where}: {name} is empty.", where=where, name=name)
    return table


def text_up_to(most: int, pattern: str = "", allowed: str = "") -> Reader:
    """A function that returns a text of a lesson's file, stripped. It raises a `LessonError` if the text has over `most`
    characters, or does not match the regular expression `pattern` and is not empty. `allowed` describes the matching texts in
    the error."""

    def read(where: str, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise LessonError("{where}: {name} is {value!r}; it must be a text.", where=where, name=name, value=value)
        value = value.strip()
        if len(value) > most:
            template = "{where}: {name} has {count:,} characters; up to {most:,} are allowed."
            raise LessonError(template, where=where, name=name, count=len(value), most=most)
        try:
            value.encode()
        except UnicodeEncodeError:
            template = "{where}: {name} has half of a surrogate pair, which is not a character."
            raise LessonError(template, where=where, name=name) from None
        if pattern and value and not re.fullmatch(pattern, value):
            template = "{where}: {name} is {value!r}; {allowed}."
            raise LessonError(template, where=where, name=name, value=value, allowed=allowed)
        return value

    return read


def one_of(names: Iterable[str]) -> Reader:
    """A function that checks a text in a lesson's file, which must be empty or one of these names."""
    return text_up_to(60, "|".join(names), f"allowed are {', '.join(names)}")


def text_or_number(most: int) -> Reader:
    """A function that checks a text of up to `most` characters, or a whole number, in a lesson's file. It returns text."""

    def read(where: str, name: str, value: Any) -> str:
        return text_up_to(most)(where, name, str(value) if type(value) is int and abs(value) < 10**9 else value)

    return read


def number_between(least: float, most: float, whole: bool = False) -> Reader:
    """A function that checks a number from `least` to `most` in a lesson's file. With `whole`, it must be a whole number."""

    def read(where: str, name: str, value: Any) -> float:
        if type(value) not in ((int,) if whole else (int, float)) or not least <= value <= most:
            template = "{where}: {name} is {value!r}; it must be a {sort} from {least} to {most}."
            sort = "whole number" if whole else "number"
            raise LessonError(template, where=where, name=name, value=value, sort=sort, least=least, most=most)
        return value

    return read


def read_texts(where: str, name: str, value: Any) -> tuple[str, ...]:
    """The list `value` as a tuple, if it has up to `LESSON_OPTIONS` texts of up to `SHORT` characters each; otherwise raises a
    `LessonError`. `where` and `name` are its place in a lesson's file, for errors."""
    if not isinstance(value, list) or len(value) > LESSON_OPTIONS:
        raise LessonError("{where}: {name} must be a list of up to {most} texts.", where=where, name=name, most=LESSON_OPTIONS)
    return tuple(text_up_to(SHORT)(f"{where}: {name}", str(place), item) for place, item in enumerate(value, 1))


def read_flag(where: str, name: str, value: Any) -> bool:
    """`value`, if True or False; otherwise raises a `LessonError` with its place in the file, `where` and `name`."""
    if not isinstance(value, bool):
        raise LessonError("{where}: {name} is {value!r}; it must be true or false.", where=where, name=name, value=value)
    return value
