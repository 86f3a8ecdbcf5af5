"""Sentences for people: the errors that the library raises on purpose, and remarks."""

import re
import string
from collections.abc import Mapping
from typing import Any, Self


class Sentence:
    """A sentence with values in it, which can be written in another language.

    Args:
        template: the English sentence with placeholders such as `{count}`; `{name!r}` stands for the value's `repr`, shortened.
            It must be a string literal, because it is the key of its translations.
        values: the value of each placeholder, by name. A value may be another sentence, which is inserted.

    Attributes:
        template, values: as given.
    """

    def __init__(self, template: str, **values: Any) -> None:
        self.template, self.values = template, values

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, translations: Mapping[str, str] | None = None, **clauses: str) -> str:
        """The sentence with its values filled in. Each value is shortened, because any of them may contain a part of a file.

        Args:
            translations: English template → the same sentence in another language. The sentence stays English if its template
                is missing, or if its translation has another placeholder or is malformed.
            clauses: name of a value → the translated words that replace it.
        """
        translations = translations or {}
        values = {
            name: value.sentence(translations, **clauses) if isinstance(value, Sentence) else clauses.get(name, value)
            for name, value in self.values.items()
        }
        try:
            return _Shortening().vformat(translations.get(self.template, self.template), (), values)
        except (LookupError, ValueError):
            return _Shortening().vformat(self.template, (), values)


class HeadlightError(Sentence, ValueError):
    """The error for an invalid input. Its message says what is wrong and what is allowed, in a sentence for people.

    Apart from invalid environment variables, every invalid input raises this class, so a page catches one class and shows its
    message:

        raise InputError("Your text has {count} words; this model reads up to {most}.", count=213, most=62)
    """

    def __init__(self, template: str, **values: Any) -> None:
        Sentence.__init__(self, template, **values)
        ValueError.__init__(self, self.sentence())

    def anew(self) -> Self:
        """A copy of the error without traceback, to raise it again. A traceback keeps all values of its frames in memory, and
        grows each time the error is raised."""
        return type(self)(self.template, **self.values)


class Remark(Sentence):
    """A warning about the answer to a text. Unlike an error, it comes with an answer, because the model can read the text."""


class _Shortening(string.Formatter):
    """Fills the placeholders of a template. A `repr` is cut to 60 characters, any other value to 1000."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return shortened(value) if conversion == "r" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        try:
            return cut(format(value, format_spec), 1000)
        except (ValueError, OverflowError, RecursionError):  # Python does not convert a number with thousands of digits
            return shortened(value)


class ConfigError(HeadlightError):
    """A setting or a choice that is invalid, such as a field of `TransformerConfig`."""


class InputError(HeadlightError):
    """An argument that is invalid, such as a text that the model cannot read."""


class PathError(HeadlightError):
    """A path, head or position that this model does not have, or an edit that does not fit the model."""


class CheckpointError(HeadlightError):
    """A file or folder that cannot be opened, such as an incomplete Headlight file, or that cannot be written."""


def shortened(value: object, limit: int = 60) -> str:
    """`repr(value)` on one line, cut to `limit` characters, so that a long value does not fill the error message."""
    try:
        text = re.sub(r"\n\s*", " ", repr(value))  # a tensor or a model has a line for each row or module
    except (ValueError, RecursionError):  # a number with thousands of digits, or thousands of nested lists
        text = f"<{type(value).__name__}>"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """A text, cut to `limit` characters. Half of a surrogate pair is replaced by its escape sequence, because it has no
    UTF-8 encoding."""
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"
