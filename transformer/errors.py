"""The errors that the library raises on purpose, and remarks about answers. Their messages can be translated."""

import re
import string
from collections.abc import Mapping
from typing import Any, Self


class Sentence:
    """A message for people: a template filled with values. It can be written in another language.

    Args:
        template: the English sentence with placeholders such as `{count}`; `{name!r}` stands for the value's `repr`, shortened.
            It must be a string literal, because it is the key of its translations.
        values: the value of each placeholder, by name. A value may be another `Sentence`, which is inserted.

    Attributes:
        template, values: as given.
    """

    def __init__(self, template: str, **values: Any) -> None:
        self.template, self.values = template, values

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, translations: Mapping[str, str] | None = None, **clauses: str) -> str:
        """The sentence with its values filled in. Long values are cut, because a value may contain a part of a file.

        Args:
            translations: English template → the same sentence in another language. The sentence stays English if `translations`
                lacks its template, or if the translation is malformed or has an unknown placeholder.
            clauses: name of a placeholder → the translated words that replace its value.
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
    """The base class of the errors for invalid input. The message says what is wrong and what is allowed, in a sentence for
    people.

    Invalid input raises a class derived from this one, except in environment variables (`ValueError`). An app can therefore
    catch this class alone, and show the message. The template and its values are given separately:

        raise InputError("Your text has {count} words; this model reads up to {most}.", count=213, most=62)
    """

    def __init__(self, template: str, **values: Any) -> None:
        Sentence.__init__(self, template, **values)
        ValueError.__init__(self, self.sentence())

    def anew(self) -> Self:
        """A copy of the error without a traceback, to be raised again. A traceback keeps the local variables of its frames in
        memory, and grows each time the error is raised."""
        return type(self)(self.template, **self.values)


class Remark(Sentence):
    """A warning beside a model's answer to a text, for example that no text of this form was in training. Unlike an error, a
    remark does not replace the answer."""


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
    """The error for an invalid setting or choice, such as the value of a field of `TransformerConfig`."""


class InputError(HeadlightError):
    """The error for an invalid argument, such as a text that the model cannot read."""


class PathError(HeadlightError):
    """The error for a tensor's path, a head or a position that the model does not have, or for an edit that does not fit the
    model."""


class CheckpointError(HeadlightError):
    """The error for a file or folder that cannot be opened, such as an incomplete checkpoint, or that cannot be written."""


def shortened(value: object, limit: int = 60) -> str:
    """`repr(value)` on one line, cut to `limit` characters, so that a long value does not fill the error message."""
    try:
        text = re.sub(r"\n\s*", " ", repr(value))  # a tensor or a model has a line for each row or module
    except (ValueError, RecursionError):  # a number with thousands of digits, or thousands of nested lists
        text = f"<{type(value).__name__}>"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """`text`, cut to `limit` characters; a text that was cut ends with `…`. Half of a surrogate pair is replaced by its escape
    sequence, because it has no UTF-8 encoding."""
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"
