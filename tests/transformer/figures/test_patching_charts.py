"""Tests of the charts of patching."""

from typing import Any

import numpy as np
import pytest

from transformer.figures.patching_charts import Dot, agreement_dots, need_map, run_bars

WORDS = {"alone": "alone", "backup": "has a backup", "partner": "needs a partner", "bystander": "bystander"}
DOTS = [
    Dot("encoder", "encoder L1 H1", -0.6, 0.1, (-0.8, -0.4), (0.0, 0.3)),
    Dot("cross", "cross L1 H2", 0.9, 1.4, (0.85, 0.95), (1.2, 1.5), written=True),
]


def numbers(values: Any) -> np.ndarray:
    return np.asarray(values, dtype=float)


def test_every_dot_is_in_the_picture_and_each_quarter_has_its_words() -> None:
    figure = need_map(DOTS, {"encoder": "Encoder", "cross": "Cross"}, WORDS, 0.5, ("lost", "restored"), picked=1)
    for axis, ends in ((figure.layout.xaxis, (-0.6, 0.9)), (figure.layout.yaxis, (0.1, 1.4))):
        assert axis.range[0] < min(ends)
        assert axis.range[1] > max(ends)
    notes = {note.text: (note.xanchor, note.y) for note in figure.layout.annotations}
    assert {f"<b>{word}</b>" for word in WORDS.values()} == set(notes)
    assert notes["<b>needs a partner</b>"] == ("right", 0.5)
    encoder, cross, *_ = figure.data
    assert [list(each.customdata[0]) for each in (encoder, cross)] == [[0, "encoder L1 H1"], [1, "cross L1 H2"]]
    assert cross.error_x.array[0] == pytest.approx(0.05)
    assert cross.error_y.arrayminus[0] == pytest.approx(0.2)
    assert (list(encoder.text), list(cross.text), list(figure.data[-1].text)) == ([""], [""], ["cross L1 H2"])
    assert {line.layer for line in figure.layout.shapes} == {"below"}  # names are above the dotted lines
    assert {note.font.shadow for note in figure.layout.annotations} == {"auto"}
    assert cross.marker.size[0] > encoder.marker.size[0]


def test_the_picked_dot_is_above_the_others_in_a_black_and_white_frame() -> None:
    near = [Dot(kind, f"{kind} {place}", 0.01 * place, 0.01) for place in range(3) for kind in ("encoder", "cross")]
    for picked, dot in enumerate(near):
        data = need_map(near, {"encoder": "Encoder", "cross": "Cross"}, WORDS, 0.5, ("x", "y"), picked).data
        *_, of_kind, white, black, name = data
        assert of_kind.customdata[-1][0] == picked
        assert (of_kind.marker.size[-1], of_kind.marker.opacity[-1]) == (17, 1)
        assert [list(frame.x) + list(frame.y) for frame in (white, black)] == [[dot.lost, dot.restored]] * 2
        assert (white.marker.color, black.marker.color) == ("white", "black")
        assert name.marker.size > black.marker.size  # so that the name is outside the frame
        assert [trace.name for trace in sorted(data[:2], key=lambda trace: trace.legendrank)] == ["Encoder", "Cross"]


def test_names_are_beside_other_dots_and_not_across_them() -> None:
    named = Dot("cross", "cross L1 H2", 0.5, 0.5, written=True)
    for heights, place in (([0.58], "bottom center"), ([0.42], "top center"), ([0.42, 0.58], "middle right")):
        others = [Dot("cross", "other", 0.5, height) for height in heights]
        (trace,) = need_map([named, *others], {"cross": "Cross"}, WORDS, 0.5, ("x", "y")).data
        assert trace.textposition[0] == place


def test_dots_without_intervals_have_none() -> None:
    figure = need_map([DOTS[0]._replace(lost_range=None, restored_range=None)], {"encoder": "E"}, WORDS, 0.5, ("x", "y"))
    assert figure.data[0].error_x.array is None


def test_bars_of_three_runs_stand_side_by_side() -> None:
    values = [np.array([0.9, 0.1]), np.array([0.2, 0.8]), np.array([0.5, 0.5])]
    figure = run_bars(["il", "<eos>"], values, ("A", "B", "patched"))
    assert figure.layout.barmode == "group"
    assert [each.name for each in figure.data] == ["A", "B", "patched"]
    assert all(np.allclose(numbers(each.y), of) for each, of in zip(figure.data, values, strict=True))
    assert list(figure.layout.xaxis.ticktext) == ["il", "&lt;eos&gt;"]


def test_the_line_of_equal_numbers_spans_all_dots() -> None:
    line, dots = agreement_dots(np.array([1.0, -3.0]), np.array([0.5, 2.0]), ["a", "<b>"], ("exact", "estimated")).data
    assert (list(line.x), list(line.y)) == ([-3.0, 2.0], [-3.0, 2.0])
    assert (list(dots.x), list(dots.y)) == ([0.5, 2.0], [1.0, -3.0])
    assert list(dots.customdata) == ["a", "&lt;b&gt;"]
