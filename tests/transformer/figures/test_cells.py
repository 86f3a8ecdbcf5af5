"""Every number of a figure is found by its place and marked where it is drawn."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from transformer.figures import head_map
from transformer.figures.cells import axis_names, cell_marks
from transformer.figures.comparison_figures import three_bars, three_maps
from transformer.figures.decoding_figures import draw_bars, lens_map, loss_bars, stage_bars
from transformer.figures.ledger_figures import shares
from transformer.figures.position_geometry_figures import distance_lines
from transformer.figures.token_geometry_figures import aligned_maps

MATRIX = np.arange(6.0).reshape(2, 3) / 10


def marked(figure: go.Figure, trace: int, row: int, column: int) -> list[dict[str, Any]]:
    """The upper line of each mark of a number, without its line."""
    shapes = cell_marks(figure, trace, row, column)
    assert shapes is not None
    assert len(shapes) % 2 == 0  # a dark and a light line
    return [{name: value for name, value in shape.items() if name != "line"} for shape in shapes[1::2]]


def centre(shape: dict[str, Any]) -> tuple[float, float]:
    """The middle of a frame or ring."""
    if shape["type"] == "circle":
        return shape["xanchor"], shape["yanchor"]
    return (shape["x0"] + shape["x1"]) / 2, (shape["y0"] + shape["y1"]) / 2


def test_a_cell_is_framed_in_every_map_with_the_same_columns() -> None:
    figure = aligned_maps({"a": MATRIX, "b": MATRIX}, ["x", "y"], "row", "column")
    frames = marked(figure, 1, 1, 2)
    assert [centre(frame) for frame in frames] == [(2, 1)] * 2
    assert [(frame["xref"], frame["yref"]) for frame in frames] == [("x", "y"), ("x", "y2")]
    everywhere = three_maps(MATRIX, MATRIX, None, None, ["x", "y"], ["1", "2", "3"])
    assert [(frame["xref"], frame["yref"]) for frame in marked(everywhere, 0, 0, 0)] == [("x", "y"), ("x2", "y2"), ("x3", "y3")]


@pytest.mark.parametrize("allowed", [np.tri(2, dtype=bool), np.ones((2, 2), bool)])
def test_a_cell_of_a_map_is_framed_once_whether_its_trace_has_masked_cells_below_it_or_not(allowed: np.ndarray) -> None:
    figure = head_map(MATRIX[:, :2], allowed, ["x", "y"], ["x", "y"])
    assert axis_names(figure) == ("query", "key")
    assert [[centre(frame) for frame in marked(figure, trace, 0, 1)] for trace in (0, 1)] == [[(1, 0)]] * 2
    assert cell_marks(figure, 0, 0, 2) is None


@pytest.mark.parametrize("turned", [False, True])
def test_a_turned_map_keeps_the_names_of_its_rows_and_columns(turned: bool) -> None:
    top, words = [["a", "b", "c"], ["d", "e", "f"]], ["u", "v", "w"]
    figure = lens_map(top, MATRIX, MATRIX.astype(int), ["start", "layer 1"], words, "rank", "{token} {share} {rank}", turned)
    assert axis_names(figure) == ("point", "step")
    (frame,) = marked(figure, 0, 1, 2)
    assert centre(frame) == ((1, 2) if turned else (2, 1))
    assert cell_marks(figure, 0, 2, 0) is None


@pytest.mark.parametrize("turned", [False, True])
def test_the_end_of_a_bar_has_a_ring(turned: bool) -> None:
    figure = loss_bars(["a", "b"], np.array([0.5, 2.0]), np.array([True, False]), "loss", turned)
    (ring,) = marked(figure, 0, 0, 1)
    assert centre(ring) == ((2.0, 1) if turned else (1, 2.0))


def test_bars_of_a_group_stand_side_by_side() -> None:
    figure = draw_bars(["a", "b"], np.array([0.25, 0.75]), np.array([0.5, 0.5]), ("p", "q"))
    assert [centre(marked(figure, trace, trace, 1)[0]) for trace in (0, 1)] == [(0.8, 0.75), (1.2, 0.5)]
    # The difference has a vertical axis of its own, so its bars stand alone.
    figure = three_bars(["a", "b"], np.array([0.25, 0.5]), np.array([0.5, np.nan]))
    (ring,) = marked(figure, 2, 2, 0)
    assert (centre(ring), ring["xref"], ring["yref"]) == ((0, 0.25), "x", "y2")
    assert marked(figure, 1, 1, 1) == []


def test_bars_in_panels_have_the_axes_of_their_panel() -> None:
    figure = stage_bars(["a", "b"], np.array([[0.25, 0.75], [0.0, 1.0]]), ["before", "after"], 1)
    (ring,) = marked(figure, 1, 1, 1)
    assert (centre(ring), ring["xref"], ring["yref"]) == ((1.0, 1), "x2", "y2")


def test_a_part_of_a_stacked_bar_is_framed_from_end_to_end() -> None:
    figure = shares({"FLOPs": {"projections": 1, "feed-forward": 3}})
    parts = [marked(figure, trace, trace, 0)[0] for trace in range(2)]
    assert sorted((part["x0"], part["x1"]) for part in parts) in ([(0, 0.25), (0.25, 1)], [(0, 0.75), (0.75, 1)])
    assert {(part["y0"], part["y1"]) for part in parts} == {(-0.5, 0.5)}


@pytest.mark.parametrize(("trace", "row", "column"), [(0, 0, 0), (3, 3, 0), (1, 0, 0), (1, 1, 9)])
def test_a_figure_has_no_number_elsewhere(trace: int, row: int, column: int) -> None:
    """Not in a trace that cannot be pointed at, in one that the figure lacks, in another row, or past the last point."""
    figure = distance_lines(np.arange(6.0).reshape(2, 3), ("mean", "band"))
    assert cell_marks(figure, trace, row, column) is None
    assert [centre(ring) for ring in marked(figure, 2, 2, 1)] == [(1, 4)]
