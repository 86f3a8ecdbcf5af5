"""Mount a component of this project, and send arrays to it."""

import base64
import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from markupsafe import Markup

from pages.ui.compat import Mount, mount

SHARED_STYLE = Path(__file__).with_name("component.css")
PLAYBACK_STYLE = Path(__file__).with_name("playback.css")  # styles the buttons of playback_row.js
BARS_STYLE = Path(__file__).with_name("bars.css")
# `import { a, b } from "./file.js";`, on one line or several. The components use no other form of import.
IMPORT = re.compile(r'^import \{[^}]*\} from "(\.{1,2}/[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


def mounted(path: Path, *styles_of_parts: Path) -> Mount:
    """A component built from `<path>.js`, its imports, and `<path>.css`. Its root is a `div` whose class is the last part of
    `path`.

    Args:
        path: the path of the two files without their endings; its last part names the component.
        styles_of_parts: CSS files of parts that the component draws. They come before the component's own CSS.
    """
    name = path.name
    return mount(
        f"headlight_{name}",
        html=Markup('<div class="{}"></div>').format(name),
        css=style_of(path, *styles_of_parts),
        js=joined(path.with_suffix(".js")),
        isolate_styles=True,
    )


def style_of(path: Path, *styles_of_parts: Path) -> str:
    """The CSS of a component. Arguments as for `mounted`."""
    styles = (SHARED_STYLE, *styles_of_parts, path.with_suffix(".css"))
    return "\n".join(style.read_text(encoding="utf-8") for style in styles)


def joined(entry: Path) -> str:
    """The JavaScript of a file and of all files it imports as one text, because Streamlit accepts one text per component.

    Each file appears once, after the files it imports. The type checker and the tests read the separate files. `import` and
    `export` are removed here, so all top-level names must differ, and circular imports are not supported.
    """
    sources: dict[Path, str] = {}
    _collect(entry.resolve(), sources)
    return "\n".join(sources.values())


def _collect(file: Path, sources: dict[Path, str]) -> None:
    """Add a file to `sources`, after the files it imports."""
    source = file.read_text(encoding="utf-8")
    for imported in IMPORT.findall(source):
        path = (file.parent / imported).resolve()
        if path not in sources:
            _collect(path, sources)
    sources[file] = EXPORT.sub("", IMPORT.sub("", source))


def picked(key: str, names: Collection[str]) -> str | None:
    """The name that was just picked in the component with this key; None if the name is not one of `names`. The check is
    needed because a browser can send anything."""
    sent = st.session_state.get(key)
    name = sent.get("pick") if isinstance(sent, Mapping) else None
    return name if isinstance(name, str) and name in names else None


def packed(values: np.ndarray) -> str:
    """An array as base64 of its little-endian bytes. The values are exact, and the browser does not have to parse numbers."""
    return base64.b64encode(_little_endian(values)).decode("ascii")


def parcel(data: dict[str, Any], values: np.ndarray | None = None) -> bytes:
    """Data and, optionally, one large array as bytes. In the browser, `unpackParcel` (parcel.js) reads them. They are a quarter
    smaller than base64."""
    header = json.dumps(data).encode()
    return len(header).to_bytes(4, "little") + header + (b"" if values is None else _little_endian(values))


def _little_endian(values: np.ndarray) -> bytes:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()
