"""The names of heads, and the grids of numbers per head, as the maps of this page draw them."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from jaxtyping import Float

from pages.shell.view.card_heads import choose_head
from pages.shell.view.explained_chart import clicked_cell
from pages.ui.chart import event, narrowness
from pages.ui.charts import chart, show
from pages.ui.text import text
from transformer.figures.patching_figures import Grid, patch_grids, side_by_side_width
from transformer.patching import Head, Needs

OfHeads = Mapping[str, Float[np.ndarray, "layer head"]]


def of_head(values: OfHeads, head: Head) -> float:
    """The value of one head, from the values of all heads."""
    return float(values[head.kind][head.layer, head.head])


def strongest(needs: Needs) -> Head:
    """The head with the largest sum of two shares of the runs' difference: lost without the head, and restored by it alone."""
    return max(needs.roles, key=lambda head: of_head(needs.lost, head) + of_head(needs.restored, head))


def show_heads(values: OfHeads, value: str, key: str, alt: str, picked: Head, from_zero: bool = False) -> None:
    """Draw a map of layers × heads for each kind of attention, with the head `picked` framed. A click on a cell picks its head.
    `value` is the name of the numbers; `from_zero`: whether none of them can be negative; `key` is the chart's key, and `alt`
    its name for screen readers."""
    words, titles = text("patching"), text("attention")["kinds"]
    grids = [
        Grid.of(kind, of_kind[..., None], titles[kind], None, words["layer"], words["layer_and_head"], first=1)
        for kind, of_kind in values.items()
    ]
    form = {"percent": True, "from_zero": from_zero, "stacked": narrowness(key) > 0}
    figure = chart(patch_grids, grids, None, value, picked=picked, **form)
    asks = {"click": partial(_take_cell, key, figure.finished.axes, [*values])}
    show(figure, key, alt, asks=asks, narrow=[side_by_side_width(grids)])


def _take_cell(key: str, axes: tuple[str, str], kinds: Sequence[str]) -> None:
    """Pick the head of the cell that was clicked in the chart `key`, which has one map for each of `kinds`, in this order."""
    cell = clicked_cell(key, event(key, "click"), axes)
    if cell and cell.trace < len(kinds):
        choose_head(Head(kinds[cell.trace], cell.row, cell.column))
