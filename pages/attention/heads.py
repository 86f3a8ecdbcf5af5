"""Views of attention heads: the overview of all heads, one head as a map, a layer as lines, and heads combined."""

import math
import re
from collections.abc import Sequence
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Bool, Float

from pages.attention.head_patterns import head_measures, measure_names
from pages.attention.lines import LinesState, heads_on, lines
from pages.attention.offline_view import offline_view
from pages.lessons import Marks, asked_here
from pages.shell.links.training_link import training_address
from pages.shell.view.runs import BYTES_EACH
from pages.shell.view.view import View, sizes_of
from pages.ui.caches import cached
from pages.ui.charts import chart, show, show_small
from pages.ui.escaping import literal
from pages.ui.export_menu import saving
from pages.ui.format import byte_size, fixed, linked_token, numbered_tokens, whole
from pages.ui.head_grid import overview, picked, strongest_rows
from pages.ui.limits import GRID_BYTES, LINES_WEIGHTS, MAP_TOKENS, SAVED_WEIGHTS, SMALL_MAP_TOKENS, TRACE_FILE_MEGABYTES
from pages.ui.link_values import kept_in_links
from pages.ui.pickers import choice_label, pick, unfolding
from pages.ui.text import figure_labels, text
from transformer import Trace
from transformer.analysis.head_measures import rollout
from transformer.analysis.word_trace import WordTrace
from transformer.figures import KIND_COLORS, head_map, small_head_map
from transformer.figures.reduction import Reduced, most_cells, reduced, reduced_map
from transformer.pipeline.trace_export import trace_file
from transformer.tracing.paths import Kind, Side

# This many rows of the answer are listed, each with a link to the step that it wrote.
MOST_LINKS = 40
# With at most this many heads in a layer, the grid of all heads leaves room for the picked head beside it.
MOST_BESIDE = 6
# Default of the slider: lines for smaller weights are hidden.
THRESHOLD = 0.05


def show_overview(view: View, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Show every head of one kind of attention as a small heatmap. A click on a tile opens that head."""
    words = text("attention")
    queries, keys = shown.tokens(kind)
    layers, heads = shown.layers(kind), shown.heads(kind)
    small, few = None, most_cells(layers, heads, GRID_BYTES)
    if max(len(queries), len(keys)) > few:
        small = view.computed(_reduced_heads, view, kind, isinstance(shown, WordTrace), few)
    # The picked head is drawn beside the tiles, or below them if they need the whole width. The picker of the order is below
    # both.
    beside = heads <= MOST_BESIDE
    grid, picture = st.columns([2, 3]) if beside else (st.container(), st.container())
    with picture:
        title = words["head_title"].format(kind=words["kinds"][kind], layer=layer + 1, head=head + 1)
        weights, allowed = _weights_of(shown, kind, layer, head)
        cells = reduced_map(weights, allowed, queries, keys, SMALL_MAP_TOKENS)
        alt = words["head_alt"].format(here=title, queries=len(queries), keys=len(keys))
        says = f"{alt} {strongest_rows(weights, allowed, queries, keys)}"
        show_small(chart(small_head_map, *cells, labels=figure_labels()), "picked-head", says)
        _say_cells(weights.shape, SMALL_MAP_TOKENS)
        says = words["rows_and_columns"].format(head=title)
        learnt = training_address(view.model, view.source, view.target, kind, layer, head)
        st.caption(f"{says} [{text('common')['being_learnt']}]({learnt})" if learnt else says)
    by = pick(words["order"], ["layer", *measure_names(view, shown, kind)], "order")
    order = captions = None
    if by != "layer":
        values = head_measures(view, shown, kind)[by]
        order = sorted(np.ndindex(values.shape), key=lambda position: -values[position])
        captions = [fixed(float(values[position]), 2) for position in order]
    with grid:
        overview(
            *(small or (*_weights_of_all(shown, kind), queries, keys)),
            selected=(layer, head),
            color=KIND_COLORS[kind],
            key="overview",
            on_pick=_open_head,
            order=order,
            captions=captions,
        )
        if small:
            rows, columns = (-(-len(tokens) // few) for tokens in (queries, keys))
            st.caption(words["reduced"].format(rows=rows, columns=columns))
    count, name = layers * heads * len(queries) * len(keys), f"{view.model}-{kind}-all-heads"
    if count > SAVED_WEIGHTS:
        saving("overview", name)
        st.caption(words["too_many_to_save"].format(count=whole(count), most=whole(SAVED_WEIGHTS)))
        return
    saving(
        "overview",
        name,
        lambda: weights_table(*_weights_of_all(shown, kind), queries, keys),
        view=lambda: offline_view(view, shown, kind, layer, head, LinesState((), (), (head,), THRESHOLD)),
    )


def _weights_of_all(shown: Trace, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The weights of every head of one kind for the first text, and which pairs may attend."""
    return shown.attention(kind)[:, 0].numpy(), shown.allowed(kind)[:, 0].numpy()


def _weights_of(shown: Trace, kind: str, layer: int, head: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights of one head for the first text, and which pairs may attend."""
    return shown.weights(kind, layer)[0, head].numpy(), shown.allowed(kind)[layer, 0, head].numpy()


@cached
def _reduced_heads(view: View, kind: str, joined: bool, most: int) -> Reduced:
    """The weights of all heads, reduced to at most `most` rows and columns each. `joined`: the attention is between words."""
    trace = view.trace()
    shown = WordTrace.of(trace) if joined else trace
    weights = (shown.weights(kind, layer)[0].numpy() for layer in range(shown.layers(kind)))
    return reduced(weights, shown.allowed(kind)[:, 0].numpy(), *shown.tokens(kind), most)


def weights_table(
    weights: Float[np.ndarray, "layer head query key"],
    allowed: Bool[np.ndarray, "layer head query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    first_layer: int = 1,
    first_head: int = 1,
) -> pd.DataFrame:
    """One row for each unmasked weight. Layers and heads are counted from 1, positions of tokens from 0."""
    layers, heads, rows, columns = np.nonzero(allowed)
    columns_by_name = {
        "layer": layers + first_layer,
        "head": heads + first_head,
        "query": [linked_token(position, queries[position]) for position in rows.tolist()],
        "key": [linked_token(position, keys[position]) for position in columns.tolist()],
        "weight": weights[allowed],
    }
    return pd.DataFrame(columns_by_name).rename_axis("number")


def _open_head() -> None:
    tile = picked("overview")
    if tile is not None:
        st.session_state["layer"], st.session_state["head"] = tile[0] + 1, tile[1] + 1


def show_map(view: View, trace: Trace, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Show one head as a heatmap, with its numbers and downloads. `shown` is `trace`, or `trace` between words
    (`pick_words`)."""
    words = text("attention")
    weights, allowed = _weights_of(shown, kind, layer, head)
    queries, keys = shown.tokens(kind)
    left, right = st.columns(2)
    hide = left.toggle(words["hide_special"], key="hide_special", bind="query-params")
    if hide:
        rows, columns = (_not_special(view, shown, side) for side in (Kind.of(kind).queries, Kind.of(kind).keys))
        again = right.toggle(words["renormalize"], key="renormalize", bind="query-params")
        weights, allowed = weights[np.ix_(rows, columns)], allowed[np.ix_(rows, columns)]
        queries, keys = [queries[position] for position in rows], [keys[position] for position in columns]
        if again:
            total = weights.sum(-1, keepdims=True)
            weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        st.caption(words["renormalized"] if again else words["not_renormalized"])
        if not weights.size:
            st.info(words["nothing_left"])
            return
    title = words["head_title"].format(kind=words["kinds"][kind], layer=layer + 1, head=head + 1)
    large = max(weights.shape) > MAP_TOKENS
    marks = None if hide or large else asked_here(queries, keys, kind, layer, head)
    cells = _marked_cells(marks) if marks else {}
    drawn = reduced_map(weights, allowed, queries, keys, MAP_TOKENS)
    figure = chart(head_map, *drawn, labels=figure_labels(), **cells)
    name = f"{view.model}-{kind}-layer{layer + 1}-head{head + 1}"
    alt = words["head_alt"].format(here=title, queries=len(queries), keys=len(keys))
    if marks:
        alt += " " + words["marked_alt"].format(
            query=queries[marks.query], keys=", ".join(linked_token(key, keys[key]) for key in marks.keys)
        )
    says = f"{alt} {strongest_rows(weights, allowed, queries, keys)}"
    exact = weights[None, None], allowed[None, None], queries, keys
    table = (lambda: weights_table(*exact, layer + 1, head + 1)) if large else None
    show(figure, "head-map", says, name, tells=True, table=table)
    if large:
        _show_row(weights, allowed, queries, keys)
    if marks:
        st.caption(words["marked_first" if marks.earlier else "marked"].format(query=literal(queries[marks.query])))
    if Kind.of(kind).queries == "target" and view.target is None:
        _show_writing(view, trace)
    # The table is filled only while it is open, because a closed table would still be sent with every click.
    table = unfolding(words["numbers"], ":material/table:", "numbers")
    if table:
        with table:
            rows, columns = map(numbered_tokens, (queries, keys))
            st.dataframe(pd.DataFrame(weights, rows, columns))
    size = sum(math.prod(step.shape) for step in trace) * BYTES_EACH
    if size > TRACE_FILE_MEGABYTES * 1_000_000:
        most = byte_size(TRACE_FILE_MEGABYTES * 1_000_000)
        st.caption(words["trace_too_large"].format(size=byte_size(size), most=most))
        return
    st.download_button(
        words["trace"],
        lambda: trace_file(view.trace()),  # kept for each visitor until the next click, so it must not contain the trace
        f"{view.model}-trace.safetensors",
        "application/octet-stream",
        icon=":material/download:",
        on_click="ignore",
    )


def _show_row(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
) -> None:
    """Write how many weights each cell of a large map stands for. Draw a picker of rows, and every weight of the picked row."""
    words, last = text("attention"), len(queries) - 1
    rows, columns = (-(-count // MAP_TOKENS) for count in weights.shape)
    st.caption(words["map_reduced"].format(rows=rows, columns=columns))
    row = st.slider(words["row"], 0, last, last, key="row", bind="query-params") if last else 0
    label = linked_token(row, queries[row])
    st.markdown(f"**{words['row_title'].format(query=literal(label))}**")
    figure = chart(head_map, weights[row : row + 1], allowed[row : row + 1], [label], keys, wide=True, labels=figure_labels())
    show(figure, "head-row", words["row_alt"].format(query=label, keys=len(keys)))


def _marked_cells(marks: Marks) -> dict[str, list[tuple[int, int]]]:
    """The marked cells, as arguments of `head_map`."""
    kinds = {"marks": marks.keys, "earlier_marks": marks.earlier}
    return {name: [(marks.query, key) for key in keys] for name, keys in kinds.items() if keys}


def _not_special(view: View, shown: Trace, side: Side) -> list[int]:
    """The positions of the first text whose token is not a special token."""
    special = set(view.pipeline.vocabulary(side).specials)
    return [position for position, token_id in enumerate(shown.ids_of(side)[0]) if token_id not in special]


def _show_writing(view: View, trace: Trace) -> None:
    """List which row wrote which token of the answer. Each token links to the step that wrote it."""
    words, first, vocabulary = text("attention"), view.first_row(), view.pipeline.vocabulary("target")
    query = {**kept_in_links(), "model": view.model, **sizes_of(view.model), "source": view.source}
    count = len(view.answer().tokens) + view.answer().ended
    read = trace.target_tokens[0][first : first + count]
    written = vocabulary.tokens_of(view.expected(trace)[first : first + count])
    links = [
        f"{literal(before)} → [{literal(token)}](decoding?{urlencode(query | {'step': index + 1})})"
        for index, (before, token) in enumerate(zip(read, written, strict=False))
    ]
    st.caption(words["rows_wrote"].format(links=" · ".join(links[:MOST_LINKS])))


def show_lines(view: View, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Show the heads of a layer as lines between two columns of tokens. The locks, heads and threshold are kept in the URL.

    The picked head is always switched on (unless all heads are off), because the heading above names it.
    """
    queries, keys = shown.tokens(kind)
    weights, allowed = shown.weights(kind, layer)[0].numpy(), shown.allowed(kind)[layer, 0].numpy()
    if weights.size > LINES_WEIGHTS:
        st.info(text("attention")["too_many_lines"].format(count=whole(weights.size), most=whole(LINES_WEIGHTS)))
        return
    locked, heads = _locked_in_url(), sorted({head, *_heads_in_url(shown.heads(kind))})
    key = f"lines-{kind}"
    state = lines(
        weights,
        allowed,
        queries,
        keys,
        key=key,
        heads=heads,
        locked=locked,
        threshold=_threshold_in_url(),
        on_change=lambda: _follow_heads(heads_on(key, len(weights)), head),
        head=head,
    )
    _to_url("locked", ",".join(f"{side[0]}{position}" for side, position in state.locked))
    _to_url("heads", ",".join(str(position + 1) for position in state.heads) if tuple(state.heads) != (head,) else "")
    _to_url("threshold", f"{state.threshold:.2f}" if state.threshold != THRESHOLD else "")
    name = f"{view.model}-{kind}-layer{layer + 1}-lines"
    saving(
        key,
        name,
        lambda: weights_table(weights[None], allowed[None], queries, keys, layer + 1),
        view=lambda: offline_view(view, shown, kind, layer, head, state),
    )


def _follow_heads(on: Sequence[int], head: int) -> None:
    """If the picked head was switched off, pick the first head that is still on."""
    if on and head not in on:
        st.session_state["head"] = on[0] + 1


def show_combined(shown: Trace, kind: str, layer: int, head: int) -> None:
    """Show one map that combines heads or layers, and a picker of the way to combine them."""
    words = text("attention")
    allowed, (queries, keys) = shown.allowed(kind)[layer, 0, head].numpy(), shown.tokens(kind)
    layers = [shown.weights(kind, index)[0].numpy() for index in range(shown.layers(kind))]  # not copied into one array
    ways = {
        "mean-over-heads": lambda: layers[layer].mean(0),
        "maximum-over-heads": lambda: layers[layer].max(0),
        "mean-over-layers": lambda: np.mean([of_layer[head] for of_layer in layers], axis=0),
        "maximum-over-layers": lambda: np.max([of_layer[head] for of_layer in layers], axis=0),
        "mean-over-all": lambda: np.mean([of_layer.mean(0) for of_layer in layers], axis=0),
    }
    if Kind.of(kind).queries == Kind.of(kind).keys:
        ways["rollout"] = lambda: rollout(np.stack([of_layer.mean(0, keepdims=True) for of_layer in layers]))[layer]
    way = pick(words["combine"], list(ways), "combine")
    st.caption(words["ways"][way].format(layer=layer + 1, head=head + 1))
    figure = chart(head_map, *reduced_map(ways[way](), allowed, queries, keys, MAP_TOKENS), labels=figure_labels())
    show(figure, "combined-map", words["combined_alt"].format(way=choice_label("combine", way)))
    _say_cells(allowed.shape, MAP_TOKENS)


def _say_cells(shape: Sequence[int], most: int) -> None:
    """Write how many values each cell of a map stands for, if the map was reduced to at most `most` cells on a side."""
    if max(shape) > most:
        rows, columns = (-(-count // most) for count in shape)
        st.caption(text("attention")["cells"].format(rows=rows, columns=columns))


def _locked_in_url() -> list[tuple[str, int]]:
    sides = {"q": "query", "k": "key"}
    tokens = (part for part in st.query_params.get("locked", "").split(",") if part[:1] in sides and part[1:].isdecimal())
    return [(sides[part[0]], int(part[1:])) for part in tokens if len(part) < 6]


def _heads_in_url(count: int) -> tuple[int, ...]:
    parts = st.query_params.get("heads", "").split(",")
    return tuple(int(part) - 1 for part in parts if part.isdecimal() and len(part) < 4 and 1 <= int(part) <= count)


def _threshold_in_url() -> float:
    number = re.fullmatch(r"0\.\d{1,4}|[01]", st.query_params.get("threshold", ""))
    return float(number[0]) if number else THRESHOLD


def _to_url(name: str, value: str) -> None:
    if value:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]
