"""Tensors on a canvas: the picture of one stop of the walk, a filmstrip of a layer, and the list of all stops.

They are drawn on a canvas for two reasons. With Plotly, a step takes more than twice as long (benchmarks/README.md). On a
canvas, the arrow keys move from number to number without a request to the server. The save menu offers the same picture from
Plotly.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pages.layers.flow import Flow
from pages.ui.charts import described
from pages.ui.component import mounted, packed, parcel
from pages.ui.format import numbered_tokens, token_at
from pages.ui.text import figure_labels, text
from transformer.figures.highlights import largest_cells
from transformer.figures.panels import MOST_COLUMNS, Panel, TensorView, shades, thumbnail
from transformer.figures.theme import LINE, MASKED, ROLE_COLORS

HERE = Path(__file__).parent
# In pixels: the largest width and the largest height of a miniature in a strip, and the least width or height.
WIDEST, HIGHEST, LEAST = 300, 120, 7
# The description of a picture for screen readers has at most this many rows, and at most this many ids.
MOST_SAID, MOST_IDS = 3, 12


_stop = mounted(HERE / "stop")
_strip = mounted(HERE / "strip")
_outline = mounted(HERE / "outline")


def picture(inputs: Sequence[TensorView], operation: str, result: TensorView, says: str, key: str, hint: bool = True) -> None:
    """Draw inputs, operation and result to one scale: cells have the same size in all tensors.

    The exact numbers are sent to the browser. It shows them when the pointer hovers, and enlarges columns that are dragged
    over.

    Args:
        inputs: the inputs in the order of the formula; may be empty.
        operation: the words between inputs and result.
        result: the tensor that the operation returns.
        says: the picture in words, for screen readers.
        hint: whether to show a sentence below that explains how to read and use the picture.
    """
    words = dict(text("tensors")["picture"])
    sent, numbers = [], []
    for one in (*inputs, result):
        described, values = _sent(one, sum(part.size for part in numbers))
        sent.append(described)
        numbers.append(values)
    data = {
        "inputs": sent[:-1],
        "result": sent[-1],
        "operation": operation,
        "label": says,
        "colors": _colors(),
        "most_columns": MOST_COLUMNS,
        "text": words if hint else {**words, "hint": ""},
    }
    _stop(key=key, data=parcel(data, np.concatenate(numbers)))


def numbers(shown: TensorView) -> pd.DataFrame:
    """The numbers of a panel as a table with a row for each row of each head."""
    names = _row_names(shown)
    return pd.DataFrame(shown.panel.values.reshape(len(names), -1), names)


def _row_names(shown: TensorView) -> list[str]:
    """The names of the rows of all heads, head after head."""
    tiles, rows, _ = shown.panel.values.shape
    names = shown.tokens.get(shown.panel.axes[1], range(rows))
    return [
        f"head {tile + 1}, {token_at(at, str(name))}" if tiles > 1 else token_at(at, str(name))
        for tile in range(tiles)
        for at, name in enumerate(names)
    ]


def all_numbers(frames: Sequence[TensorView]) -> pd.DataFrame:
    """The numbers of several panels in one table, each panel with its path. The rows of narrow panels end in empty cells."""
    return pd.concat({frame.path: numbers(frame) for frame in frames}, names=["tensor", "row"])


def _scale_of(frames: Sequence[TensorView]) -> tuple[float, float]:
    """The pixels of a row and of a column with which the tallest and the widest miniature still fit."""
    sizes = [_cells(frame.panel) for frame in frames]
    return HIGHEST / max(height for height, _ in sizes), WIDEST / max(width for _, width in sizes)


def strip(data: Mapping[str, Any], key: str, on_pick: Callable[[], None]) -> None:
    """Draw a strip from the data of `strip_data`. A click on a miniature calls `on_pick`. In it, `component.picked` returns the
    path of the miniature."""
    _strip(key=key, data=data, on_pick_change=on_pick)


def strip_data(
    parts: Sequence[tuple[str, Sequence[TensorView]]],
    flows: Sequence[Flow],
    sources: Mapping[str, tuple[str, str]],
    selected: str,
    says: str,
) -> dict[str, Any]:
    """The data of a strip for the browser: miniatures, all to one scale, and the lines between them.

    Args:
        parts: the title and the tensors of each part; an empty title is not shown.
        flows: the places and lines of the tensors of each part.
        sources: path of a tensor of another part → its role for this part, and its title.
        selected: the path of the highlighted tensor.
        says: the strip in words, for screen readers.
    """
    frames = [frame for _, part in parts for frame in part]
    (down, across), sent = _scale_of(frames), {}
    for frame in frames:
        height, width = _cells(frame.panel)
        # To scale, but large enough to be seen and clicked.
        wide, high = max(LEAST, round(width * across)), max(LEAST, round(height * down))
        levels = thumbnail(frame.panel, high, wide, frame.limit)
        sent[frame.path] = {
            "path": frame.path,
            "title": frame.title,
            "shape": frame.shape,
            "width": wide,
            "height": high,
            "rows": levels.shape[0],
            "columns": levels.shape[1],
            "levels": packed(levels),
            "scale": frame.panel.scale,
            "color": _rgb(frame.color) if frame.panel.scale == "mask" else None,
            "branch": frame.branch,
            "says": _told(frame, 1),
        }
    sent_parts = [
        {
            "title": title,
            "sources": [{"path": path, "name": sources[path][0], "title": sources[path][1]} for path in flow.sources],
            "rows": [[[stop.path for stop in chain] for chain in row] for row in flow.rows],
            "lines": flow.lines,
            "residual": flow.residual,
        }
        for (title, _), flow in zip(parts, flows, strict=True)
    ]
    return {
        "parts": sent_parts,
        "frames": sent,
        "selected": selected,
        "colors": {**_colors(), **ROLE_COLORS},
        "says": says,
        "text": {**text("tensors")["strip"], **{branch: figure_labels()[f"branch_{branch}"] for branch in ROLE_COLORS}},
    }


def outline(groups: Sequence[tuple[str, Sequence[tuple[str, str, str]]]], selected: str, key: str, on_pick: Callable) -> None:
    """Draw the list of all stops, folded by group. Each group is (title, (path, title, shape) of each stop). `on_pick` is as in
    `strip`."""
    data = {
        "groups": [{"title": title, "stops": [list(stop) for stop in stops]} for title, stops in groups],
        "selected": selected,
    }
    _outline(key=key, data=data, on_pick_change=on_pick)


def _sent(drawn: TensorView, offset: int) -> tuple[dict[str, Any], np.ndarray]:
    """A panel for the browser: its properties, and its numbers as bytes, which start at `offset` in the parcel."""
    panel = drawn.panel
    tiles, rows, columns = panel.values.shape
    bytes_ = [np.ascontiguousarray(panel.values, "<f4").view(np.uint8).reshape(-1)]
    if panel.hidden is not None:
        bytes_.append(panel.hidden.astype(np.uint8).reshape(-1))
    return {
        "path": drawn.path,
        "title": drawn.title,
        "shape": drawn.shape,
        "label": f"{drawn.title} {drawn.shape}",
        "says": _told(drawn, MOST_SAID),
        "tiles": tiles,
        "rows": rows,
        "columns": columns,
        "axes": list(panel.axes),
        "strip": panel.strip,
        "scale": panel.scale,
        "limit": drawn.limit,
        "limit_label": float(f"{drawn.limit:.3g}"),
        "color": drawn.color,
        "offset": offset,
        "masked": panel.hidden is not None,
        "row_tokens": _tokens(drawn, panel.axes[1], rows),
        "column_tokens": _tokens(drawn, panel.axes[2], columns),
    }, np.concatenate(bytes_)


def _tokens(drawn: TensorView, axis: str, count: int) -> list[str] | None:
    tokens = drawn.tokens.get(axis)
    return [str(token) for token in tokens] if tokens is not None and len(tokens) == count else None


def _told(drawn: TensorView, most: int) -> str:
    """The description of a panel for screen readers: at most `most` rows with the largest numbers."""
    words, panel = text("tensors")["told"], drawn.panel
    if panel.scale == "ids":
        return words["ids"].format(ids=", ".join(str(int(value)) for value in panel.values.ravel()[:MOST_IDS]))
    if panel.scale == "mask":
        hidden = 0 if panel.hidden is None else int(panel.hidden.sum())
        return words["mask"].format(open=panel.values.size - hidden, count=panel.values.size)
    seen = panel.values if panel.hidden is None else np.where(panel.hidden, np.nan, panel.values)
    tiles, rows, columns = seen.shape
    tokens = _tokens(drawn, panel.axes[2], columns)
    across = numbered_tokens(tokens) if tokens else [str(drawn.first_column + at) for at in range(columns)]
    return described(list(largest_cells(seen.reshape(tiles * rows, columns), _row_names(drawn), across))[:most])


def _cells(panel: Panel) -> tuple[int, int]:
    tiles, rows, columns = panel.values.shape
    return (rows, tiles * columns) if panel.strip else (tiles * rows, columns)


def _colors() -> dict[str, str]:
    return {"signed": packed(shades("signed")), "weights": packed(shades("weights")), "masked": MASKED, "line": LINE}


def _rgb(color: str) -> str:
    return f"rgb({', '.join(str(int(color[at : at + 2], 16)) for at in (1, 3, 5))})"
