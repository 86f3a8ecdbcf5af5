"""Tests of the figures of the residual stream and of hidden units."""

import numpy as np

from transformer.figures.residual_figures import token_lines, unit_bars

VALUES = np.arange(12, dtype=float).reshape(3, 4)
TOKENS = ("<sos>", "a", "<b>", "a")


def test_each_token_has_a_line_and_the_followed_token_is_on_top() -> None:
    figure = token_lines(VALUES, ["start", "1 x", "2 y"], TOKENS, "length", followed=1)
    assert [line.name for line in figure.data] == ["0 · &lt;sos&gt;", "1 · a", "2 · &lt;b&gt;", "3 · a"]
    assert [line.zorder for line in figure.data] == [0, 1, 0, 0]
    for index, line in enumerate(figure.data):
        assert (np.array(line.y) == VALUES[:, index]).all()
        assert line.opacity == (1 if index == 1 else 0.45)
    assert figure.layout.xaxis.ticktext == ("start", "1 x", "2 y")
    assert figure.layout.showlegend
    assert figure.layout.yaxis.title.text == "length"


def test_tokens_of_the_same_hue_differ_in_line_style() -> None:
    figure = token_lines(np.zeros((2, 24)), ["a", "b"], ["t"] * 24, "length")
    assert len({(line.line.color, line.line.dash) for line in figure.data}) == 24
    assert {line.opacity for line in figure.data} == {1}


def test_the_axis_has_the_given_limits() -> None:
    assert token_lines(VALUES, ["a", "b", "c"], TOKENS, "cosine", limits=(-1.0, 1.0)).layout.yaxis.range == (-1, 1)
    assert token_lines(VALUES, ["a", "b", "c"], TOKENS, "length").layout.yaxis.rangemode == "tozero"


def test_unit_bars_are_in_the_given_order() -> None:
    (bar,) = unit_bars([7, 3], np.array([2.0, 1.0]), "unit").data
    assert tuple(bar.x) == ("7", "3")
    assert np.array(bar.y).tolist() == [2, 1]
