"""Tests of the figures of two runs, read back from the figure's JSON."""

import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.transformer.figures.sent_figures import array, sent
from transformer.figures.comparison_figures import three_bars, three_maps
from transformer.figures.numbers import numbers
from transformer.figures.whatif_figures import difference_map

ROWS, COLUMNS = ["<sos>", "le"], ["<sos>", "the", "– / big"]
A = np.array([[0.25, 0.75, np.nan], [1.0, 0.0, np.nan]], dtype=np.float32)
B = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]], dtype=np.float32)
OPEN_A = np.array([[True, True, False], [True, False, False]])
OPEN_B = np.array([[True, True, True], [False, True, False]])


def three(figure: go.Figure) -> list[Any]:
    traces, layout = sent(figure)["data"], sent(figure)["layout"]
    return [traces[number] for number in layout["meta"]["together"]]


def test_three_maps_have_the_same_cells_and_hover_texts() -> None:
    a, b, change = three(three_maps(A, B, OPEN_A, OPEN_B, ROWS, COLUMNS))
    for name in ("x", "y", "customdata"):
        assert a[name] == b[name] == change[name]
    assert [heatmap["xaxis"] for heatmap in (a, b, change)] == ["x", "x2", "x3"]
    assert a["customdata"][0] == [
        "A: 0.25<br>B: 0.5<br>B − A: +0.25",
        "A: 0.75<br>B: 0.25<br>B − A: −0.5",
        "A: no such token<br>B: 0.25<br>B − A: no such token",
    ]
    assert a["customdata"][1] == [
        "A: 1<br>B: masked<br>B − A: −1",
        "A: masked<br>B: 1<br>B − A: +1",
        "A: no such token<br>B: masked<br>B − A: no such token",
    ]


def test_weights_have_one_scale_and_the_difference_its_own() -> None:
    a, b, change = three(three_maps(A, B, OPEN_A, OPEN_B, ROWS, COLUMNS))
    assert (a["zmin"], a["zmax"]) == (b["zmin"], b["zmax"]) == (0, 1)
    assert (change["zmin"], change["zmax"]) == (-1, 1)
    np.testing.assert_array_equal(array(a["z"]), [[0.25, 0.75, np.nan], [1, np.nan, np.nan]])
    np.testing.assert_array_equal(array(b["z"]), [[0.5, 0.25, 0.25], [np.nan, 1, np.nan]])
    np.testing.assert_array_equal(array(change["z"]), [[0.25, -0.5, np.nan], [-1, 1, np.nan]])


def test_signed_numbers_of_both_runs_have_one_scale() -> None:
    a, b, change = three(three_maps(A, -3 * B, None, None, ROWS, None, signed=True, axes=("token", "dimension")))
    assert (a["zmin"], a["zmax"]) == (b["zmin"], b["zmax"]) == (-3, 3)
    assert change["zmax"] == pytest.approx(4 - 1)
    assert a["x"] == [0, 1, 2]


def test_equal_runs_have_a_scale_that_is_not_empty() -> None:
    for values in (B, np.zeros_like(B), np.full_like(B, np.nan)):
        *_, change = three(three_maps(values, values, None, None, ROWS, COLUMNS))
        assert (change["zmin"], change["zmax"]) == (-0.1, 0.1)
        assert not np.nan_to_num(array(change["z"])).any()


def test_a_head_that_hardly_changes_is_pale() -> None:
    weights = np.full((2, 3), 0.25, np.float32)
    for change, limit in ((0.02, 0.1), (0.3, 0.3)):
        drawn = three(three_maps(weights, weights + np.float32(change), None, None, ROWS, COLUMNS))[2]
        assert drawn["zmax"] == pytest.approx(limit)
    # Other numbers have no unit of which a tenth would be small.
    assert three(three_maps(weights, weights + np.float32(0.02), None, None, ROWS, COLUMNS, signed=True))[2]["zmax"] < 0.03


def test_equal_infinities_have_no_difference_and_others_are_said() -> None:
    low = np.full((2, 3), -np.inf, np.float32)
    assert (
        three(three_maps(low, low, None, None, ROWS, COLUMNS, signed=True))[2]["customdata"][0][0]
        == "A: −∞<br>B: −∞<br>B − A: 0"
    )
    infinite = three(three_maps(B, low, None, None, ROWS, COLUMNS, signed=True))[2]
    assert infinite["customdata"][0][0] == "A: 0.5<br>B: −∞<br>B − A: −∞"
    assert np.isnan(array(infinite["z"])).all()


def test_masked_cells_are_grey_and_cells_without_a_token_are_empty() -> None:
    open_a, open_b = OPEN_A.copy(), OPEN_B.copy()
    open_a[0, 1] = open_b[0, 1] = False
    figure = three_maps(A, B, open_a, open_b, ROWS, COLUMNS)
    of_a, of_b, of_change = (
        np.array(trace.z, float) == 1 for index, trace in enumerate(figure.data) if index not in figure.layout.meta["together"]
    )
    assert of_a.tolist() == [[False, True, False], [False, True, False]]
    assert of_b.tolist() == [[False, True, False], [True, False, True]]
    assert of_change.tolist() == [[False, True, False], [False, False, False]]  # masked in both


def test_a_small_map_has_its_numbers_in_the_cells() -> None:
    *_, change = three(three_maps(A, B, None, None, ROWS, COLUMNS))
    assert [[re.sub("<[^>]+>", "", text) for text in row] for row in change["text"]] == [
        ["+0.25", "−0.50", ""],
        ["−1.00", "+1.00", ""],
    ]
    many = np.zeros((12, 12), np.float32)
    assert "text" not in three(three_maps(many, many, None, None, [*"abcdefghijkl"], [*"abcdefghijkl"]))[2]


def test_the_table_of_three_maps_names_them() -> None:
    table = numbers(three_maps(A, B, None, None, ROWS, COLUMNS, names=("tired", "wide", "wide − tired")))
    assert [*dict.fromkeys(table["picture"])] == ["tired", "wide", "wide − tired"]
    assert table["value"].tolist()[-4:] == pytest.approx([0.25, -0.5, -1, 1])


def test_a_very_large_map_tells_the_number_of_its_own_map_only() -> None:
    many = np.zeros((130, 130), np.float32)
    names = [str(index) for index in range(130)]
    assert "customdata" not in three(three_maps(many, many, None, None, names, names))[0]


def test_the_map_of_a_change_has_a_scale_also_with_missing_tokens() -> None:
    (heatmap,) = sent(difference_map(A, np.ones((2, 3), bool), ROWS, COLUMNS))["data"]
    assert (heatmap["zmin"], heatmap["zmax"]) == (-1, 1)


def test_three_bars_are_both_runs_and_their_difference() -> None:
    figure = three_bars(["a", "– / b"], np.array([0.5, np.nan]), np.array([0.25, 1.0]))
    go.Figure(figure.to_dict())
    a, b, change = sent(figure)["data"]
    np.testing.assert_array_equal(array(a["y"]), [0.5, np.nan])
    np.testing.assert_array_equal(array(change["y"]), [-0.25, np.nan])
    assert a["customdata"] == b["customdata"] == change["customdata"]
    assert a["customdata"][1] == "A: no such token<br>B: 1<br>B − A: no such token"
    assert (b["yaxis"], change["yaxis"]) == ("y", "y2")
