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
from pages.ui.escaping import literal
from pages.ui.format import number, numbered_tokens
from pages.ui.link_values import choose
from pages.ui.pickers import option_id, pick, pick_or_none, pick_position, unfolding
from pages.ui.source import show_source
from pages.ui.text import figure_labels, text
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


def show_steps(view: View, trace: Trace, kind: str, layer: int, head: int) -> None:
    """Show every matrix of one head, from input to output, with pickers and the computation of one picked number."""
    words = text("steps")
    steps = attention_steps(trace, kind, layer, head)
    model, (queries, keys) = view.pipeline.model, map_names(view, trace, kind)
    sides = {"query": numbered_tokens(queries), "key": numbered_tokens(keys)}
    (width,) = (step.values.shape[1] for step in steps if step.name == "head_output")
    own_columns = head * width, (head + 1) * width
    st.markdown(words["intro"])
    first, _ = cell_to_show(trace, kind, layer, head)
    row = pick_position(words["row"], queries, "query", first=first, on_change=_follow)
    overview = st.container()
    name = _pick_step(steps)
    step = next((step for step in steps if step.name == name), None)
    cell = None
    if step is not None:
        with card("step"):
            say(steps.index(step) + 1, step, trace.config, kind, head)
            cell = _pick_cell(step, sides, row)
            explained = explain(model, trace, kind, layer, head, step.name, *cell)
            show_number(step, explained, sides, KIND_COLORS[kind])
            _show_matrix(step, trace, kind, own_columns, sides, row, cell)
    with overview:
        _show_overview(steps, own_columns, sides, row, (name, cell))
    st.subheader(words["all"], anchor=False)
    _show_words(steps, trace.config, kind, head)


# --- pickers -----------------------------------------------------------------------------------------------------------


def _pick_step(steps: Sequence[AttentionStep]) -> str | None:
    """The name of the step whose numbers are explained, or None."""
    words = text("steps")
    labels = {step.name: words["steps"][step.name]["title"] for step in steps}
    return pick_or_none(words["step"], list(labels), "step", as_list=False, labels=labels)


def _pick_cell(step: AttentionStep, sides: Sides, row: int) -> Cell:
    """Row and column of the picked number of a step. By default, the row is the followed row, if the rows of the step are
    queries."""
    words, places = text("steps"), []
    first = row if step.tokens[0] == "query" else 0
    for place, axis, key in zip(st.columns(2), (0, 1), ("row", "column"), strict=True):
        names = dict(enumerate(labels(step, sides, axis) or ()))
        with place:
            label = words[f"cell_{key}_of"].format(axis=words["axes"][step.axes[axis]])
            options = range(step.values.shape[axis])
            places.append(pick(label, options, key, as_list=True, labels=names, first=0 if axis else first))
    return places[0], places[1]


def open_number(step: str, row: object, column: object, query: int | None = None) -> None:
    """Open the computation of one number of a step, after a click on its cell. Row and column come from the browser: values
    that are not whole numbers are ignored, and the pickers limit the others to the matrix."""
    if isinstance(row, int) and isinstance(column, int):
        for name, value in {"part": "steps", "step": step, "row": row, "column": column, "query": query}.items():
            if value is not None:
                choose(name, option_id(value))
        scroll_to("card-step", part="head")


def _follow() -> None:
    """Move the picked cell to the followed row."""
    st.session_state["row"] = st.session_state["query"]


# --- the matrices ------------------------------------------------------------------------------------------------------


def _show_overview(
    steps: Sequence[AttentionStep],
    own_columns: tuple[int, int],
    sides: Sides,
    row: int,
    picked: tuple[str | None, Cell | None],
) -> None:
    """Show the matrices of all steps in order, in one figure."""
    words, (name, cell) = text("steps"), picked
    matrices = []
    for place, step in enumerate(steps, start=1):
        matrix = _matrix(step, own_columns, sides, row, cell if step.name == name else None)
        rows, columns = (f"{axis} {size}" for axis, size in zip(step.axes, step.values.shape, strict=True))
        title = words["heading"].format(number=place, title=words["steps"][step.name]["title"])
        matrices.append(replace(matrix, title=title, row_title=rows, column_title=columns))
    titles = ", ".join(words["steps"][step.name]["title"] for step in steps)
    alt = words["overview_alt"].format(count=len(steps), titles=titles)
    figure = chart(tensor_maps, matrices, NARROW_ACROSS if narrowness("steps") else MAPS_ACROSS, labels=figure_labels())
    show(figure, "steps", alt, asks={"click": lambda: _open_cell("steps", steps)}, narrow=[MAPS_ACROSS * MAP_WIDTH])
    st.caption(words["scales"])


def _open_cell(key: str, steps: Sequence[AttentionStep]) -> None:
    """Open the number that was clicked in a chart with one picture for each of the steps."""
    sent = event(key, "click")
    axis = sent.get("axis")
    if isinstance(axis, int) and 0 < axis <= len(steps):
        open_number(steps[axis - 1].name, sent.get("y"), sent.get("x"))


def _show_words(steps: Sequence[AttentionStep], config: NetworkConfig, kind: str, head: int) -> None:
    """Show the title, reason, formula and shape of every step, side by side."""
    for first in range(0, len(steps), ACROSS):
        for column, place in zip(st.columns(ACROSS), range(first, min(first + ACROSS, len(steps))), strict=False):
            with card(f"step-{place}", column, height="stretch"):
                say(place + 1, steps[place], config, kind, head)


def _show_matrix(
    step: AttentionStep, trace: Trace, kind: str, own_columns: tuple[int, int], sides: Sides, row: int, cell: Cell
) -> None:
    """Show the matrix of one step at reading size, the numbers of the followed row, and the code that computes it."""
    words, config = text("steps"), trace.config
    matrix = _matrix(step, own_columns, sides, row, cell)
    alt, key = _alt(words["steps"][step.name]["title"], step), f"step-{step.name}"
    show(chart(tensor_map, matrix, labels=figure_labels()), key, alt, asks={"click": lambda: _open_cell(key, [step])})
    if matrix.selected_row is None:
        st.caption(words["every_row"])
    else:
        listed = _listed(step, sides, row)
        st.caption(words["followed"].format(row=literal(sides["query"][row])))
        st.code(listed, language=None, wrap_lines=True, height=LISTED_HEIGHT if len(listed) > LISTED else "content")
        if step.name == "weights" and step.hidden[row].all():
            fate = words["empty_zero" if config.mask_fill == -math.inf else "empty_uniform"]
            st.markdown(words["empty_row"].format(fate=fate))
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
