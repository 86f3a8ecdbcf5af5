"""One head as a heatmap, with its numbers and downloads."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Bool, Float

from pages.attention.attention_steps import QUERY, open_number, take_linked_row
from pages.lessons import Marks, asked_here
from pages.shell.models.untrained_models import BYTES_EACH
from pages.shell.view.card_heads import head_title
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.chart import event, narrowness
from pages.ui.charts import chart, show
from pages.ui.escaping import literal
from pages.ui.export_menu import download
from pages.ui.format import byte_size, linked_token, numbered_tokens
from pages.ui.head_grid import strongest_rows
from pages.ui.limits import MAP_TOKENS, TRACE_FILE_MEGABYTES
from pages.ui.pickers import slide, unfolding
from pages.ui.text import text
from pages.ui.weights_table import weights_table
from transformer import Trace
from transformer.figures import head_map, small_head_map
from transformer.figures.attention_figures import LEAST_WRITTEN, has_numbers
from transformer.figures.reduction import reduced_map
from transformer.figures.theme import COUNTED
from transformer.pipeline.trace_export import trace_file
from transformer.text.pieces import SPACE, joined_label
from transformer.tracing.paths import Kind, Side

KEY = "head-map"
# This many tokens of the answer are listed, each with a link to the step that wrote it.
MOST_LINKS = 40


def show_map(view: View, trace: Trace, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Draw the weights of one head as a heatmap; if its queries predict the model's answer, list the answer's tokens. `shown`
    is `trace`, or the same trace with pieces joined to words. `kind` is e.g. `cross`; `layer` and `head` are from 0."""
    words = text("attention")
    weights, allowed = shown.head(kind, layer, head).numpy(), shown.head_allowed(kind, layer, head).numpy()
    read, (queries, keys) = shown.tokens(kind)[0], map_names(view, shown, kind)
    rows, columns, positions = range(len(queries)), range(len(keys)), COUNTED
    # The key says which part the picture belongs to: links scroll to it (arrival.js).
    picture, switches = st.container(key="part-map"), st.container(horizontal=True)
    hide = switches.toggle(words["hide_special"], key="hide_special", bind="query-params")
    if hide:
        rows, columns = (_not_special(view, shown, side) for side in (Kind.of(kind).queries, Kind.of(kind).keys))
        positions = rows, columns
        again = switches.toggle(words["renormalize"], key="renormalize", bind="query-params")
        weights, allowed = weights[np.ix_(rows, columns)], allowed[np.ix_(rows, columns)]
        queries, keys = [queries[position] for position in rows], [keys[position] for position in columns]
        if again:
            total = weights.sum(-1, keepdims=True)
            weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        st.caption(words["renormalized"] if again else words["not_renormalized"])
        if not weights.size:
            st.info(words["nothing_left"])
            return
    large = max(weights.shape) > MAP_TOKENS
    marks = None if hide or large else asked_here(read, keys, kind, layer, head)
    cells = _marked_cells(marks) if marks else {}
    drawn = reduced_map(weights, allowed, queries, keys, MAP_TOKENS)
    cells["positions"] = COUNTED if large else positions  # a cell of a large map stands for several tokens
    figure, narrow = chart(head_map, *drawn, least=LEAST_WRITTEN, **cells), []
    written = has_numbers(*weights.shape) and not narrowness(KEY)
    if has_numbers(*weights.shape):  # where its numbers do not fit, the map is small; a larger map scrolls sideways
        narrow = [figure.finished.least_width or 0]
        figure = figure if written else chart(small_head_map, *drawn, **cells)
    name = f"{view.model}-{kind}-layer{layer + 1}-head{head + 1}"
    alt = words["head_alt"].format(here=head_title(kind, layer, head), queries=len(queries), keys=len(keys))
    if marks:
        alt += " " + words["framed_alt"].format(query=queries[marks.query])
    if marks and marks.keys:
        named = ", ".join(linked_token(key, keys[key]) for key in marks.keys)
        alt += " " + words["marked_alt"].format(query=queries[marks.query], keys=named)
    says = f"{alt} {strongest_rows(weights, allowed, queries, keys, positions)}"
    exact = weights[None, None], allowed[None, None], queries, keys, layer + 1, head + 1, positions
    table = (lambda: weights_table(*exact)) if large else None
    # Where tokens are hidden, or pieces joined, a cell is not one weight of the run, so it opens no computation.
    asks = {"click": _open_weight} if shown is trace and not hide and not large else {}
    with picture:
        show(figure, KEY, says, name, asks=asks, tells=True, table=table, narrow=narrow)
        unwritten = written and (weights[allowed] < LEAST_WRITTEN).any()
        notes = [words["unwritten"].format(least=LEAST_WRITTEN)] if unwritten else []
        notes += [words["click"]] if asks else []
        if notes:
            st.caption(" ".join(notes))
    if large:
        _show_row(weights, allowed, queries, keys, rows, columns)
    if marks and marks.keys:
        st.caption(words["marked_first" if marks.earlier else "marked"].format(query=literal(queries[marks.query])))
    if Kind.of(kind).queries == "target" and view.target is None and view.writes:
        _show_writing(view, trace)


def show_numbers(view: View, trace: Trace, shown: Trace, kind: str, layer: int, head: int) -> None:
    """Draw the weights of a head as a table, and a button that downloads every tensor of the forward pass. `shown` is `trace`,
    or the same trace with pieces joined to words; `layer` and `head` are from 0. `kind` is e.g. `cross`."""
    words = text("attention")
    # The table is filled only while it is open, because a closed table would still be sent with every click.
    if table := unfolding(words["numbers"], ":material/table:", "numbers"):
        with table:
            rows, columns = map(numbered_tokens, map_names(view, shown, kind))
            st.dataframe(pd.DataFrame(shown.head(kind, layer, head).numpy(), rows, columns))
    size = sum(math.prod(step.shape) for step in trace) * BYTES_EACH
    if size > TRACE_FILE_MEGABYTES * 1_000_000:
        most = byte_size(TRACE_FILE_MEGABYTES * 1_000_000)
        st.caption(words["trace_too_large"].format(size=byte_size(size), most=most))
        return
    download(words["trace"], lambda: trace_file(view.trace()), f"{view.model}-trace.safetensors")


def _open_weight() -> None:
    row, column = (event(KEY, "click").get(axis) for axis in ("query", "key"))
    open_number("weights", row, column, row)


def _show_row(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    rows: Sequence[int],
    columns: Sequence[int],
) -> None:
    """For a large map: write how many rows and columns of weights each cell shows; draw a picker of rows, and every weight of
    the picked row. `rows` and `columns` are the positions of the queries and of the keys. If the picked query is hidden, the
    next query that is not hidden is shown."""
    words, first, last = text("attention"), rows[0], rows[-1]
    say_cells(weights.shape, MAP_TOKENS, "map_reduced")
    take_linked_row(last + 1)
    row = bisect_left(rows, slide(words["row"], first, last, last, 1, QUERY)) if last > first else 0
    label = linked_token(rows[row], queries[row])
    st.markdown(f"**{words['row_title'].format(query=literal(label))}**")
    cells = weights[row : row + 1], allowed[row : row + 1]
    figure = chart(head_map, *cells, [label], keys, wide=True, positions=([0], columns))
    show(figure, "head-row", words["row_alt"].format(query=label, keys=len(keys)))


def say_cells(shape: Sequence[int], most: int, name: str = "cells") -> None:
    """If a matrix of this shape was reduced to a map of at most `most` cells on a side, write how many rows and columns each
    cell stands for. `name` is the key of the sentence in the page's texts."""
    if max(shape) > most:
        rows, columns = (-(-count // most) for count in shape)
        st.caption(text("attention")[name].format(rows=rows, columns=columns))


def _marked_cells(marks: Marks) -> dict[str, Any]:
    """The marked cells and the row that is asked about, as arguments of `head_map`."""
    kinds = {"marks": marks.keys, "earlier_marks": marks.earlier}
    return {name: [(marks.query, key) for key in keys] for name, keys in kinds.items() if keys} | {"row": marks.query}


def _not_special(view: View, shown: Trace, side: Side) -> list[int]:
    """The positions of the first text's tokens on a side, without those of special tokens. Unknown words are included."""
    vocabulary = view.pipeline.vocabulary(side)
    special = {*vocabulary.specials} - {vocabulary.unk}
    return [position for position, token_id in enumerate(shown.ids_of(side)[0]) if token_id not in special]


def _show_writing(view: View, trace: Trace) -> None:
    """List the tokens of the answer, each with a link to the step that wrote it."""
    words, first, vocabulary = text("attention"), view.first_row(), view.pipeline.vocabulary("target")
    written = vocabulary.tokens_of(view.expected(trace)[first:])
    links = [
        f"[{literal(joined_label([token]))}]({view.address('decoding', step=step)})"
        for step, token in enumerate(written[:MOST_LINKS], 1)
        if token != SPACE  # a space alone shows nothing to click on
    ]
    links += ["…"] if len(written) > MOST_LINKS else []
    st.caption(words["rows_wrote"].format(links=" · ".join(links)))
