"""Positional encodings added to the tokens, and a table of positional encodings of any kind and size."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float

from pages.positions.explained_numbers import explain_entry, explain_mean_bias, explain_sum, explain_turn
from pages.shell.view.explained_chart import frames, show_explained
from pages.shell.view.map_names import map_names
from pages.shell.view.second_run import SecondRun
from pages.shell.view.two_runs import difference_of, show_both_rows
from pages.shell.view.view import View
from pages.ui.chart import event
from pages.ui.charts import chart, show
from pages.ui.format import fixed, numbered_tokens
from pages.ui.limits import POSITION_DIMENSIONS, POSITIONS, POSITIONS_FIRST
from pages.ui.pickers import pick, pick_number, unfolding
from pages.ui.text import figure_labels, text
from transformer import Trace
from transformer.analysis.position_geometry import sinusoidal_table, untrained_table
from transformer.analysis.word_trace import Group, row_groups, word_groups, word_means
from transformer.figures.head_steps_figures import Matrix, tensor_map
from transformer.figures.position_geometry_figures import position_map
from transformer.figures.token_geometry_figures import aligned_maps
from transformer.pipeline.pipeline import Side
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import Kind
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


def show_sum(view: View, trace: Trace, shown: Trace) -> None:
    """Draw token + position = input for the first sentence, on the picked side. `shown` is `trace`, or `trace` between words
    (`pick_words`)."""
    words, config = text("positions"), view.pipeline.config
    if not any(f"{side}_embedding.position" in trace and f"{side}_embedding.sum" in trace for side in trace.sides):
        show_recorded(view, trace, shown)
        return
    side = pick(words["side"], trace.sides, "side")
    tokens, pieces = shown.tokens_of(side)[0], _pieces(trace, shown, side)
    names = {
        "token": "scaled" if config.scale_embedding else "token",
        "position": "position",
        "type": "token_type",
        "input": "sum",
    }
    paths = {name: f"{side}_embedding.{last}" for name, last in names.items()}
    parts = {name: _rows(trace, path) for name, path in paths.items() if path in trace}
    factor, scaled = math.sqrt(config.d_model), config.scale_embedding
    if not scaled and _adds_up(scaled_parts := parts | {"token": parts["token"] * np.float32(factor)}):
        parts, scaled = scaled_parts, True  # Marian multiplies outside of all modules, so the product is not recorded
    vectors = {name: word_means(values, pieces) for name, values in parts.items()}
    st.markdown(words[f"sum_{config.position}"].format(max_len=config.max_len))
    if "type" in parts:
        st.markdown(words["sum_type"])
    first = words["panel_scaled"].format(factor=fixed(factor, 3)) if scaled else words["panel_token"]
    titles = [first, *(words[f"panel_{name}"] for name in parts if name != "token")]
    panels = dict(zip(titles, vectors.values(), strict=True))
    scale = factor if scaled else 1
    figure = chart(aligned_maps, panels, tokens, words["token"], words["dimension"])
    show_explained(
        figure,
        "positions-sum",
        words["sum_alt"].format(count=len(tokens), d_model=config.d_model, panels="; ".join(titles)),
        lambda at: explain_sum(parts, tokens, pieces, scale, view.pipeline.trained, at),
        vectors["input"].shape,
        marks=lambda at: frames(at, len(panels)),
        traces=len(panels),
    )
    st.caption(words["sum_scale"])
    if table := unfolding(words["numbers"], ":material/table:", "numbers"):
        with table:
            _show_vectors(vectors, numbered_tokens(tokens))


def _adds_up(parts: Mapping[str, np.ndarray]) -> bool:
    """Whether the parts of a sum add up to its `input`, apart from rounding."""
    total = sum(values for name, values in parts.items() if name != "input")
    return np.allclose(total, parts["input"], atol=1e-4)


def _pieces(trace: Trace, shown: Trace, side: Side) -> tuple[Group, ...]:
    """The positions of the pieces of each word that is drawn; if words are not joined, the position of each token."""
    return row_groups((), len(trace.tokens_of(side)[0])) if shown is trace else word_groups(trace, side)


def _rows(trace: Trace, path: str) -> Float[np.ndarray, "position d_model"]:
    """The rows of a tensor for the first text, with or without an axis of texts."""
    values = trace[path].numpy()
    return values.reshape(-1, *values.shape[-2:])[0]


def show_both_positions(view: View, trace: Trace, second: SecondRun) -> None:
    """Draw the position vectors that are added in the run of the page and in a second run, and their difference."""
    words, side = text("second_run"), st.session_state.get("side")
    side = side if side in trace.sides else trace.sides[0]
    difference, path = difference_of(view, trace, second), f"{side}_embedding.position"
    if path not in difference:
        st.info(words["no_position_vectors"], icon=":material/info:")
        return
    show_both_rows(difference, path, side, words["position_vectors"])


def show_recorded(view: View, trace: Trace, shown: Trace) -> None:
    """Draw positions that are not added to the tokens. The model uses them as angles by which queries and keys are turned, or
    as a bias on the scores. `shown` is `trace`, or `trace` between words (`pick_words`)."""
    words = text("positions")
    st.markdown(words[f"sum_{view.pipeline.config.position}"])
    side = trace.sides[-1]
    tokens, pieces = shown.tokens_of(side)[0], _pieces(trace, shown, side)
    if "rotary.cos" in trace:
        cosines, sines = (_rows(trace, f"rotary.{name}") for name in ("cos", "sin"))
        panels = {words["panel_cos"]: word_means(cosines, pieces), words["panel_sin"]: word_means(sines, pieces)}
        show_explained(
            chart(aligned_maps, panels, tokens, words["token"], words["dimension"]),
            "positions-turned",
            words["turned_alt"].format(count=len(tokens)),
            lambda at: explain_turn(cosines, sines, tokens, pieces, at),
            (len(tokens), cosines.shape[1]),
            marks=lambda at: frames(at, 2),
            traces=2,
        )
        st.caption(words["turned"])
    for kind in trace.kinds:
        path, of = str(kind.path(0) / "position_bias"), Kind.of(kind)
        if path in shown and of.queries == of.keys:
            values = shown[path].numpy()
            biases = values.reshape(-1, *values.shape[-3:])[0]  # between words the bias also has an axis of texts
            bias = biases.mean(0)
            queries, keys = map_names(view, shown, kind)
            hidden = ~shown.allowed(kind)[0, 0].any(0).numpy()
            matrix = Matrix(bias, queries, keys, words["query"], words["key"], signed=True, hidden=hidden)
            st.markdown(f"**{words['panel_bias'].format(kind=kind)}**")
            figure = chart(tensor_map, matrix, labels=figure_labels())
            show_explained(
                figure,
                f"positions-bias-{kind}",
                words["bias_alt"].format(count=len(bias), kind=kind),
                partial(explain_mean_bias, biases, queries, keys, _pieces(trace, shown, of.queries)),
                bias.shape,
            )
            st.caption(words["bias_says"])
    if view.pipeline.note:
        st.caption(view.pipeline.note)


def _show_vectors(vectors: Mapping[str, np.ndarray], rows: list[str]) -> None:
    """Draw the length of every vector of a sum, and the numbers of one of its parts."""
    words = text("positions")
    st.caption(words["numbers_text"])
    lengths = {words["columns"][name]: np.linalg.norm(values, axis=1) for name, values in vectors.items()}
    st.dataframe(pd.DataFrame(lengths, rows))
    st.dataframe(pd.DataFrame(vectors[pick(words["numbers_of"], list(vectors), "vector")], rows))


def pick_table(view: View, trace: Trace) -> Table:
    """The table picked by kind and size. If the model has learned positions, it is also picked by side, because each side has
    its own table. A model's own learned table keeps the model's width; other tables can have any width."""
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
    """The number of rows of a learned table that training used. A source has a start and an end token around its text, and a
    decoder input has a start token before it. In a task with learned positions, targets are as long as sources."""
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
    """Draw a box for a whole number; returns the number, or None while the box is empty. It is kept in the URL under `key`."""
    words = text("positions")
    help = words[f"pick_{key}_help"].format(least=least, most=most)
    return pick_number(words[f"pick_{key}"], key, least, most, first, placeholder, help, disabled)


def pick_cell(table: Table) -> tuple[int, int]:
    """Draw boxes for a position and a dimension of a table; returns the picked ones."""
    row = whole("position", 0, table.positions - 1, min(3, table.positions - 1))
    column = whole("dimension", 0, table.d_model - 1, min(4, table.d_model - 1))
    return row or 0, column or 0


def show_cell(table: Table) -> None:
    """Draw boxes to pick a number of the table, how it is computed, and the whole table with the number marked."""
    words = text("positions")
    with st.container(horizontal=True):
        row, column = pick_cell(table)
    explain_entry(table.kind, table.values, row, column)
    figure = chart(position_map, table.values, (row, column), labels=figure_labels())
    alt = words["table_alt"].format(positions=table.positions, d_model=table.d_model)
    show(figure, TABLE, alt, asks={"click": lambda: _pick_clicked(table)})
    st.caption(words["click"])


def _pick_clicked(table: Table) -> None:
    """Pick the number whose cell was clicked."""
    place = event(TABLE, "click")
    for key, name, count in (("position", "y", table.positions), ("dimension", "x", table.d_model)):
        index = place.get(name)
        if type(index) is int and 0 <= index < count:
            st.session_state[key] = index
