"""Tests of the figures of small tensors: which number a cell shows."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from transformer.figures.layer_walk import Part, layer_figure
from transformer.figures.panels import TensorView, tensor_view
from transformer.figures.tensor_sheet import frame_of_cell, number_of_cell, tiles_figure

RANDOM = np.random.default_rng(0)


def tensors() -> list[TensorView]:
    """Heads one below the other, heads side by side, a masked tensor, and one with more numbers than pixels."""
    values = RANDOM.normal(size=(2, 5, 3)).astype(np.float32)
    strip = np.ascontiguousarray(values.transpose(1, 0, 2))
    wide = RANDOM.normal(size=(1, 300, 700)).astype(np.float32)
    hidden = RANDOM.random(wide.shape) < 0.3
    hidden[0, :10, :10] = True
    return [
        tensor_view("stacked", values, ("head", "query", "d_head")),
        tensor_view("strip", strip, ("query", "head", "d_head")),
        tensor_view("masked", values, ("head", "query", "key"), hidden=values > 0.5),
        tensor_view("wide", wide, ("batch", "query", "key"), hidden=hidden),
    ]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize(
    "draw", [lambda views: layer_figure([Part("", (), [[views]])]), lambda views: tiles_figure({"": views}, 16)]
)
@pytest.mark.parametrize("binned", [False, True])
def test_every_cell_is_that_of_the_number_that_it_shows(draw: Any, binned: bool) -> None:
    views = tensors() if binned else tensors()[:-1]
    figure: go.Figure = draw(views)
    maps: Any = figure.data
    seen = dict.fromkeys((view.path for view in views), 0)
    for index, heatmap in enumerate(maps):
        if heatmap.type != "heatmap" or "%{z" not in heatmap.hovertemplate:
            continue
        shown = np.asarray(heatmap.z)
        # Of the largest tensor, every 29th cell, because all would take 12 s.
        for row, column in np.argwhere(np.isfinite(shown))[:: 29 if heatmap.meta == "wide" else 1].tolist():
            found = number_of_cell(figure, views, index, row, column)
            assert found is not None
            view, at = found
            assert view.path == heatmap.meta
            assert view.panel.values[at] == shown[row, column]
            seen[view.path] += 1
    assert all(seen.values())
    assert (seen["stacked"] == seen["strip"] == 30) != binned  # with the largest tensor, all cells are smaller than a pixel


def test_what_is_no_cell_has_no_number() -> None:
    views = tensors()[:1]
    figure = tiles_figure({"": views}, 16)
    for place in ((1, 0, 0), (-1, 0, 0), (0, -1, 0), (0, 0, 99), (0, 10, 0)):
        assert number_of_cell(figure, views, *place) is None
    assert number_of_cell(figure, [], 0, 0, 0) is None


def test_a_frame_is_around_its_cell() -> None:
    figure = tiles_figure({"": tensors()[:1]}, 16)
    maps: Any = figure.data
    white, black = frame_of_cell(figure, 0, 2, 1)
    assert (white["line"]["color"], black["line"]["color"]) == ("white", "black")
    middle = maps[0].x0 + 1 * maps[0].dx, maps[0].y0 + 2 * maps[0].dy
    assert (white["x0"] + white["x1"]) / 2 == pytest.approx(middle[0])
    assert (white["y0"] + white["y1"]) / 2 == pytest.approx(middle[1])
    assert white["x1"] - white["x0"] == pytest.approx(maps[0].dx)
