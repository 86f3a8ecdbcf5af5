"""Figures of a training: the points of lines are at their steps."""

import math
from typing import Any

import numpy as np

from transformer.figures.numbers import numbers
from transformer.figures.training_figures import Series, part_bars, step_lines


def test_lines_over_steps() -> None:
    series = [Series("a <b>", (0, 10, 100), (3.0, 2.0, 1.0)), Series("b", (0, 100), (1.0, 1.0), "context")]
    figure: Any = step_lines(series, "loss", "steps", cursor=10)
    context, line = figure.data  # context is drawn first, so that it is below the other lines
    assert (line.name, context.showlegend) == ("a &lt;b&gt;", False)
    np.testing.assert_allclose(line.x, [0, math.log(2), math.log(11)])
    assert (list(line.y), list(line.customdata)) == ([3.0, 2.0, 1.0], [0, 10, 100])
    assert figure.layout.xaxis.ticktext == ("0", "10", "100")
    assert figure.layout.shapes[0].x0 == math.log(2)
    assert numbers(figure)["x"].tolist() == [0, 100, 0, 10, 100]  # the steps, not their places on the axis
    linear: Any = step_lines(series, "loss", "steps", limits=(0.0, 4.0), logarithmic=False)
    assert (list(linear.data[1].x), linear.layout.yaxis.range) == ([0, 10, 100], (0.0, 4.0))


def test_a_bar_for_each_part() -> None:
    figure: Any = part_bars(["embedding", "layer <1>"], np.array([0.5, 0.0]), "norm")
    assert list(figure.data[0].y) == ["embedding", "layer &lt;1&gt;"]
    assert list(figure.data[0].x) == [0.5, 0.0]
