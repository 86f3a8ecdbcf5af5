"""Figures of a training: the points of lines are at their steps."""

import math
from typing import Any

import numpy as np

from transformer.figures.numbers import numbers
from transformer.figures.training_figures import Curve, Series, curve_panels, part_bars, step_lines


def test_lines_over_steps() -> None:
    series = [Series("a <b>", (0, 10, 100), (3.0, 2.0, 1.0)), Series("b", (0, 100), (1.0, 1.0), "context")]
    figure: Any = step_lines(series, "loss", "steps", cursor=10)
    context, line = figure.data  # context is drawn first, so that it is below the other lines
    assert (line.name, context.showlegend) == ("a &lt;b&gt;", False)
    np.testing.assert_allclose(line.x, [0, math.log(2), math.log(11)])
    assert (list(line.y), list(line.customdata)) == ([3.0, 2.0, 1.0], [0, 10, 100])
    assert figure.layout.xaxis.ticktext == ("0", "10", "100")
    assert figure.layout.shapes[0].x0 == math.log(2)
    assert numbers(figure)["steps"].tolist() == [0, 100, 0, 10, 100]  # the steps, not their places on the axis
    linear: Any = step_lines(series, "loss", "steps", limits=(0.0, 4.0), logarithmic=False)
    assert (list(linear.data[1].x), linear.layout.yaxis.range) == ([0, 10, 100], (0.0, 4.0))
    assert linear.data[1].cliponaxis is False  # a mark at a limit is not cut in half


def test_panels_of_curves_beside_and_below_one_another() -> None:
    curves = [Curve("loss", [(0, 3.0), (9, 1.0)], 3.0), Curve("exact", [(0, 0.0), (9, 1.0)], 1.0)]
    beside: Any = curve_panels(curves, 9, "step", height=200)
    below: Any = curve_panels(curves, 9, "step", height=200, stacked=True)
    assert (beside.layout.height, below.layout.height) == (200, 400)
    assert beside.layout.meta["least_width"] == 2 * below.layout.meta["least_width"]
    assert beside.layout.xaxis.domain[1] < beside.layout.xaxis2.domain[0]
    assert beside.layout.yaxis.domain == beside.layout.yaxis2.domain == (0, 1)
    assert below.layout.xaxis.domain == below.layout.xaxis2.domain == (0, 1)
    assert below.layout.yaxis.domain[0] > below.layout.yaxis2.domain[1] > below.layout.yaxis2.domain[0] == 0
    assert [note.y for note in below.layout.annotations] == [1, below.layout.yaxis2.domain[1]]


def test_a_bar_for_each_part() -> None:
    figure: Any = part_bars(["embedding", "layer <1>"], np.array([0.5, 0.0]), "norm")
    assert list(figure.data[0].y) == ["embedding", "layer &lt;1&gt;"]
    assert list(figure.data[0].x) == [0.5, 0.0]
