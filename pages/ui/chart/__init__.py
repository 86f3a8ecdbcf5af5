"""A Plotly chart as a component of Streamlit that stays on the page (README.md). It imports nothing of this app."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.components.v2 import component

HERE = Path(__file__).parent
SCRIPT, MARKS = HERE / "chart.js", HERE / "marks.js"


def chart_component(js: str) -> Any:
    """The component. Mount it with `key`, `data` from `message`, the chart's `height` in px and, if `message` asks
    for clicks, `on_click_change`.

    Args:
        js: JavaScript that exports the default export of `SCRIPT`, for instance by importing it from its address.
    """
    style = (HERE / "chart.css").read_text(encoding="utf-8")
    # In a shadow root, a chart would not have the styles that Plotly puts into the page.
    return component("plotly_chart", html='<div class="chart"></div>', css=style, js=js, isolate_styles=False)


def marks_component(js: str) -> Any:
    """The component that draws shapes above a chart without sending its figure again. Mount it with `key`, and with `data`:
    `chart`, the name of the chart, and `shapes`, as in a layout of Plotly. Without shapes, or when this component is no longer
    mounted, the chart shows only its figure.

    Args:
        js: JavaScript that exports the default export of `MARKS`.
    """
    return component("plotly_chart_marks", js=js)


class Packed(NamedTuple):
    """A figure ready to be sent.

    Attributes:
        text: JSON of the figure, in which each array of numbers is replaced by its place in `numbers`.
        numbers: the arrays one after another, little-endian. They take three quarters of the bytes of their base64.
    """

    text: str
    numbers: bytes


def packed(spec: Mapping[str, Any]) -> Packed:
    """A figure, given as parsed JSON that `plotly.io.to_json` has written."""
    blocks: list[bytes] = []
    text = json.dumps(_without_arrays(spec, blocks), separators=(",", ":"))
    return Packed(text, b"".join(blocks))


def message(figure: Packed, about: Mapping[str, Any]) -> bytes:
    """The `data` of a mount, which `unpack.js` reads: the length of the JSON in 4 bytes, the JSON, and the numbers.

    Args:
        about: what chart.js needs beside the figure: `config` of Plotly; `alt`, a name for screen readers; `width`, px below
            which the chart scrolls, or None; `narrow`, the widths that `narrowness` counts; `asks`, the events to send
            (README.md); `name`, by which `marks_component` finds the chart; `plotly`, the address of Plotly's script; and
            `words` (README.md).
    """
    header = f"{figure.text[:-1]},{json.dumps(about)[1:]}".encode()
    return b"".join([len(header).to_bytes(4, "little"), header, figure.numbers])


def _without_arrays(value: Any, blocks: list[bytes]) -> Any:
    """A part of a figure. The bytes of each array are added to `blocks`, and the array is replaced by the place of its bytes
    there."""
    if isinstance(value, Mapping):
        if "bdata" not in value:
            return {name: _without_arrays(part, blocks) for name, part in value.items()}
        first, block = sum(map(len, blocks)), base64.b64decode(value["bdata"])
        blocks.append(block)
        sizes = str(value["shape"]).split(",") if "shape" in value else [len(block) // int(value["dtype"][1:])]
        return {"packed": [first, first + len(block)], "dtype": value["dtype"], "shape": [int(size) for size in sizes]}
    if isinstance(value, list) and any(isinstance(part, Mapping | list) for part in value):
        return [_without_arrays(part, blocks) for part in value]
    return value


def event(key: str, name: str) -> dict[str, Any]:
    """The data that the browser sent with the last event of this name from a chart (README.md). Empty if there is no such
    event. A browser can send anything: check each value."""
    sent = st.session_state.get(key)
    value = sent.get(name) if isinstance(sent, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else {}


def narrowness(key: str) -> int:
    """How many of the widths in its `narrow` a chart is narrower than, as the browser has reported; 0 until it has."""
    sent = st.session_state.get(key)
    count = sent.get("narrow") if isinstance(sent, Mapping) else None
    return count if type(count) is int and count > 0 else 0
