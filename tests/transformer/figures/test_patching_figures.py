"""Tests of the figures of patching, read back from the figure's JSON."""

import itertools
import json
from typing import Any

import numpy as np
import pytest

from transformer.figures.patching_figures import Grid, patch_grids, side_by_side_width
from transformer.figures.theme import SIGNED

HEADS = Grid("cross", "Cross", np.array([[0.0, 1.06], [-0.4, 0.5]]), ("L1", "L2"), ("1", "2"))
TOKENS = Grid("encoder", "Encoder", np.array([[0.25, np.nan, 1.0]]), ("L1 H1",), ("<sos>", "a", "<b>"))


def sent(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def numbers(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)


def test_maps_share_one_scale_that_is_never_clipped_and_names_both_runs() -> None:
    figure = patch_grids([HEADS, HEADS._replace(name="decoder")], ("as in B", "as in A"), "share")
    axis = figure.layout.coloraxis
    assert (axis.cmin, axis.cmax) == (-1.06, 1.06)
    assert dict(zip(axis.colorbar.tickvals, axis.colorbar.ticktext, strict=True)) == {0: "as in B", 1: "as in A"}
    assert [each.coloraxis for each in figure.data] == ["coloraxis"] * 2
    assert np.allclose(numbers(figure.data[0].z), HEADS.values)
    far = patch_grids([HEADS._replace(values=np.array([[3.0, -2.5]]), rows=("L1",))], ("B", "A"), "share").layout.coloraxis
    assert (far.cmin, far.cmax) == (-3.0, 3.0)
    assert list(far.colorbar.ticktext) == ["−300%", "300%", "B", "A"]


def test_the_colour_is_how_far_a_place_moves_the_answer_also_from_the_clean_run() -> None:
    axis = patch_grids([HEADS], ("B", "A"), "share", reverse=True).layout.coloraxis
    assert (axis.cmin, axis.cmax) == pytest.approx((-0.4, 2.4))
    middle = axis.colorscale[len(axis.colorscale) // 2]
    assert middle == (0.5, SIGNED[len(SIGNED) // 2][1])
    assert axis.colorscale[0][1] == SIGNED[-1][1]


def test_rounding_is_not_drawn_in_dark_colours() -> None:
    axis = patch_grids([HEADS._replace(values=np.full((2, 2), 0.004))], None, "change").layout.coloraxis
    assert axis.cmax == 0.1


def test_an_infinite_change_does_not_stretch_the_scale() -> None:
    figure = patch_grids([HEADS._replace(values=np.array([[np.inf, 0.5]]), rows=("L1",))], None, "change")
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-0.5, 0.5)
    assert "inf" in figure.data[0].text[0][0]


def test_the_cell_of_a_click_is_named_by_map_row_and_column() -> None:
    other = HEADS._replace(name="decoder", values=-HEADS.values)
    figure = patch_grids([HEADS, other], None, "change")
    first, second = (numbers(trace.z) for trace in figure.data)  # the number of the trace is that of the map
    assert np.allclose(first, HEADS.values)
    assert np.allclose(second, other.values)
    assert sent(figure)["layout"]["meta"]["axes"] == {"x": "column", "y": "row"}


def test_maps_of_tokens_stand_below_each_other_with_their_own_tokens() -> None:
    other = TOKENS._replace(name="cross", columns=("le", "chat", "."))
    figure = patch_grids([TOKENS, other], ("B", "A"), "share", tokens=True)
    first, second = (figure.layout[name].domain for name in ("yaxis", "yaxis2"))
    assert first[0] > second[1]
    assert list(figure.layout.xaxis.ticktext) == ["&lt;sos&gt;", "a", "&lt;b&gt;"]
    assert list(figure.layout.xaxis2.ticktext) == ["le", "chat", "."]
    assert [bool(cell) for cell in figure.data[0].text[0]] == [True, False, True]  # a place that is not patched is empty


def test_the_picked_cell_is_framed_in_its_own_map() -> None:
    figure = patch_grids([HEADS, HEADS._replace(name="decoder")], ("B", "A"), "share", picked=("decoder", 1, 0))
    assert {(shape.xref, shape.yref) for shape in figure.layout.shapes} == {("x2", "y2")}
    assert {(round(shape.x0 + shape.x1), round(shape.y0 + shape.y1)) for shape in figure.layout.shapes} == {(0, 2)}
    assert not patch_grids([HEADS], ("B", "A"), "share", picked=("encoder", 0, 0)).layout.shapes


def test_maps_of_nothing_but_zeros_have_a_scale() -> None:
    axis = patch_grids([HEADS._replace(values=np.zeros((2, 2)))], None, "change").layout.coloraxis
    assert axis.cmin < 0 < axis.cmax


def test_maps_of_heads_stand_one_below_the_other_on_a_narrow_page() -> None:
    grids = [HEADS, HEADS._replace(name="decoder"), HEADS._replace(name="cross")]
    wide, narrow = (patch_grids(grids, None, "change", stacked=stacked).layout for stacked in (False, True))
    assert wide.meta["least_width"] == side_by_side_width(grids)
    assert narrow.meta["least_width"] == side_by_side_width(grids[:1]) < wide.meta["least_width"]
    assert wide.yaxis.domain == wide.yaxis2.domain == wide.yaxis3.domain
    tops = [axis.domain for axis in (narrow.yaxis, narrow.yaxis2, narrow.yaxis3)]
    assert all(upper[0] > lower[1] for upper, lower in itertools.pairwise(tops))
    assert {axis.domain for axis in (narrow.xaxis, narrow.xaxis2, narrow.xaxis3)} == {(0.0, 1.0)}
