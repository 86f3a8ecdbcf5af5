"""A table of positional encodings of any kind and size, and one number of it."""

from typing import Literal, NamedTuple

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.positions.explained_numbers import explain_entry
from pages.shell.view.view import View
from pages.ui.chart import event
from pages.ui.charts import chart, show
from pages.ui.component import is_index
from pages.ui.limits import POSITION_DIMENSIONS, POSITIONS, POSITIONS_FIRST
from pages.ui.pickers import pick, pick_number
from pages.ui.text import text
from transformer import Trace
from transformer.analysis.position_geometry import sinusoidal_table, untrained_table
from transformer.figures.position_geometry_figures import position_map
from transformer.pipeline.pipeline import Side
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.trace import as_array

# A learned table before training, for comparison with the model's own table.
BEFORE = "learned-before-training"
# The key of the chart of a table.
TABLE = "positions-table"


class Table(NamedTuple):
    """The picked table of positional encodings.

    Attributes:
        values: one row for each position.
        kind: `sinusoidal` or `learned`.
        own: whether the loaded model uses these numbers.
        trained: whether training learned these numbers.
    """

    values: Float[np.ndarray, "position d_model"]
    kind: Literal["sinusoidal", "learned"]
    own: bool
    trained: bool

    @property
    def positions(self) -> int:
        """The number of rows of the table."""
        return self.values.shape[0]

    @property
    def d_model(self) -> int:
        """The number of columns of the table."""
        return self.values.shape[1]


def pick_table(view: View, trace: Trace) -> Table:
    """Draw pickers of the kind and the size of a table; returns the table. If the model has learned positions, also draw a
    picker of the side, because each side has its own table. A model's own learned table keeps the model's width; other tables
    can have any width."""
    words, config, pipeline = text("positions"), view.pipeline.config, view.pipeline
    side = pick(words["side"], trace.sides, "side") if config.position == "learned" else trace.sides[0]
    before = (BEFORE,) if pipeline.trained else ()
    given = pipeline.position_table(side)
    own_kind = config.position if given is not None else None
    kinds = ("learned", *before, "sinusoidal") if own_kind == "learned" else ("sinusoidal", "learned")
    # If the model changes to one with the other kind of positions, pick that kind. On a first visit the link decides.
    if st.session_state.get("positions_of") not in (None, config.position):
        st.session_state["table"] = kinds[0]
    st.session_state["positions_of"] = config.position
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = pick(words["kind"], kinds, "table", help=words["kind_help"])
        own = kind == own_kind
        # The model's own learned table cannot be made longer or wider.
        fixed = own and kind == "learned"
        most = min(POSITIONS, config.max_len) if fixed else POSITIONS
        learned = own_kind == "learned" and pipeline.trained and kind != "sinusoidal"
        first = min(most, trained_rows(pipeline, side) if learned else config.max_len, POSITIONS_FIRST)
        placeholder = words["length_trained" if learned else "length_own"].format(length=first)
        length = whole("length", 2, most, placeholder=placeholder)
        width = min(config.d_model, POSITION_DIMENSIONS)
        d_model = whole("width", 1, POSITION_DIMENSIONS, placeholder=words["d_model_own"].format(width=width), disabled=fixed)
    positions, wide = length or first, config.d_model if fixed else d_model or width
    if kind == "sinusoidal":
        values = sinusoidal_table(positions, wide)
        # Marian has the same sines and cosines, but in another order of dimensions.
        own = own and given is not None and wide == config.d_model and np.allclose(values[:2], as_array(given)[:2])
    elif fixed:
        assert given is not None
        values = as_array(given)[:positions]
    else:
        values = untrained_table(positions, wide)
    table = Table(values, "sinusoidal" if kind == "sinusoidal" else "learned", own, fixed and pipeline.trained)
    st.caption(origin(table, config.max_len, side))
    if table.trained and pipeline.card.recipe:  # only its recipe says how long the texts of a training were
        st.caption(words["rows_trained"].format(rows=trained_rows(pipeline, side), longest=pipeline.card.longest))
    return table


def trained_rows(pipeline: TextPipeline, side: Side) -> int:
    """The number of rows of a learned position table that training used. A source has a start and an end token around its text,
    and a decoder input has a start token before it. In a task with learned positions, targets are as long as sources."""
    return min(pipeline.config.max_len, pipeline.card.longest + (2 if side == "source" else 1))


def origin(table: Table, max_len: int, side: Side) -> str:
    """A sentence that says where the numbers of a table come from."""
    words = text("positions")
    if table.kind == "sinusoidal":
        name = "origin_own" if table.own else "origin_other"
    else:
        name = "origin_trained" if table.trained else "origin_untrained" if table.own else "origin_drawn"
    shown = words["of_all"].format(max_len=max_len) if table.own and table.positions < max_len else ""
    return words[name].format(positions=table.positions, d_model=table.d_model, side=side) + shown


def whole(
    key: str, least: int, most: int, first: int | None = None, placeholder: str | None = None, disabled: bool = False
) -> int | None:
    """Draw a box for a whole number from `least` to `most`; returns the number, or None while the box is empty. It is kept in
    the URL under `key`, which also names the texts of the box. `first` is the initial number; None for an empty box."""
    words = text("positions")
    help = words[f"pick_{key}_help"].format(least=least, most=most)
    return pick_number(words[f"pick_{key}"], key, least, most, first, placeholder, help, disabled)


def pick_cell(table: Table) -> tuple[int, int]:
    """Draw boxes for a position and a dimension of a table; returns both, counted from 0."""
    row = whole("position", 0, table.positions - 1, min(3, table.positions - 1))
    column = whole("dimension", 0, table.d_model - 1, min(4, table.d_model - 1))
    return row or 0, column or 0


def show_cell(table: Table) -> None:
    """Draw boxes to pick a number of the table, how this number is computed, and the whole table with the number marked."""
    words = text("positions")
    with st.container(horizontal=True):
        row, column = pick_cell(table)
    explain_entry(table.kind, table.values, row, column)
    figure = chart(position_map, table.values, (row, column))
    alt = words["table_alt"].format(positions=table.positions, d_model=table.d_model)
    show(figure, TABLE, alt, asks={"click": lambda: _pick_clicked(table)})
    st.caption(words["click"])


def _pick_clicked(table: Table) -> None:
    """Pick the number whose cell was clicked."""
    place = event(TABLE, "click")
    for key, name, count in (("position", "y", table.positions), ("dimension", "x", table.d_model)):
        index = place.get(name)
        if is_index(index, count):
            st.session_state[key] = index
