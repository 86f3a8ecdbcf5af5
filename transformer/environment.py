"""Settings from the environment variables `HEADLIGHT_…`, for those who host the app or run the library on a small machine."""

import os

PREFIX = "HEADLIGHT_"
# The largest limit: a text box counts its characters with 32 bits, and whole numbers are sent to the browser with 32 bits.
MOST = 2**31 - 1


def switch(name: str) -> bool:
    """Whether the environment variable `HEADLIGHT_` + `name` is 1; False if it is not set.

    Raises:
        ValueError: the variable is set to anything but 0 and 1.
    """
    written = os.environ.get(PREFIX + name, "0")
    if written not in ("0", "1"):
        raise ValueError(f"{PREFIX}{name} is {written!r}; expected 1 for on or 0 for off.")
    return written == "1"


def setting(name: str, value: int, most: int = MOST, least: int = 1) -> int:
    """The number in the environment variable `HEADLIGHT_` + `name`; `value` if the variable is not set.

    Raises:
        ValueError: the variable is set to anything but a whole number from `least` to `most`.
    """
    written = os.environ.get(PREFIX + name)
    if written is None:
        return value
    digits = written.isascii() and written.isdecimal() and len(written) <= len(str(MOST))
    if not digits or not least <= int(written) <= most:
        allowed = f"a whole number from {least} to {most}, such as {value}"
        raise ValueError(f"{PREFIX}{name} is {written[:40]!r}; expected {allowed}.")
    return int(written)
