"""Three views of a table of positions: its columns as waves, its dot products, and rotation by a fixed shift."""

import math
from contextlib import AbstractContextManager
from itertools import chain

import numpy as np
import streamlit as st

from pages.positions.differences import is_rounding, show_difference
from pages.positions.explained_numbers import DIGITS, explain_distance, explain_entry, explain_product, explain_rotation
from pages.positions.table import Table, pick_cell, whole
from pages.shell.models.catalogue import available
from pages.shell.view.explained_chart import Cell, show_explained
from pages.ui.caches import cached
from pages.ui.charts import chart, described
from pages.ui.format import number
from pages.ui.text import text
from transformer import TransformerConfig
from transformer.analysis.position_geometry import by_distance, cell, dot_products, rotation, rotation_errors, spread, wave
from transformer.figures.highlights import course
from transformer.figures.position_geometry_figures import distance_lines, product_map, rotation_map, turning_circle, waves
from transformer.pipeline.catalogue import CHECKPOINTS, SUFFIX
from transformer.pipeline.checkpoint import read_metadata

MOST_WAVES = 8
BETWEEN = 8  # points of a curve from one position to the next
# Numbers of traces: the band of `distance_lines`, and the first arrow of `turning_circle`.
BAND, ARROWS = 1, 2
SHOWN = 8  # this many rows and columns of a rotation matrix are drawn; the numbers in more cells could not be read


def show_waves(table: Table) -> None:
    """Draw the picked columns of the table as curves over the positions."""
    words, options, last = text("positions"), [str(dimension) for dimension in range(table.d_model)], table.d_model - 1
    first = list(dict.fromkeys(str(min(at, last)) for at in (0, 1, table.d_model // 8 * 2, table.d_model // 4 * 2)))
    chosen_before = st.session_state.get("waves", first)
    if not set(chosen_before) <= set(options):
        st.session_state["waves"] = [name for name in chosen_before if name in options]
    chosen = st.multiselect(
        words["waves"],
        options,
        first,
        key="waves",
        bind="query-params",
        max_selections=MOST_WAVES,
        help=words["waves_help"].format(most=MOST_WAVES),
    )
    dimensions = [int(name) for name in chosen]
    if not dimensions:
        st.info(words["waves_none"])
        return
    curves, names = None, [words["wave_learned"].format(dimension=dimension) for dimension in dimensions]
    if table.kind == "sinusoidal":
        steps = np.linspace(0, table.positions - 1, (table.positions - 1) * BETWEEN + 1)
        curves = np.stack([wave(dimension, table.d_model, steps) for dimension in dimensions], axis=1)
        cells = [cell(1, dimension, table.d_model) for dimension in dimensions]
        lengths = [number(2 * math.pi * each.divisor, 4, ",") for each in cells]
        names = [
            words["wave"].format(dimension=each.dimension, function=each.function, length=length)
            for each, length in zip(cells, lengths, strict=True)
        ]
    columns = table.values[:, dimensions]
    figure = chart(waves, dimensions, columns, curves, names)
    courses = (course({"series": name}, values) for name, values in zip(names, columns.T.tolist(), strict=True))
    alt = words["waves_alt"].format(count=len(dimensions), positions=table.positions)
    # The line of each curve between the positions is a trace of its own.
    each = 1 if curves is None else 2
    show_explained(
        figure,
        "positions-waves",
        f"{alt} {described([*chain(*courses)])}",
        lambda at: explain_entry(table.kind, table.values, at.column, dimensions[at.row // each]),
        tells=True,
    )
    st.caption(words["waves_one_speed" if curves is not None and table.d_model <= 2 else f"waves_{table.kind}"])


def show_distances(table: Table) -> None:
    """Draw the dot product of every pair of positions, and write whether it depends only on their distance."""
    words, products = text("positions"), dot_products(table.values)
    (left, right), below = st.columns(2), st.container()
    with left:
        show_explained(
            chart(product_map, products),
            "positions-products",
            words["products_alt"].format(positions=table.positions),
            lambda at: explain_product(table.values, products, at),
            place=below,
        )
    with right:
        distances = by_distance(products)
        show_explained(
            chart(distance_lines, distances, (words["band_mean"], words["band"])),
            "positions-distances",
            words["distances_alt"],
            lambda at: explain_distance(products, at, BAND),
            hint=False,
            place=below,
        )
    largest, along = abs(products).max(), spread(products)
    for place, name, value in zip(st.columns(2), ("spread", "largest"), (along, largest), strict=True):
        with place:
            show_difference(words[name], value, largest, 3, words[f"{name}_help"])
    if table.kind == "sinusoidal":
        if table.d_model % 2 == 0:
            st.markdown(words["distances_even"])
            return
        lone = words["lone_hidden" if is_rounding(along, largest) else "lone_differs"]
        st.markdown(f"{words['distances_single' if table.d_model == 1 else 'distances_odd']} {lone}")
        return
    st.markdown(words["distances_trained" if table.trained else "distances_untrained"])
    if not table.trained:
        names = shipped_with_learned_positions()
        listed = ", ".join(f"`{name}`" for name in names)
        st.info(words["shipped" if names else "none_shipped"].format(names=listed), icon=":material/school:")


@cached
def shipped_with_learned_positions() -> tuple[str, ...]:
    """The names of the shipped models with learned positions, read from the configuration in each model's file."""
    configs = {name: read_metadata(CHECKPOINTS / f"{name}{SUFFIX}")["config"] for name in available()}
    return tuple(name for name, config in configs.items() if TransformerConfig.from_json(config).position == "learned")


def show_rotation(table: Table) -> None:
    """Draw a picker of a shift, the matrix that maps each position's vector to the vector that many positions later, the error
    of this map, and one pair of dimensions on a circle."""
    words = text("positions")
    if table.kind == "learned":
        st.info(words["rotation_learned"], icon=":material/info:")
        return
    with st.container(horizontal=True):
        shift = whole("shift", 0, table.positions - 1, min(5, table.positions - 1)) or 0
        row, column = pick_cell(table)
    errors, matrix = rotation_errors(table.values, shift), rotation(shift, table.d_model)
    numbers = {name: value for name, value in (("error", errors.pairs), ("error_lone", errors.lone)) if value is not None}
    for place, (name, value) in zip(st.columns(2), numbers.items(), strict=False):
        with place:
            show_difference(words[name], value, 1, 2, words[f"{name}_help"])  # sines and cosines are at most 1
    if errors.lone is not None:
        st.warning(words["lone"].format(dimension=table.d_model - 1), icon=":material/warning:")
    (left, right), below = st.columns(2), st.container()
    with left:
        shown = min(SHOWN, table.d_model)
        show_explained(
            chart(rotation_map, matrix[:shown, :shown]),
            "positions-rotation",
            words["rotation_alt"].format(count=shown, shift=shift),
            lambda at: explain_rotation(matrix, shift, table.d_model, at),
            place=below,
        )
        if shown < table.d_model:
            st.caption(words["rotation_part"].format(shown=shown, d_model=table.d_model))
    with right:
        _show_circle(table, shift, row, column, below)


def _show_circle(table: Table, shift: int, row: int, column: int, below: AbstractContextManager[object]) -> None:
    """Draw two dimensions, the pair that contains `column`, as arrows in a circle: at the position `row` and `shift` positions
    later, and at a second position and `shift` positions later. How a clicked point was computed is drawn in `below`."""
    words, sine = text("positions"), column - column % 2
    if sine + 1 >= table.d_model:
        st.info(words["circle_lone" if sine else "circle_none"].format(dimension=sine), icon=":material/info:")
        return
    last = table.positions - 1 - shift
    row = min(row, last)
    other = (row + last // 2 + 1) % (last + 1)
    arrows = {at: words["hand"].format(position=at) for start in dict.fromkeys((row, other)) for at in (start, start + shift)}
    names = (words["circle_sine"].format(dimension=sine), words["circle_cosine"].format(dimension=sine + 1))
    figure = chart(turning_circle, table.values[:, sine : sine + 2], arrows, names)
    hands = []
    for at, name in arrows.items():
        both = [number(value, DIGITS) for value in table.values[at, sine : sine + 2].tolist()]
        hands.append(words["circle_hand"].format(name=name, sine=both[0], cosine=both[1]))
    alt = words["circle_alt"].format(pair=sine // 2, shift=shift, hands="; ".join(hands))

    def position(at: Cell) -> int:
        """The position of a clicked point: a small dot, or the end of an arrow."""
        return [*arrows][at.row - ARROWS] if at.row >= ARROWS else at.column

    def explain(at: Cell) -> None:
        for dimension in (sine, sine + 1):
            explain_entry(table.kind, table.values, position(at), dimension)

    show_explained(
        figure,
        "positions-circle",
        alt,
        explain,
        tells=True,
        hint=False,
        place=below,
    )
    turn = cell(shift, sine, table.d_model)
    values = {"divisor": turn.divisor, "turn": turn.angle, "degrees": math.degrees(turn.angle)}
    written = {name: number(value, DIGITS) for name, value in values.items()}
    starts = words["from_one" if row == other else "from_both"].format(first=row, second=other)
    st.caption(words["circle"].format(pair=sine // 2, shift=shift, starts=starts, **written))
