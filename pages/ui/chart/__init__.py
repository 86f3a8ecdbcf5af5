"""A Plotly chart as a Streamlit component that updates the chart in place (README.md). It imports nothing of this app."""

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
    """A function that draws a chart. Call it with `key`, `data` from `message`, the chart's `height` in px and, if `message`
    asks for clicks, `on_click_change`.

    Args:
        js: JavaScript text. Its default export must be the default export of chart.js (`SCRIPT`), or call it.
    """
    style = (HERE / "chart.css").read_text(encoding="utf-8")
    # In a shadow root, a chart would not have the styles that Plotly puts into the page.
    return component("plotly_chart", html='<div class="chart"></div>', css=style, js=js, isolate_styles=False)


def marks_component(js: str) -> Any:
    """A function that draws shapes above a chart without sending the chart's figure again. Call it with `key`, and with `data`:
    `chart`, the name of the chart, and `shapes`, as in a layout of Plotly. Without shapes, or in a run that does not call this
    function, the chart shows only its figure.

    Args:
        js: JavaScript text. Its default export must be the default export of marks.js (`MARKS`), or call it.
    """
    return component("plotly_chart_marks", js=js)


class Packed(NamedTuple):
    """A figure ready to be sent to the browser.

    Attributes:
        text: JSON of the figure, in which each array of numbers is replaced by the range of its bytes in `numbers`.
        numbers: the bytes of all arrays, one after another, little-endian. Base64 would take a third more.
    """

    text: str
    numbers: bytes


def packed(spec: Mapping[str, Any]) -> Packed:
    """A figure ready to be sent to the browser. `spec` is the figure as parsed JSON from `plotly.io.to_json`."""
    blocks: list[bytes] = []
    text = json.dumps(_without_arrays(spec, blocks), separators=(",", ":"))
    return Packed(text, b"".join(blocks))


def message(figure: Packed, about: Mapping[str, Any]) -> bytes:
    """The bytes to pass to a chart as `data`: the length of the JSON (4 bytes, little-endian), the JSON, and the numbers.

    Args:
        about: what chart.js needs beside the figure: `config` of Plotly; `alt`, a name for screen readers; `width`, px below
            which the chart scrolls, or None; `narrow`, widths in px for `narrowness`; `asks`, names of the events to send
            (README.md); `name`, by which `marks_component` finds the chart; `plotly`, the address of Plotly's script; and
            `words` (README.md).
    """
    header = f"{figure.text[:-1]},{json.dumps(about)[1:]}".encode()
    return b"".join([len(header).to_bytes(4, "little"), header, figure.numbers])


def _without_arrays(value: Any, blocks: list[bytes]) -> Any:
    """`value`, a part of a figure, with each array replaced by the range of its bytes in the joined `blocks`. The bytes of each
    array are appended to `blocks`."""
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
    """The data of the last event called `name` that the browser sent from the chart with this key (README.md); empty if there
    was none. A browser can send anything: check each value."""
    sent = st.session_state.get(key)
    value = sent.get(name) if isinstance(sent, Mapping) else None
    return dict(value) if isinstance(value, Mapping) else {}


def narrowness(key: str) -> int:
    """How many widths in `narrow` (see `message`) exceed the width of this key's chart. 0 until the browser reports it."""
    sent = st.session_state.get(key)
    count = sent.get("narrow") if isinstance(sent, Mapping) else None
    return count if type(count) is int and count > 0 else 0
