"""One way to say that something a person gave cannot be used."""


class HeadlightError(ValueError):
    """A value from outside that cannot be used, said in one sentence a person can act on.

    Every error the library raises on purpose is one of these, so a page catches one class and shows `str(error)`.

    Args:
        what: the thing that was given, in the field's own terms ("d_model", "source text", "head").
        value: what it was; shown shortened, with `repr`.
        allowed: what would have been accepted, as a clause that can follow a colon.
    """

    def __init__(self, what: str, value: object, allowed: str) -> None:
        self.what, self.value, self.allowed = what, value, allowed
        super().__init__(f"{what} = {shortened(value)}: {allowed}")


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
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
