"""Every head of one kind of attention as a small heatmap, and the picked head beside them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import streamlit as st

from pages.attention.head_map_view import say_cells
from pages.attention.head_patterns import head_measures, induction_head, measure_names
from pages.attention.lines import THRESHOLD, LinesState
from pages.attention.offline_view import offline_view
from pages.shell.view.card_heads import choose_head, head_title, turning_head
from pages.shell.view.head_links import training_address
from pages.shell.view.joined_words import say_joined
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.caches import cached
from pages.ui.charts import chart, show
from pages.ui.export_menu import saving
from pages.ui.format import fixed, whole
from pages.ui.head_grid import overview, picked, strongest_rows
from pages.ui.limits import GRID_BYTES, SAVED_WEIGHTS, SMALL_MAP_TOKENS
from pages.ui.pickers import pick
from pages.ui.presenting import presenting
from pages.ui.text import text
from pages.ui.weights_table import weights_table
from transformer import Trace
from transformer.analysis.word_trace import WordTrace
from transformer.figures import KIND_COLORS, small_head_map
from transformer.figures.attention_figures import has_numbers
from transformer.figures.reduction import Reduced, most_cells, reduced, reduced_map
from transformer.tracing.paths import Kind

# With at most this many heads in a layer, the grid of all heads leaves room for the picked head beside it.
MOST_BESIDE = 6


def beside(shown: Trace, kind: str, title: str) -> Sequence[AbstractContextManager[object]]:
    """Draw the heading above the grid of heads of one `kind` of attention. Returns two containers, for the grid and for a
    picked head: side by side, or one below the other if one of them needs the whole width. On a projector the picked head comes
    first, below `title`, which is drawn only there."""
    picture = None
    if presenting():
        st.header(title, anchor="picked")
        picture = st.container()
    st.header(text("attention")["overview"].format(layers=shown.layers(kind), heads=shown.heads(kind)), anchor="overview")
    say_joined(shown)
    if picture:
        return st.container(), picture
    fits = shown.heads(kind) <= MOST_BESIDE and has_numbers(*map(len, shown.tokens(kind)))
    return st.columns([1, 2]) if fits else (st.container(), st.container())


def show_small_map(view: View, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Draw a head as a small heatmap. `shown` is the trace, of tokens or whole words; `layer` and `head` are from 0."""
    words = text("attention")
    queries, keys = map_names(view, shown, kind)
    title = head_title(kind, layer, head)
    weights, allowed = shown.head(kind, layer, head).numpy(), shown.head_allowed(kind, layer, head).numpy()
    cells = reduced_map(weights, allowed, queries, keys, SMALL_MAP_TOKENS)
    alt = words["head_alt"].format(here=title, queries=len(queries), keys=len(keys))
    says = f"{alt} {strongest_rows(weights, allowed, queries, keys)}"
    name = f"{view.model}-{kind}-layer{layer + 1}-head{head + 1}"
    show(chart(small_head_map, *cells), "picked-head", says, name, tells=True)
    say_cells(weights.shape, SMALL_MAP_TOKENS)


def show_overview(view: View, shown: Trace, kind: str, layer: int, head: int, tiles: AbstractContextManager[object]) -> None:
    """Draw every head of one `kind` of attention (`encoder`, `decoder` or `cross`) as a small heatmap in the container `tiles`,
    with the head at `layer` and `head` (from 0) marked. Outside of `tiles`, draw a picker of the heatmaps' order and the menu
    that saves them. A click on a heatmap picks its head."""
    words = text("attention")
    queries, keys = map_names(view, shown, kind)
    layers, heads = shown.layers(kind), shown.heads(kind)
    count, file = layers * heads * len(queries) * len(keys), f"{view.model}-{kind}-all-heads"
    small, few = None, most_cells(layers, heads, GRID_BYTES)
    if max(len(queries), len(keys)) > few:
        small = view.run(_reduced_heads, view, kind, isinstance(shown, WordTrace), few)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = pick(words["order"], ["layer", *measure_names(view, shown, kind)], "order")
        exports: dict[str, Callable[[], Any]] = {}
        if count <= SAVED_WEIGHTS:
            exports = {
                "numbers": lambda: weights_table(*_weights_of_all(shown, kind), queries, keys),
                "view": lambda: offline_view(view, shown, kind, layer, head, LinesState((), (head,), THRESHOLD)),
            }
        saving("overview", file, **exports)
    if not exports:
        st.caption(words["too_many_to_save"].format(count=whole(count), most=whole(SAVED_WEIGHTS)))
    order = captions = None
    if by != "layer":
        values = head_measures(view, shown, kind)[by]
        order = sorted(np.ndindex(values.shape), key=lambda position: -values[position])
        captions = [fixed(float(values[position]), 2) for position in order]
    with tiles:
        overview(
            *(small or Reduced(*_weights_of_all(shown, kind), queries, keys)),
            selected=(layer, head),
            color=KIND_COLORS[kind],
            key="overview",
            on_pick=_open_tile,
            order=order,
            captions=captions,
        )
        say_cells((len(queries), len(keys)), few, "reduced")
        _say_axes(view, kind, layer, head)
        named = {
            "turning": (turning_head(view.pipeline.card.measures, shown.kinds), ":material/alt_route:"),
            "induction": (induction_head(view, view.trace()), ":material/content_copy:"),
        }
        for name, (found, icon) in named.items():
            if found and found != (kind, layer, head):
                st.button(words[name], key=name, icon=icon, on_click=choose_head, args=(found,))


def _say_axes(view: View, kind: str, layer: int, head: int) -> None:
    """Write what the rows and columns of the picked head are, with a link to the training of the head."""
    words, title = text("attention"), head_title(kind, layer, head)
    says = words["rows_write" if Kind.of(kind).queries == "target" else "rows_and_columns"].format(head=title)
    learnt = training_address(view, 0, kind, layer, head)
    st.caption(f"{says} [{text('common')['being_learnt']}]({learnt})" if learnt else says)


def _open_tile() -> None:
    tile = picked("overview")
    if tile is not None:
        st.session_state.update(layer=tile[0] + 1, head=tile[1] + 1)


def _weights_of_all(shown: Trace, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The weights of every head of one kind for the first text, and which pairs may attend; both [layer, head, query, key]."""
    return shown.attention(kind)[:, 0].numpy(), shown.allowed(kind)[:, 0].numpy()


@cached
def _reduced_heads(view: View, kind: str, joined: bool, most: int) -> Reduced:
    """The weights of all heads of one kind, reduced to at most `most` rows and columns each. `joined`: whether the attention is
    between words instead of tokens."""
    trace = view.trace()
    shown = WordTrace.of(trace) if joined else trace
    weights = (shown.weights(kind, layer)[0].numpy() for layer in range(shown.layers(kind)))
    return reduced(weights, shown.allowed(kind)[:, 0].numpy(), *map_names(view, shown, kind), most)
