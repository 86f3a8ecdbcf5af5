"""What the library says to people in full sentences: the errors that it raises on purpose, and remarks."""

import re
import string
from collections.abc import Mapping
from typing import Any, Self


class Sentence:
    """A sentence with values in it, which can be written in another language.

    Args:
        template: the English sentence with named places, always a literal: translations are found by it. `{name!r}` stands for
            the value's `repr`, shortened.
        values: for the places, by name. One may be another sentence, which is put there.

    Attributes:
        template, values: as given.
    """

    def __init__(self, template: str, **values: Any) -> None:
        self.template, self.values = template, values

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, translations: Mapping[str, str] | None = None, **clauses: str) -> str:
        """The sentence with its values filled in. Each value is shortened, since any of them may hold a piece of a file.

        Args:
            translations: English template → the same sentence in another language. Templates that are missing, or name a
                place that this sentence does not have, stay English.
            clauses: values that are words themselves, in the language of `translations`; each takes the place of the value
                that this sentence has under its name.
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
    """A value from outside that cannot be used, explained in a sentence a person can act on.

    Every error the library raises on purpose is one of these, so a page catches one class and shows it. The sentence says
    what is wrong and what is allowed:

        raise InputError("Your text has {count} words; this model reads up to {most}.", count=213, most=62)
    """

    def __init__(self, template: str, **values: Any) -> None:
        Sentence.__init__(self, template, **values)
        ValueError.__init__(self, self.sentence())

    def anew(self) -> Self:
        """The same error to raise another time. An error that was raised holds the frames it came through, with all their
        values, and each time it is raised adds some."""
        return type(self)(self.template, **self.values)


class Remark(Sentence):
    """What a person should know before they trust the answer to a text that the model can read."""


class _Shortening(string.Formatter):
    """Fills the places of a template. A `repr` is cut to 60 characters, any other value to 1000."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return shortened(value) if conversion == "r" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        try:
            return cut(format(value, format_spec), 1000)
        except (ValueError, OverflowError, RecursionError):  # Python writes out no number of thousands of digits
            return shortened(value)


class ConfigError(HeadlightError):
    """A field of `TransformerConfig` that cannot be built."""


class InputError(HeadlightError):
    """A text or a tensor of ids that this model cannot read."""


class PathError(HeadlightError):
    """A path, head or position that this model does not have, or an edit that does not fit it."""


class CheckpointError(HeadlightError):
    """A file that is not a whole Headlight file, or cannot be written."""


def shortened(value: object, limit: int = 60) -> str:
    """`repr(value)` on one line, cut to `limit` characters, so that a long value does not fill the error message."""
    try:
        text = re.sub(r"\n\s*", " ", repr(value))  # of a tensor or a model, which has a line for each row or module
    except (ValueError, RecursionError):  # a number of thousands of digits, a list thousands deep
        text = f"<{type(value).__name__}>"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of a text; half of a surrogate pair, which no file and no page can hold, is written out."""
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"
