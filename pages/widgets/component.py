"""What every component of ours shares: how it is mounted, how bytes are sent, and a few lines of JavaScript."""

import base64
from pathlib import Path

import numpy as np
from streamlit.components.v2 import component
from streamlit.components.v2.types import ComponentRenderer

SHARED = Path(__file__).with_suffix(".js")


def mounted(folder: Path) -> ComponentRenderer:
    """The component of a folder: `<name>.css`, and `<name>.js` after the JavaScript that all share. Its root is a `div` whose
    class is the name."""
    name = folder.name
    return component(
        f"headlight_{name}",
        html=f'<div class="{name}"></div>',
        css=(folder / f"{name}.css").read_text(encoding="utf-8"),
        js=SHARED.read_text(encoding="utf-8") + (folder / f"{name}.js").read_text(encoding="utf-8"),
        isolate_styles=True,
    )


def packed(values: np.ndarray) -> str:
    """An array as base64 of its little-endian bytes: exact, and the browser reads them without parsing."""
    return base64.b64encode(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes()).decode("ascii")


def nothing() -> None:
    """For a component's `on_…_change`: Streamlit keeps what it says only if something is called when that changes."""
