"""How a page writes numbers, shapes and tokens. Every minus is the sign U+2212, and what rounds to zero has no sign."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

# Of the sizes of tensors and of work: power of ten → its prefix.
PREFIXES = {12: "T", 9: "G", 6: "M", 3: "k"}


def number(value: float, digits: int = 5, thousands: Literal["", ","] = "") -> str:
    """A number to so many significant digits: `−0.25`, `1.2e−07`, `∞`; its thousands set apart by a comma if asked for."""
    return _signs(f"{value + 0.0:{thousands}.{digits}g}")


def fixed(value: float, places: int) -> str:
    """A number with so many digits after the point: `−0.25`; −0.001 to two places is `0.00`."""
    return _signs(f"{round(value, places) + 0.0:.{places}f}")


def share(value: float, places: int = 0) -> str:
    """A part of a whole in per cent: 0.5 is `50%`."""
    return _signs(f"{round(value, places + 2) + 0.0:.{places}%}")


def whole(count: int) -> str:
    """A whole number with its thousands set apart: `12,345`."""
    return _signs(f"{count:,}")


def difference(count: int) -> str:
    """A whole number with its sign: `+3`, `−3`."""
    return _signs(f"{count:+}")


def amount(count: int) -> str:
    """A large count to three digits: `5.79 G`."""
    power = next((power for power in PREFIXES if count >= 10**power), None)
    return str(count) if power is None else f"{count / 10**power:.3g} {PREFIXES[power]}"


def byte_size(count: int) -> str:
    """A number of bytes to three digits: `31.2 MB`."""
    return f"{amount(count)}B" if count >= 1000 else f"{count} B"


def setting(value: object) -> str:
    """The value of a field of a configuration: `0.1`, `−∞`, `2,048`, `pre`."""
    if isinstance(value, float):
        return _signs(f"{value:,g}")
    return whole(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def latex(value: float, digits: int = 5) -> str:
    r"""A number to so many significant digits as a formula has it: `-0.25`, `1.2 \cdot 10^{-7}`, `10^{-5}`, `\infty`."""
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
    """The sizes of a tensor with the names of its axes: `[batch 2, head 8, query 9, d_head 32]`. An axis named by a number,
    as `1`, has no name."""
    named = (str(size) if axis.isdecimal() else f"{axis} {size}" for axis, size in zip(axes, sizes, strict=True))
    return f"[{', '.join(named)}]"


def token_at(position: int, token: str) -> str:
    """A token after its position: `2 · cat`. Of the tokens of one text no two are the same."""
    return f"{position} · {token}"


def numbered_tokens(tokens: Sequence[str]) -> list[str]:
    """Each token of a text after its position."""
    return [token_at(position, token) for position, token in enumerate(tokens)]


def linked_token(position: int, token: str) -> str:
    """A token after its position in the former way, `2: cat`: so it stands in links and in files that were saved."""
    return f"{position}: {token}"


def for_count(words: Mapping[str, Any], name: str, count: int) -> str:
    """The text for a number of things: that of `name`, or for one thing that of `<name>_one`."""
    return words[f"{name}_one" if abs(count) == 1 else name]


def _signs(written: str) -> str:
    return written.replace("inf", "∞").replace("-", "−")
