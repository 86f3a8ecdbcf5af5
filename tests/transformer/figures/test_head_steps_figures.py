"""Tests of the figures of a head's steps, read back from the figure's JSON."""

from typing import Any

import numpy as np

from tests.transformer.figures.sent_figures import array, sent
from transformer.figures.head_steps_figures import MINUS, PLUS, Matrix, tensor_map, tensor_maps, terms_bars
from transformer.figures.theme import ROLE_COLORS

TOKENS = ["<sos>", "cat", "<b>sat</b>"]


def drawn(*about: Any, **more: Any) -> Any:
    return tensor_map(Matrix(*about, **more))


def test_a_signed_map_is_centred_on_zero_and_exact():
    values = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    picture = sent(drawn(values, TOKENS, None, "query", "d_head", signed=True))
    (heatmap,) = picture["data"]
    assert array(heatmap["z"]).dtype == np.float32
    assert (array(heatmap["z"]) == values).all()
    assert heatmap["zmax"] == -heatmap["zmin"] == abs(values).max()
    assert picture["layout"]["yaxis"]["ticktext"] == ["&lt;sos&gt;", "cat", "&lt;b&gt;sat&lt;/b&gt;"]
    assert picture["layout"]["xaxis"]["tickvals"] == [0, 1, 2, 3, 4]
    assert picture["layout"]["yaxis"]["range"] == [2.5, -0.5]  # the first row on top


def test_the_scale_of_a_matrix_of_zeros_is_from_minus_1_to_1():
    (heatmap,) = sent(drawn(np.zeros((3, 2), np.float32), TOKENS, None, "query", "d_head", signed=True))["data"]
    assert (heatmap["zmin"], heatmap["zmax"]) == (-1, 1)


def test_weights_run_from_0_to_1():
    weights = np.full((3, 3), 1 / 3, np.float32)
    (heatmap,) = sent(drawn(weights, TOKENS, TOKENS, "query", "key", signed=False))["data"]
    assert (heatmap["zmin"], heatmap["zmax"]) == (0, 1)


def test_masked_cells_show_their_number_on_hover_only():
    values = np.array([[1.5, -np.inf], [-10_000.0, 2.0]], np.float32)
    hidden = np.array([[False, True], [True, False]])
    masked, shown = sent(drawn(values, TOKENS[:2], TOKENS[:2], "query", "key", signed=True, hidden=hidden))["data"]
    assert (np.isnan(array(shown["z"])) == hidden).all()
    assert (np.isnan(array(masked["z"])) == ~hidden).all()
    assert shown["zmax"] == 2  # the fill does not stretch the scale
    assert masked["customdata"] == [["", "−∞"], ["−10000", ""]]
    assert "masked" in masked["hovertemplate"]


def test_infinities_are_masked_even_if_all_cells_are_infinite():
    masked, shown = sent(drawn(np.full((2, 2), -np.inf, np.float32), None, None, "query", "key", signed=True))["data"]
    assert np.isnan(array(shown["z"])).all()
    assert not np.isnan(array(masked["z"])).any()


def test_row_cell_and_group_are_framed():
    values = np.zeros((3, 8), np.float32)
    picture = sent(
        drawn(values, TOKENS, None, "query", "d_model", True, selected_row=1, selected_cell=(2, 5), marked_columns=(4, 6))
    )
    corners = [tuple(shape[end] for end in ("x0", "x1", "y0", "y1")) for shape in picture["layout"]["shapes"]]
    group, row, *cell = corners
    assert group == (3.5, 5.5, -0.5, 2.5)
    assert row == (-0.5, 7.5, 0.5, 1.5)
    assert cell == [(4.5, 5.5, 1.5, 2.5)] * 2
    assert picture["layout"]["shapes"][1]["line"]["color"] == ROLE_COLORS["query"]


def test_only_some_of_many_dimensions_are_numbered():
    picture = sent(drawn(np.zeros((3, 64), np.float32), TOKENS, None, "query", "d_model", True))
    assert picture["layout"]["xaxis"]["tickvals"] == list(range(0, 64, 4))


def test_the_bars_of_terms_end_at_their_sum():
    terms = [("d_head 0", 1.0, 2.0, 2.0), ("d_head 1", -1.0, 0.5, -0.5), ("<bias>", 1.0, 1.0, 1.0)]
    picture = sent(terms_bars(terms, 2.5, color="#123456"))
    (bars,) = picture["data"]
    assert bars["x"] == ["d_head 0", "d_head 1", "&lt;bias&gt;", "sum"]
    assert array(bars["y"]).tolist() == [2, -0.5, 1, 2.5]
    assert bars["base"] == [0, 2, 1.5, 0]
    assert bars["marker"]["color"] == [PLUS, MINUS, PLUS, "#123456"]
    assert bars["customdata"] == ["1 × 2 = 2", "−1 × 0.5 = −0.5", "1 × 1 = 1", "2.5"]


def test_a_term_can_be_highlighted_with_its_own_hover_text():
    terms = [("key 0", -np.inf, -np.inf, 0.0), ("key 1", 3.0, 0.0, 1.0)]
    (bars,) = sent(terms_bars(terms, 1.0, color="#123456", picked=1, hover_text="e to the {right}"))["data"]
    assert bars["marker"]["color"] == [PLUS, "#123456", "#123456"]
    assert bars["customdata"] == ["e to the −∞", "e to the 0", "1"]


def test_a_sum_without_terms_has_a_bar():
    (bars,) = sent(terms_bars([], 0.0))["data"]
    assert bars["x"] == ["sum"]


def test_maps_side_by_side_are_one_figure_in_order():
    matrices = [
        Matrix(np.full((3, 5), index, np.float32), TOKENS, None, "<query>", "d_head", True, f"{index}. <b>", index % 3, (1, 2))
        for index in range(6)
    ]
    picture = sent(tensor_maps(matrices))
    assert [array(heatmap["z"])[0, 0] for heatmap in picture["data"]] == list(range(6))
    assert [heatmap.get("xaxis") for heatmap in picture["data"]] == ["x", *(f"x{index}" for index in range(2, 7))]
    layout = picture["layout"]
    tops = [layout[f"yaxis{index or ''}"]["domain"][1] for index in (0, 2, 5)]
    assert tops[0] == tops[1] > tops[2]
    lefts = [layout[f"xaxis{index or ''}"]["domain"][0] for index in (0, 2, 3, 4, 5)]
    assert lefts[:4] == [0, 0.25, 0.5, 0.75]
    assert lefts[4] == 0
    assert layout["annotations"][2]["text"] == "<b>2. &lt;b&gt;</b><br>&lt;query&gt; × d_head"
    narrow = sent(tensor_maps(matrices, 3))["layout"]
    assert [narrow[f"xaxis{index or ''}"]["domain"][0] for index in (0, 2, 3, 4)] == [0, 1 / 3, 2 / 3, 0]
    least, least_narrow = (tensor_maps(matrices, across).layout.meta["least_width"] for across in (4, 3))
    assert least_narrow * 4 == least * 3
    rows = [shape for shape in layout["shapes"] if shape["line"]["color"] == ROLE_COLORS["query"]]
    assert [(shape["y0"], shape["yref"]) for shape in rows[:3]] == [(-0.5, "y"), (0.5, "y2"), (1.5, "y3")]


def test_maps_side_by_side_grey_out_masked_cells():
    hidden = np.array([[False, True], [False, False]])
    matrix = Matrix(np.zeros((2, 2), np.float32), TOKENS[:2], TOKENS[:2], "query", "key", False, hidden=hidden)
    masked, shown, *_ = sent(tensor_maps([matrix, matrix]))["data"]
    assert (np.isnan(array(shown["z"])) == hidden).all()
    assert masked["customdata"] == [["", "0"], ["", ""]]
