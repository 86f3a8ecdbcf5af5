"""Broadcasting of a mask: its axes of size 1 are repeated for every head and query. The picture has the real sizes."""

from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from pages.ui.format import shape
from pages.ui.style import style
from pages.ui.text import text
from transformer import Trace
from transformer.figures.theme import KIND_COLORS
from transformer.tracing.paths import Kind

# At most this many squares are drawn along an axis. A longer axis ends in dots.
MOST_SQUARES = 20

STYLE = style(Path(__file__).parent / "broadcast.css")


def show_broadcast(trace: Trace, kind: Kind) -> None:
    """Draw the shape of an attention mask above the shape of the scores that it is applied to, axis by axis."""
    words = text("masks")
    mask, scores = trace[kind.mask].values, trace[kind.path(0) / "scores"].shape
    names = ("batch", "head", f"query: {kind.queries}", f"key: {kind.keys}")
    heads = Markup("").join(Markup('<div class="axis">{}</div>').format(name) for name in names)
    rows = [
        tensor_row(words["mask_row"][kind], tuple(mask.shape), scores, names, words),
        tensor_row(words["scores_row"], scores, scores, names, words),
    ]
    template = '{style}<div class="broadcast" style="--kind: {color}"><div class="axis"></div>{heads}{rows}</div>'
    st.html(Markup(template).format(style=STYLE, color=KIND_COLORS[kind], heads=heads, rows=Markup("").join(rows)))


def tensor_row(
    name: str, sizes: tuple[int, ...], wanted: tuple[int, ...], names: tuple[str, ...], words: dict[str, Any]
) -> Markup:
    """An HTML row for a tensor: its name and shape, and on each axis one square for each index. Squares of copies are dashed.

    Each cell repeats the name of its axis, because phones hide the row of names above.
    """
    cells = [Markup('<div class="name">{}<br><span class="shape">{}</span></div>').format(name, shape(sizes))]
    square, copy = Markup("<i></i>"), Markup("<i class=copy></i>")
    for axis, called, size, full in zip(("batch", "head", "query", "key"), names, sizes, wanted, strict=True):
        shown = min(full, MOST_SQUARES)
        squares = square * min(shown, size) + copy * (shown - size)
        dots = "…" if full > shown else ""
        copied = size < full or (axis in ("head", "query") and size == 1)
        says = words["same_for"][axis].format(count=full) if copied else words["own_for"][axis].format(count=size)
        cells.append(
            Markup(
                '<div class="cell"><div class="axis">{axis}</div>'
                '<div class="squares" aria-hidden="true">{squares}{dots}</div><div class="says">{says}</div></div>'
            ).format(axis=called, squares=squares, dots=dots, says=says)
        )
    return Markup("").join(cells)
