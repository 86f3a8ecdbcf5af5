"""Mount the Streamlit components of this project, read the values that they sent, and encode arrays for them."""

import base64
import json
import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import streamlit as st
from markupsafe import Markup
from streamlit.components.v2 import component

from pages.ui.compat import Mount
from pages.ui.scripts import importing

# A tag, its attributes and its children: elements, and texts, which are never markup (`grown` in component.js).
Element = list[Any]

SHARED_STYLE = Path(__file__).with_name("component.css")
PLAYBACK_STYLE = Path(__file__).with_name("playback.css")  # styles the buttons of playback_row.js
BARS_STYLE = Path(__file__).with_name("bars.css")


def mounted(path: Path, *styles_of_parts: Path) -> Mount:
    """The function that mounts the component of `<path>.js` and `<path>.css`. Its root is a `div` with the class `path.name`.

    Args:
        path: the path of the two files without their endings; its last part names the component.
        styles_of_parts: CSS files of parts that the component draws. They come before the component's own CSS.
    """
    name = path.name
    return component(
        f"headlight_{name}",
        html=Markup('<div class="{}"></div>').format(name),
        css=style_of(path, *styles_of_parts),
        js=importing(path.with_suffix(".js")),
        isolate_styles=True,
    )


def style_of(path: Path, *styles_of_parts: Path) -> str:
    """The CSS of a component: the CSS that all components share, that of the parts it draws, and its own, `<path>.css`."""
    styles = (SHARED_STYLE, *styles_of_parts, path.with_suffix(".css"))
    return "\n".join(style.read_text(encoding="utf-8") for style in styles)


def sent(key: str, name: str) -> Any:
    """The last value called `name` that the browser sent from the component with this key; None if there was none. A browser
    can send anything: check the value."""
    values = st.session_state.get(key)
    return values.get(name) if isinstance(values, Mapping) else None


def is_index(value: object, count: float = math.inf) -> TypeGuard[int]:
    """Whether a value that a browser sent is a whole number from 0 to below `count`; True and False are not."""
    return type(value) is int and 0 <= value < count


def picked(key: str, names: Collection[str]) -> str | None:
    """The name that was just picked in the component with this key; None if the browser sent none of `names`."""
    name = sent(key, "pick")
    return name if isinstance(name, str) and name in names else None


def packed(values: np.ndarray) -> str:
    """An array as base64 of its little-endian bytes. The values are exact, and the browser does not have to parse numbers."""
    return base64.b64encode(_little_endian(values)).decode("ascii")


def parcel(data: dict[str, Any], values: np.ndarray | None = None) -> bytes:
    """Bytes to send to a component: the length of `data` as JSON (4 bytes, little-endian), this JSON, and the bytes of
    `values`. In the browser, `unpack` (chart/unpack.js) reads them. Base64 would take a third more bytes."""
    header = json.dumps(data).encode()
    return len(header).to_bytes(4, "little") + header + (b"" if values is None else _little_endian(values))


def _little_endian(values: np.ndarray) -> bytes:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
