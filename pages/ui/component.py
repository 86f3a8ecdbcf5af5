"""What every component of ours shares: how it is mounted, how numbers are sent, and a few lines of CSS and JavaScript."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.components.v2 import component
from streamlit.components.v2.types import ComponentRenderer

HERE = Path(__file__).parent
# JavaScript that several components share.
PICTURE, PARCEL = HERE / "picture.js", HERE / "parcel.js"
# A whole line, or what follows code on one; never within a text, which would end with a quote.
COMMENT = re.compile(r"^(//.*|/\*.*\*/)$|(?<=[;{}(),\]]) +// [^\"'`]*$")
# Of CSS: what is quoted and stays; comments; and what means nothing: white space around signs, a nought before a point.
CSS = re.compile(r"""("[^"]*"|'[^']*')|/\*.*?\*/|\s*([{};,])\s*|(?<=:)\s+|\b0(?=\.)""", re.DOTALL)


def mounted(place: Path, *shared: Path) -> ComponentRenderer:
    """A component made of two files, `<place>.css` and `<place>.js`, each after the parts that all components share. Its root
    is a `div` whose class is the last part of `place`.

    Args:
        place: the path of the two files without their endings; its last part names the component.
        shared: further JavaScript files, put before that of the component.
    """
    name = place.name
    scripts = [HERE / "component.js", *shared, place.with_suffix(".js")]
    styles = (HERE / "component.css", place.with_suffix(".css"))
    return component(
        f"headlight_{name}",
        html=f'<div class="{name}"></div>',
        css="".join(dense(style.read_text(encoding="utf-8")) for style in styles),
        js="".join(slim(script.read_text(encoding="utf-8")) for script in scripts),
        isolate_styles=True,
    )


def slim(source: str) -> str:
    """JavaScript without indentation and comments: it is sent at every rerun. Text that runs over several lines must not be in
    it."""
    lines = (COMMENT.sub("", line.strip()) for line in source.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def dense(css: str) -> str:
    """CSS without comments and without what means nothing: it, too, is sent at every rerun."""
    return CSS.sub(lambda found: found[1] or found[2] or "", css).strip().replace(";}", "}") + "\n"


def packed(values: np.ndarray) -> str:
    """An array as base64 of its little-endian bytes: exact, and the browser reads them without parsing."""
    return base64.b64encode(_plain(values)).decode("ascii")


def parcel(data: dict[str, Any], values: np.ndarray) -> bytes:
    """Data, and one large array beside it as it is, for `opened` (parcel.js) in the browser: a quarter less than in base64."""
    said = json.dumps(data).encode()
    return len(said).to_bytes(4, "little") + said + _plain(values)


def _plain(values: np.ndarray) -> bytes:
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()


def nothing() -> None:
    """For a component's `on_…_change`: Streamlit keeps what it says only if something is called when that changes."""
