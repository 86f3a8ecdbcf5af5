"""Numbers, shapes and tokens as text. Every minus sign is U+2212. A number that rounds to zero has no sign."""

import math
from collections.abc import Sequence
from typing import Literal

# Power of ten → SI prefix.
PREFIXES = {12: "T", 9: "G", 6: "M", 3: "k"}


def number(value: float, digits: int = 5, thousands: Literal["", ","] = "") -> str:
    """A number with `digits` significant digits, and `thousands` as the thousands separator: `−0.25`, `1.2e−07`, `∞`."""
    return _signs(f"{value + 0.0:{thousands}.{digits}g}")


def fixed(value: float, places: int) -> str:
    """A number with `places` digits after the point: `−0.25`. With two places, −0.001 becomes `0.00`."""
    return _signs(f"{round(value, places) + 0.0:.{places}f}")


def share(value: float, places: int = 0) -> str:
    """A fraction in per cent: 0.5 is `50%`."""
    return _signs(f"{round(value, places + 2) + 0.0:.{places}%}")


def whole(count: int) -> str:
    """A whole number with thousands separators: `12,345`."""
    return _signs(f"{count:,}")


def difference(count: int) -> str:
    """A whole number with its sign: `+3`, `−3`."""
    return _signs(f"{count:+}")


def amount(count: int) -> str:
    """A count with three significant digits and an SI prefix: `5.79 G`. A count below 1000 is written out."""
    power = next((power for power in PREFIXES if count >= 10**power), None)
    return str(count) if power is None else f"{count / 10**power:.3g} {PREFIXES[power]}"


def byte_size(count: int) -> str:
    """A number of bytes with three significant digits: `31.2 MB`."""
    return f"{amount(count)}B" if count >= 1000 else f"{count} B"


def setting(value: object) -> str:
    """The value of a field of a configuration as text: `0.1`, `−∞`, `2,048`, `pre`."""
    if isinstance(value, float):
        return _signs(f"{value:,g}")
    return whole(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def latex(value: float, digits: int = 5) -> str:
    r"""A number in LaTeX with `digits` significant digits: `-0.25`, `1.2 \cdot 10^{-7}`, `10^{-5}`, `\infty`."""
    if math.isinf(value):
        return r"-\infty" if value < 0 else r"\infty"
    mantissa, _, exponent = f"{value + 0.0:.{digits}g}".partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return {"1": power, "-1": f"-{power}"}.get(mantissa, rf"{mantissa} \cdot {power}")


def shape(sizes: Sequence[int]) -> str:
    """The sizes of a tensor: `[2, 8, 9, 32]`."""
    return f"[{', '.join(map(str, sizes))}]"


def named_shape(axes: Sequence[str], sizes: Sequence[int]) -> str:
    """The sizes of a tensor with the names of its axes: `[batch 2, head 8, query 9, d_head 32]`. An axis whose name is a
    number, such as `1`, is written without a name."""
    named = (str(size) if axis.isdecimal() else f"{axis} {size}" for axis, size in zip(axes, sizes, strict=True))
    return f"[{', '.join(named)}]"


def token_at(position: int, token: str) -> str:
    """A token with its position in front, such as `2 · cat`. The result is unique within a text."""
    return f"{position} · {token}"


def numbered_tokens(tokens: Sequence[str]) -> list[str]:
    """Each token of a text with its position in front, counted from 0 (`token_at`)."""
    return [token_at(position, token) for position, token in enumerate(tokens)]


def linked_token(position: int, token: str) -> str:
    """A token with its position in front in the older format, `2: cat`, which links and saved files use."""
    return f"{position}: {token}"


def linked_tokens(tokens: Sequence[str], positions: Sequence[int] | None = None) -> list[str]:
    """Each token as `linked_token`. `positions` has the position of each token in the text; None means 0, 1, 2, …."""
    places = range(len(tokens)) if positions is None else positions
    return [linked_token(position, token) for position, token in zip(places, tokens, strict=True)]


def _signs(written: str) -> str:
    return written.replace("inf", "∞").replace("-", "−")
