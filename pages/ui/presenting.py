"""Presenting: the page is shown on a projector, with everything larger and no sidebar. Its URL has `present=1`."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

# Name in the URL and in the session.
PRESENT = "present"
# Factor for sizes in a figure. The text of an enlarged figure is at least `LEAST` px high.
SCALE, LEAST = 1.6, 20.0
# Plotly writes the ticks of a logarithmic axis as powers, such as 10⁵. These factors are the size of a power's letters compared
# with other ticks, and the size of its exponent compared with these letters.
POWER, EXPONENT = 1.25, 0.7
# Names of the numbers in a layout that are measured in px.
PIXELS = frozenset(
    {"height", "l", "r", "t", "b", "pad", "size", "standoff", "xshift", "yshift", "thickness", "ticklen", "least_width"}
)
# The only parts of a trace that are enlarged.
OF_TRACES = ("colorbar", "textfont")
TITLE, TICKS = "title", "tickfont"


def presenting() -> bool:
    """Whether this session shows its pages for a projector."""
    return bool(st.session_state.get(PRESENT))


def enlarged(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A figure's parsed JSON in which everything measured in px is enlarged, so that it is readable from afar. The data are
    shared with `spec`, which is not changed."""
    layout = _scaled(spec.get("layout", {}))
    layout["font"] = {**layout.get("font", {}), "size": LEAST}
    for name, part in layout.items():
        if name.startswith(("xaxis", "yaxis")):
            layout[name] = _with_fonts(part, LEAST / (POWER * EXPONENT) if part.get("type") == "log" else LEAST)
        elif name.startswith("coloraxis") and "colorbar" in part:
            layout[name] = {**part, "colorbar": _with_fonts(part["colorbar"])}
        elif name in ("legend", "hoverlabel"):
            layout[name] = {**part, "font": _readable(part.get("font", {}))}
        elif name == "annotations":
            layout[name] = [{**note, "font": _readable(note.get("font", {}))} for note in part]
    return {**spec, "data": [_of_trace(trace) for trace in spec.get("data", ())], "layout": layout}


def _of_trace(trace: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {name: _scaled(trace[name]) for name in OF_TRACES if isinstance(trace.get(name), Mapping)}
    if "colorbar" in parts:
        parts["colorbar"] = _with_fonts(parts["colorbar"])
    if "textfont" in parts:
        parts["textfont"] = _readable(parts["textfont"])
    if trace.get("type") == "bar":
        parts["constraintext"] = "none"  # Plotly shrinks letters to the width of their bar
    return {**trace, **parts}


def _with_fonts(part: Mapping[str, Any], ticks: float = LEAST) -> dict[str, Any]:
    """An axis or a colour bar with font sizes for its ticks and title, for which Streamlit's theme would set 12 px. A tick has
    at least `ticks` px."""
    given: Any = part.get(TITLE) or {}  # None on an axis without a title
    title: dict[str, Any] = {"text": given} if isinstance(given, str) else given
    titled = {**title, "font": _readable(title.get("font", {}))}
    return {**part, TICKS: _readable(part.get(TICKS, {}), ticks), TITLE: titled}


def _readable(font: Mapping[str, Any], least: float = LEAST) -> dict[str, Any]:
    return {**font, "size": max(least, font.get("size", least))}


def _scaled(value: Any, name: str = "") -> Any:
    """A part of a layout with its px enlarged."""
    if isinstance(value, Mapping):
        return {key: inner if key == "template" else _scaled(inner, key) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return [_scaled(inner) for inner in value]
    if name in PIXELS and isinstance(value, int | float) and not isinstance(value, bool):
        return value * SCALE
    return value
