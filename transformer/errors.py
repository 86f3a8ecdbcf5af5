"""One way to say that something a person gave cannot be used."""

import string
from typing import Any


class HeadlightError(ValueError):
    """A value from outside that cannot be used, explained in a sentence a person can act on.

    Every error the library raises on purpose is one of these, so a page catches one class and shows it. The sentence says
    what is wrong and what is allowed:

        raise InputError("Your text has {count} words; this model reads up to {most}.", count=213, most=62)

    Args:
        template: the English sentence, with a place for each value; `{name!r}` is the value's `repr`, shortened. The template
            is also the key under which a translation of the sentence is found.
        values: what stands in the places.

    Attributes:
        template, values: as given.
    """

    def __init__(self, template: str, *former: Any, **values: Any) -> None:
        if former:  # TODO(issue 14): the former three arguments: what, value, allowed. Goes when no caller is left.
            values = {"what": template, "value": former[0], "allowed": former[1]}
            template = "{what} = {value!r}: {allowed}"
        self.template, self.values = template, values
        self.what, self.value, self.allowed = (values.get(name) for name in ("what", "value", "allowed"))
        super().__init__(self.sentence())

    def sentence(self, template: str | None = None) -> str:
        """The sentence with its values filled in, each shortened: any of them may hold a piece of a file.

        Args:
            template: a translation of the English one, which is the default.
        """
        return _Shortening().vformat(template or self.template, (), self.values)


class _Shortening(string.Formatter):
    """Fills the places of a template; `repr` and text are cut to a length that a message can bear."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return shortened(value) if conversion == "r" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        return cut(format(value, format_spec), 1000)


class ConfigError(HeadlightError):
    """A field of `TransformerConfig` that cannot be built."""


class InputError(HeadlightError):
    """A text or a tensor of ids that this model cannot read."""


class PathError(HeadlightError):
    """A path, head or position that this model does not have."""


class CheckpointError(HeadlightError):
    """A file that is not a whole, sound Headlight checkpoint."""


def shortened(value: object, limit: int = 60) -> str:
    """`repr(value)` cut to `limit` characters, so that a pasted novel does not become the error message."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list thousands deep
        text = f"<{type(value).__name__}>"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters of a text; half of a surrogate pair, which no file and no page can hold, is written out."""
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= limit else text[: limit - 1] + "…"
