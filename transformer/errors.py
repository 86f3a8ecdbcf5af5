"""One way to say that something a person gave cannot be used."""


class HeadlightError(ValueError):
    """A value from outside that cannot be used, said in one sentence a person can act on.

    Every error the library raises on purpose is one of these, so a page catches one class and shows `str(error)`.

    Args:
        what: the thing that was given, in the field's own terms ("d_model", "source text", "head").
        value: what it was; shown with `repr`.
        allowed: what would have been accepted, as a clause that can follow a colon.

    The message shows each shortened: any of them may hold a piece of a file.
    """

    def __init__(self, what: str, value: object, allowed: str) -> None:
        self.what, self.value, self.allowed = what, value, allowed
        super().__init__(f"{cut(what, 100)} = {shortened(value)}: {cut(allowed, 1000)}")


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
