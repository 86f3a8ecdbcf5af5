"""One head's attention step by step, and the computation of any single number in it."""

import math
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages.attention.attention_steps_words import say, source_of
from pages.shell.frame.parts import scroll_to
from pages.shell.view.explained_number import Sides, labels, show_number
from pages.shell.view.map_names import map_names
from pages.shell.view.view import View
from pages.ui.cards import card
from pages.ui.chart import event, narrowness
from pages.ui.charts import chart, show
from pages.ui.component import is_index
from pages.ui.escaping import literal
from pages.ui.format import number, numbered_tokens
from pages.ui.link_values import choose, refuse, unread
from pages.ui.pickers import kept_number, option_id, pick_or_none, read_number, unfolding
from pages.ui.source import show_source
from pages.ui.text import text
from transformer import Trace, TransformerConfig
from transformer.analysis.cell import explain
from transformer.analysis.head_steps import AttentionStep, attention_steps
from transformer.analysis.query_to_show import cell_to_show
from transformer.figures import KIND_COLORS
from transformer.figures.head_steps_figures import MAP_WIDTH, MAPS_ACROSS, Matrix, tensor_map, tensor_maps
from transformer.network.config import NetworkConfig

# Row and column of a number in the matrix of a step.
Cell = tuple[int, int]
# Up to LISTED characters, the numbers of a row are shown in full. Longer text scrolls in a box LISTED_HEIGHT pixels high.
LISTED, LISTED_HEIGHT = 600, 130
ACROSS = 3
NARROW_ACROSS = 3  # matrices in a line of the overview, if the page is narrow
# Names in the URL. `query`: the query that is followed, below a large map and through the matrices of all steps. `row`: the
# row of the opened number in the matrix of its step.
QUERY, ROW = "query", "row"


def show_steps(view: View, trace: Trace, kind: str, layer: int, head: int) -> None:
    """Show the matrices of all attention steps of one head; or if a step is picked, only its matrix, with the computation of
    one number. A click on a number opens its computation. One query's row is framed in all matrices whose rows are queries.
    `kind` is `encoder`, `decoder` or `cross`; `layer` and `head` are counted from 0."""
    words = text("steps")
    steps = attention_steps(trace, kind, layer, head)
    model, (queries, keys) = view.pipeline.model, map_names(view, trace, kind)
    sides = {"query": numbered_tokens(queries), "key": numbered_tokens(keys)}
    (width,) = (step.values.shape[1] for step in steps if step.name == "head_output")
    own_columns = head * width, (head + 1) * width
    st.markdown(words["intro"])
    first, _ = cell_to_show(trace, kind, layer, head)
    names = {step.name: words["steps"][step.name]["title"] for step in steps}
    name = pick_or_none(words["step"], list(names), "step", as_list=False, labels=names)
    step = next((step for step in steps if step.name == name), None)
    is_query = step is None or step.tokens[0] == "query"
    if is_query:
        take_linked_row(len(queries))
    row = kept_number(QUERY, 0, len(queries) - 1, first)
    if is_query:
        st.caption(words["framed"].format(query=literal(sides["query"][row])))
    if step is None:
        _show_overview(steps, own_columns, sides, row)
        if fold := unfolding(words["all"], ":material/functions:", "all_steps"):
            with fold:
                _show_words(steps, trace.config, kind, head)
    else:
        with card("step", gap="xsmall"):
            place = steps.index(step) + 1
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                st.markdown(f"**{words['heading'].format(number=place, title=names[step.name])}**", width="content")
                st.button(words["back"], key="all_matrices", icon=":material/grid_view:", type="tertiary", on_click=_close)
            rows, columns = step.values.shape
            first = row if is_query else 0
            cell = kept_number(ROW, 0, rows - 1, first), kept_number("column", 0, columns - 1, 0)
            _show_matrix(step, own_columns, sides, row, cell)
            left, right = st.columns([1, 2])
            with left:
                say(step, trace.config, kind, head)
            explained = explain(model, trace, kind, layer, head, step.name, *cell)
            show_number(step, explained, sides, KIND_COLORS[kind], right)
            _show_row(step, trace, kind, sides, row)


# --- the followed row ----------------------------------------------------------------------------------------------------


def take_linked_row(count: int) -> None:
    """If the URL has `row` but no `query`, take `row` as the index of the query to frame in the figures: some links have only
    the row of a number, older links the row of a large map. Refuse an index that is not below `count`, the number of queries.
    Call this before the framed query is read, if the rows of the figure are queries."""
    asked = unread(ROW)
    if asked is None or QUERY in st.query_params:
        return
    del st.query_params[ROW]
    try:
        read_number(asked, 0, count - 1)
    except ValueError:
        refuse(ROW, asked)
    else:
        choose(QUERY, asked)


# --- the picked number -------------------------------------------------------------------------------------------------


def open_number(step: str, row: object, column: object, query: object = None) -> None:
    """Open the computation of one number of the step named `step`, after a click on its cell. Row and column come from the
    browser, from 0; invalid ones open nothing. `query` is the index of the query to frame; None keeps the current one."""
    if is_index(row) and is_index(column):
        for name, value in {"part": "steps", "step": step, ROW: row, "column": column, QUERY: query}.items():
            if value is not None:
                choose(name, option_id(value))
        scroll_to("card-step", part="head")


def _close() -> None:
    """Go back to the matrices of all steps."""
    st.session_state["step"] = None


# --- the matrices ------------------------------------------------------------------------------------------------------


def _show_overview(steps: Sequence[AttentionStep], own_columns: tuple[int, int], sides: Sides, row: int) -> None:
    """Show the matrices of all steps in order, in one figure. `own_columns` are the first column of the head in the
    concatenated heads, and the first column after it; `row` is the followed query."""
    words = text("steps")
    matrices = []
    for place, step in enumerate(steps, start=1):
        matrix = _matrix(step, own_columns, sides, row, None)
        rows, columns = (f"{axis} {size}" for axis, size in zip(step.axes, step.values.shape, strict=True))
        title = words["heading"].format(number=place, title=words["steps"][step.name]["title"])
        matrices.append(replace(matrix, title=title, row_title=rows, column_title=columns))
    titles = ", ".join(words["steps"][step.name]["title"] for step in steps)
    alt = words["overview_alt"].format(count=len(steps), titles=titles)
    figure = chart(tensor_maps, matrices, NARROW_ACROSS if narrowness("steps") else MAPS_ACROSS)
    show(figure, "steps", alt, asks={"click": lambda: _open_cell("steps", steps)}, narrow=[MAPS_ACROSS * MAP_WIDTH])
    st.caption(words["scales"])


def _open_cell(key: str, steps: Sequence[AttentionStep]) -> None:
    """Open the number that was clicked in the chart `key`, which has one heatmap for each of `steps`, in their order."""
    sent = event(key, "click")
    axis = sent.get("axis")
    if is_index(axis, len(steps) + 1) and axis > 0:
        step, row = steps[axis - 1], sent.get("y")
        open_number(step.name, row, sent.get("x"), row if step.tokens[0] == "query" else None)


def _show_words(steps: Sequence[AttentionStep], config: NetworkConfig, kind: str, head: int) -> None:
    """Show the title, reason, formula and shape of every step, side by side."""
    words = text("steps")
    for first in range(0, len(steps), ACROSS):
        for column, place in zip(st.columns(ACROSS), range(first, min(first + ACROSS, len(steps))), strict=False):
            with card(f"step-{place}", column, height="stretch"):
                step = steps[place]
                title = words["heading"].format(number=place + 1, title=words["steps"][step.name]["title"])
                st.markdown(f"**{title}**")
                say(step, config, kind, head)


def _show_matrix(step: AttentionStep, own_columns: tuple[int, int], sides: Sides, row: int, cell: Cell) -> None:
    """Show the matrix of one step, large enough to read, with the followed row and the opened cell framed. A click on a number
    opens it."""
    matrix = _matrix(step, own_columns, sides, row, cell)
    alt, key = _alt(text("steps")["steps"][step.name]["title"], step), f"step-{step.name}"
    show(chart(tensor_map, matrix), key, alt, asks={"click": lambda: _open_cell(key, [step])})


def _show_row(step: AttentionStep, trace: Trace, kind: str, sides: Sides, row: int) -> None:
    """Show the numbers of the followed row, and the code that computes the step. If the rows are not queries, write instead
    that no single row belongs to a query."""
    words, config = text("steps"), trace.config
    if step.tokens[0] != "query":
        st.caption(words["every_row"])
    else:
        if step.name == "weights" and step.hidden[row].all():
            fate = words["empty_zero" if config.mask_fill == -math.inf else "empty_uniform"]
            st.markdown(words["empty_row"].format(fate=fate))
        if fold := unfolding(words["followed"].format(row=literal(sides["query"][row])), ":material/123:", "row_numbers"):
            listed = _listed(step, sides, row)
            fold.code(listed, language=None, wrap_lines=True, height=LISTED_HEIGHT if len(listed) > LISTED else "content")
    if isinstance(config, TransformerConfig) and (lines := unfolding(words["lines"], ":material/code:", "lines")):
        with lines:
            show_source(source_of(step.name, config, kind))


def _matrix(step: AttentionStep, own_columns: tuple[int, int], sides: Sides, row: int, cell: Cell | None) -> Matrix:
    axes = text("steps")["axes"]
    rows, columns = (None if side is None else [name.partition(" · ")[2] for name in sides[side]] for side in step.tokens)
    return Matrix(
        step.values,
        rows,
        columns,
        axes[step.axes[0]],
        axes[step.axes[1]],
        signed=step.name != "weights",
        # A query attends to all keys, so no single row of keys or values belongs to it.
        selected_row=row if step.tokens[0] == "query" else None,
        selected_cell=cell,
        hidden=step.hidden,
        marked_columns=own_columns if step.name == "concatenated" else None,
    )


def _alt(title: str, step: AttentionStep) -> str:
    words, (rows, columns) = text("steps"), step.values.shape
    row_axis, column_axis = (words["axes"][axis] for axis in step.axes)
    return words["alt"].format(title=title, rows=rows, columns=columns, row_axis=row_axis, column_axis=column_axis)


def _listed(step: AttentionStep, sides: Sides, row: int) -> str:
    """The numbers of a row as text. If the columns have tokens, each number has its token."""
    listed, columns = [number(value) for value in step.values[row].tolist()], labels(step, sides, 1)
    if columns is not None:
        listed = [f"{name}: {value}" for value, name in zip(listed, columns, strict=True)]
    return "   ".join(listed)
