"""Tests of the figures of an answer as it is written."""

from typing import Any

import numpy as np
import pytest

from transformer.figures.attention_figures import BLACK
from transformer.figures.decoding_figures import (
    CHOSEN,
    OTHER,
    TreeNode,
    beam_tree,
    contribution_bars,
    draw_bars,
    lens_map,
    loss_bars,
    percent,
    stage_bars,
)
from transformer.figures.numbers import numbers
from transformer.figures.theme import MASKED

TOKENS = ["le", "<pad>", "all others"]


def test_the_bar_of_a_cut_off_token_is_grey_and_as_long_as_before() -> None:
    stages = np.array([[0.5, 0.3, 0.2], [0.7, 0.0, 0.3], [1.0, 0.0, 0.0]])
    figure = stage_bars(TOKENS, stages, ["the model", "top-p 0.6", "top-k 1"], chosen=0)
    lengths = [np.asarray(trace.x).tolist() for trace in figure.data]
    np.testing.assert_allclose(lengths, [[0.5, 0.3, 0.2], [0.7, 0.3, 0.3], [1.0, 0.3, 0.3]], rtol=1e-6)
    assert [list(trace.marker.color) for trace in figure.data] == [
        [CHOSEN, OTHER, OTHER],
        [CHOSEN, MASKED, OTHER],
        [CHOSEN, MASKED, MASKED],
    ]
    assert list(figure.data[1].text) == ["70.0%", "cut off", "30.0%"]
    assert figure.layout.yaxis.ticktext == ("le", "&lt;pad&gt;", "all others")


def test_many_stages_are_drawn_in_two_rows() -> None:
    stages = np.tile([0.5, 0.3, 0.2], (6, 1))
    few, many = (stage_bars(TOKENS, stages[:count], [str(index) for index in range(count)], chosen=0) for count in (4, 6))
    assert len({trace.yaxis for trace in many.data}) == 6
    tops = [many.layout[f"yaxis{index or ''}"].domain for index in ("", 2, 3, 4, 5, 6)]
    assert tops[0] == tops[2] > tops[3] == tops[5]
    assert many.layout.height > few.layout.height + 3 * 22
    assert many.layout.meta["least_width"] < few.layout.meta["least_width"]


def test_shares_of_draws_are_beside_the_probabilities() -> None:
    figure = draw_bars(TOKENS, np.array([0.5, 0.3, 0.2]), np.array([0.55, 0.25, 0.2]), ("probability", "draws"))
    assert [trace.name for trace in figure.data] == ["probability", "draws"]
    np.testing.assert_allclose(np.asarray(figure.data[1].y), [0.55, 0.25, 0.2], rtol=1e-6)


def test_each_node_of_the_tree_is_at_its_step_with_a_line_to_its_parent() -> None:
    nodes = [
        TreeNode(0, -1, 1, "le", ("le", "sum −1"), "best", False),
        TreeNode(1, -1, 1, "<b>", ("<b>",), "later", False),
        TreeNode(2, 0, 2, "<eos>", ("le <eos>",), "best", True),
        TreeNode(3, 1, 2, "chat", ("x",), "pruned", False),
    ]
    names = {"best": "in the answer", "kept": "kept", "later": "later", "pruned": "pruned"}
    figure = beam_tree(nodes, "<sos>", names, 2, "step")
    lines = {trace.line.color: (trace.x, trace.y) for trace in figure.data if trace.mode == "lines"}
    assert lines[CHOSEN] == ((0, 1, None, 1, 2, None), (0, 0, None, 0, 0, None))
    faint = {trace.line.dash for trace in figure.data if trace.mode == "lines" and trace.opacity < 1}
    assert faint == {"dot"}  # the many lines to hypotheses pruned at once are pale, so that tokens stay readable
    markers = {trace.name: trace for trace in figure.data if trace.mode == "markers+text" and trace.name}
    assert markers["in the answer"].customdata == (0, 2)
    assert markers["in the answer"].text == ("le", "&lt;eos&gt;")
    assert markers["in the answer"].marker.symbol == ("circle", "square")
    assert markers["in the answer"].marker.line.width == (0, 4)
    assert (markers["pruned"].x, markers["pruned"].y) == ((2,), (1,))
    assert markers["later"].hovertext == ("&lt;b&gt;",)


def test_the_lens_has_the_top_token_in_each_cell_and_the_rank_as_colour() -> None:
    ranks = np.array([[9, 0], [0, 0]])
    shares = np.array([[0.2, 0.5], [0.9, 0.8]])
    figure = lens_map(
        [["a", "<b>"], ["c", "<b>"]], shares, ranks, ["start", "layer 1"], ["c", "<b>"], "rank", "{token} {share} {rank}"
    )
    heatmap = figure.data[0]
    np.testing.assert_allclose(np.asarray(heatmap.z), [[1, 0], [0, 0]])
    black = BLACK.format("&lt;b&gt;")  # on yellow
    assert [list(row) for row in heatmap.text] == [["a", black], [BLACK.format("c"), black]]
    assert list(heatmap.customdata[0]) == ["a 20.0% 10", "&lt;b&gt; 50.0% 1"]
    assert heatmap.colorbar.ticktext == ("1", "2", "5", "10")


def test_a_turned_lens_has_the_steps_as_rows_and_needs_no_more_width_for_more_of_them() -> None:
    def drawn(steps: int, turned: bool = True) -> Any:
        top, ranks = [["a"] * steps, ["bc"] * steps], np.zeros((2, steps), int)
        ranks[0, 1] = 9
        points, written = ["after layer 0", "after layer 1"], ["bc"] * steps
        return lens_map(top, ranks / 10, ranks, points, written, "rank", "{token} {share} {rank}", turned)

    figure = drawn(3)
    (heatmap,), layout = figure.data, figure.layout
    np.testing.assert_allclose(np.asarray(heatmap.z), [[0, 0], [1, 0], [0, 0]])
    a, bc = map(BLACK.format, ("a", "bc"))  # on yellow
    assert [list(row) for row in heatmap.text] == [[a, bc], ["a", bc], [a, bc]]
    assert heatmap.x == ("after<br>layer 0", "after<br>layer 1")
    assert layout.yaxis.ticktext == ("bc",) * 3
    assert layout.meta["axes"] == {"x": "point", "y": "step"}
    assert drawn(40).layout.meta["least_width"] == layout.meta["least_width"] < drawn(40, False).layout.meta["least_width"]


def test_contributions_are_signed_bars() -> None:
    figure = contribution_bars(["head 1", "bias"], np.array([1.5, -0.25]), "to the logit")
    bars, texts = figure.data
    assert list(bars.marker.color) == [CHOSEN, OTHER]
    assert (texts.text, texts.textposition) == (("\xa0+1.50", "−0.25\xa0"), ("middle right", "middle left"))
    assert len(numbers(figure)) == 2  # the texts are not counted as numbers
    low, high = figure.layout.xaxis.range
    assert low < -0.25 - 0.4
    assert high > 1.5 + 0.4
    # The margin is as wide as the names, so that Plotly does not have to measure them and draw twice.
    wider = contribution_bars(["cross-attention, layer 2, head 4"], np.array([1.0]), "to the logit")
    assert wider.layout.margin.l > figure.layout.margin.l + 100
    stages = stage_bars(TOKENS, np.eye(3)[:1], ["own"], 0)
    assert not any(drawn.layout[axis].automargin for drawn in (figure, stages) for axis in ("xaxis", "yaxis"))


def test_the_loss_of_a_token_that_the_model_would_not_write_has_another_colour() -> None:
    figure = loss_bars(["le", "chat"], np.array([0.04, 3.2]), np.array([True, False]), "loss")
    assert list(figure.data[0].marker.color) == [OTHER, CHOSEN]
    assert figure.data[0].text == ("0.04", "3.20")


@pytest.mark.parametrize(("share", "text"), [(0.0, "0.0%"), (0.0001, "<0.1%"), (0.1234, "12.3%"), (1.0, "100.0%")])
def test_shares_in_per_cent(share: float, text: str) -> None:
    assert percent(share) == text


def test_turned_losses_lie_one_below_the_other() -> None:
    figure = loss_bars(["le", "chat"], np.array([0.04, 3.2]), np.array([True, False]), "loss", turned=True)
    (bars,) = figure.data
    np.testing.assert_allclose(np.asarray(bars.x), [0.04, 3.2], rtol=1e-6)
    assert bars.orientation == "h"
    assert figure.layout.yaxis.ticktext == ("le", "chat")
    assert figure.layout.meta is None  # it never scrolls
