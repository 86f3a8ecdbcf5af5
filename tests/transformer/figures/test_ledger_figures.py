"""Tests of the two figures of costs: they show exactly the given numbers."""

import numpy as np
import pytest

from transformer.figures.ledger_figures import TOTAL, WORK_COLORS, growth, shares
from transformer.figures.numbers import numbers
from transformer.network.cost import WORK

COSTS = {"FLOPs": {"projections": 30, "feed-forward": 60, "scores and weights": 10}, "bytes": {"masks": 1, "output": 3}}
SIZES = [1, 2, 4, 8]
LINES = {
    "feed-forward": np.array([1.0, 2, 4, 8]),
    "scores and weights": np.array([1.0, 4, 16, 64]),
    "embedding": np.zeros(4),
    TOTAL: np.array([2.0, 6, 20, 72]),
}


def test_every_kind_of_work_has_its_own_colour() -> None:
    assert set(WORK_COLORS) == set(WORK)
    assert len(set(WORK_COLORS.values())) == len(WORK)


def test_each_bar_shows_the_shares_of_its_amounts() -> None:
    figure = shares(COSTS)
    shown = {(bar.name, row): float(x) for bar in figure.data for row, x in zip(bar.y, bar.x, strict=True)}
    assert shown["feed-forward", "FLOPs"] == pytest.approx(0.6)
    assert shown["output", "bytes"] == pytest.approx(0.75)
    for row in COSTS:
        assert sum(share for (_, name), share in shown.items() if name == row) == pytest.approx(1)
    assert {bar.name for bar in figure.data} == {"projections", "feed-forward", "scores and weights", "masks", "output"}
    feed_forward = next(bar for bar in figure.data if bar.name == "feed-forward")
    assert feed_forward.customdata[0] == "60"
    assert feed_forward.text[0] == "60%"
    assert feed_forward.marker.color == WORK_COLORS["feed-forward"]


def test_a_small_share_is_shown_on_hover_only() -> None:
    figure = shares({"FLOPs": {"masks": 1, "output": 99}})
    masks = next(bar for bar in figure.data if bar.name == "masks")
    assert masks.text[0] == ""
    assert masks.customdata[0] == "1"


@pytest.mark.parametrize("logarithmic", [False, True])
def test_lines_have_the_numbers_and_mark_the_present_size(logarithmic: bool) -> None:
    figure = growth(SIZES, LINES, "length", "FLOPs", present=4, logarithmic=logarithmic, limit=(8, "max_len"))
    lines = {trace.name: trace for trace in figure.data}
    assert set(lines) == {"feed-forward", "scores and weights", TOTAL}  # a kind of work that is always zero has no line
    for name, line in lines.items():
        assert list(line.x) == SIZES
        np.testing.assert_allclose(line.y, LINES[name])
        assert line.y.dtype == np.float32
        assert [size > 0 for size in line.marker.size] == [False, False, True, False]
    assert lines[TOTAL].line.dash == "dash"
    kind = "log" if logarithmic else "linear"
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == (kind, kind)
    assert [note.text.strip() for note in figure.layout.annotations] == ["here: 4", "max_len: 8"]
    assert [shape.x0 for shape in figure.layout.shapes] == [4, 8]
    places = [note.x for note in figure.layout.annotations]
    assert places == pytest.approx(np.log10([4, 8]) if logarithmic else [4, 8])


def test_without_a_limit_only_the_present_size_is_marked() -> None:
    figure = growth(SIZES, LINES, "heads", "bytes", present=1, logarithmic=True)
    assert [note.text.strip() for note in figure.layout.annotations] == ["here: 1"]
    assert figure.layout.xaxis.title.text == "heads"
    assert figure.layout.yaxis.title.text == "bytes"


def test_sizes_along_a_logarithmic_axis_are_written_out() -> None:
    figure = growth(SIZES, LINES, "heads", "bytes", present=1, logarithmic=True)
    assert list(figure.layout.xaxis.ticktext) == ["1", "2", "4", "8"]
    many = range(3, 1300)
    figure = growth(many, {TOTAL: np.arange(3, 1300, dtype=float)}, "length", "bytes", present=9, logarithmic=True)
    assert list(figure.layout.xaxis.ticktext) == ["5", "10", "20", "50", "100", "200", "500", "1,000"]
    assert figure.layout.yaxis.dtick == 1


def test_a_growth_figure_becomes_a_table() -> None:
    table = numbers(growth(SIZES, LINES, "length", "FLOPs", present=4, logarithmic=True))
    values = table[table["series"] == "scores and weights"]["FLOPs"].tolist()
    assert values == [1, 4, 16, 64]
    assert len(table) == 12


def test_amounts_beyond_32_bits_are_drawn() -> None:
    large = np.array([1e12, 4e12, 16e12, 64e12])
    figure = growth(SIZES, {"scores and weights": large}, "length", "FLOPs", present=4, logarithmic=True)
    assert np.isfinite(figure.data[0].y).all()
    assert figure.data[0].customdata[0] == "1,000,000,000,000"
    np.testing.assert_allclose(figure.data[0].y, large, rtol=1e-6)
