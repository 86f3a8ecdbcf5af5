"""The state of the lines in the address: the locked tokens, the heads that are on, and the threshold."""

import re

import streamlit as st

from pages.attention.lines import THRESHOLD, LinesState


def locked_in_url() -> list[tuple[str, int]]:
    """The locked tokens: the side and the position of each."""
    sides = {"q": "query", "k": "key"}
    tokens = (part for part in st.query_params.get("locked", "").split(",") if part[:1] in sides and part[1:].isdecimal())
    return [(sides[part[0]], int(part[1:])) for part in tokens if len(part) < 6]


def heads_in_url(count: int) -> tuple[int, ...]:
    """The heads that are on, of `count` heads; counted from 0."""
    parts = st.query_params.get("heads", "").split(",")
    return tuple(int(part) - 1 for part in parts if part.isdecimal() and len(part) < 4 and 1 <= int(part) <= count)


def threshold_in_url() -> float:
    """The weight below which no line is drawn."""
    number = re.fullmatch(r"0\.\d{1,4}|[01]", st.query_params.get("threshold", ""))
    return float(number[0]) if number else THRESHOLD


def write_to_url(state: LinesState, head: int) -> None:
    """Put the state of the lines into the address. Values that are the default for this head are left out."""
    _put("locked", ",".join(f"{side[0]}{position}" for side, position in state.locked))
    _put("heads", ",".join(str(position + 1) for position in state.heads) if tuple(state.heads) != (head,) else "")
    _put("threshold", f"{state.threshold:.2f}" if state.threshold != THRESHOLD else "")


def _put(name: str, value: str) -> None:
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]
