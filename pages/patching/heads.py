"""The names of heads, and the grids of numbers per head, as the maps of this page draw them."""

from collections.abc import Mapping

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.patching.two_runs_to_patch import Runs
from pages.ui.chart import event
from pages.ui.charts import chart, show
from pages.ui.pickers import pick
from pages.ui.text import figure_labels, text
from transformer.figures.patching_figures import Grid, patch_grids
from transformer.patching import Head, Needs

OfHeads = Mapping[str, Float[np.ndarray, "layer head"]]


def pick_head(runs: Runs, first: Head) -> Head:
    """Draw the pickers of a head, which every page shares."""
    words, trace = text("attention"), runs.clean.trace()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = pick(words["kind"], runs.kinds, "kind", first=first.kind)
        own = first if first.kind == kind else Head(kind, 0, 0)
        layer = pick(words["layer"], range(1, trace.layers(kind) + 1), "layer", first=own.layer + 1) - 1
        head = pick(words["head"], range(1, trace.heads(kind) + 1), "head", first=own.head + 1) - 1
    return Head(kind, layer, head)


def strongest(needs: Needs) -> Head:
    """The head with the largest sum of its lost and restored shares."""
    return max(needs.roles, key=lambda head: sum(of[head.kind][head.layer, head.head] for of in (needs.lost, needs.restored)))


def show_heads(
    values: OfHeads,
    value: str,
    key: str,
    alt: str,
    picked: Head | None = None,
    from_zero: bool = False,
) -> None:
    """Draw a map of layers × heads for each kind of attention. A click on a cell picks the head. The other arguments are those
    of `patch_grids`."""
    words, titles = text("patching"), text("attention")["kinds"]
    grids = [
        Grid.of(kind, of_kind[..., None], titles[kind], None, words["layer"], words["layer_and_head"], first=1)
        for kind, of_kind in values.items()
    ]
    frame = None if picked is None else (picked.kind, picked.layer, picked.head)
    figure = chart(patch_grids, grids, None, value, picked=frame, labels=figure_labels(), percent=True, from_zero=from_zero)
    show(figure, key, alt, asks={"click": lambda: take_head(key)})


def take_head(key: str) -> None:
    """Pick the head of the cell that was clicked."""
    sent = event(key, "click")
    about, row, column = sent.get("about"), sent.get("row"), sent.get("column")
    kind = about.get("grid") if isinstance(about, dict) else None
    if kind in text("attention")["kinds"] and isinstance(row, int) and isinstance(column, int):
        st.session_state.update(kind=kind, layer=row + 1, head=column + 1)
