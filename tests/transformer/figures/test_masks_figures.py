"""Tests of the figures of masks: hidden cells are drawn as hidden, with every number in them."""

import itertools
import json

import numpy as np
import pytest

from transformer.figures.attention_figures import BLACK
from transformer.figures.mask_conventions_figures import Stages, convention_stages, empty_rows, written_number
from transformer.figures.masks_figures import mask_picture
from transformer.figures.theme import KIND_COLORS, MASKED

TOKENS = ["<sos>", "a", "<pad>"]
KEEP = np.tril(np.ones((3, 3), dtype=bool))
KEEP[2] = False
BLUE = KIND_COLORS["encoder"]


def shown(trace) -> list[list[bool]]:
    """True for each cell that a heatmap draws."""
    return (~np.isnan(np.array(trace.z, dtype=float))).tolist()


def stages(**values) -> Stages:
    before = np.arange(9, dtype=np.float32).reshape(3, 3) - 4
    masked = np.where(KEEP, before, -10_000).astype(np.float32)
    weights = np.array([[1, 0, 0], [0.25, 0.75, 0], [1 / 3] * 3], dtype=np.float32)
    titles = ("mask", "before", "after", "weights")
    return Stages(
        **{"keep": KEEP, "true_hides": False, "before": before, "masked": masked, "weights": weights, "titles": titles} | values
    )


def test_allowed_cells_of_a_mask_are_coloured_and_hidden_cells_are_hatched() -> None:
    hidden, allowed = mask_picture(KEEP, TOKENS, TOKENS, BLUE).data
    assert shown(allowed) == KEEP.tolist()
    assert shown(hidden) == (~KEEP).tolist()
    assert {shade for _, shade in allowed.colorscale} == {BLUE}
    assert {shade for _, shade in hidden.colorscale} == {MASKED}
    assert hidden.texttemplate == "╱"
    assert "hidden" in hidden.hovertemplate
    assert "may look" in allowed.hovertemplate


def test_both_axes_have_escaped_tokens() -> None:
    figure = mask_picture(KEEP, TOKENS, TOKENS, BLUE)
    for axis, name in ((figure.layout.xaxis, "key"), (figure.layout.yaxis, "query")):
        assert list(axis.ticktext) == ["&lt;sos&gt;", "a", "&lt;pad&gt;"]
        assert axis.title.text.startswith(name)


@pytest.mark.parametrize(("hides", "letters"), [(False, ("T", "F")), (True, ("F", "T"))])
def test_letters_follow_the_convention_and_colours_follow_the_meaning(hides: bool, letters: tuple[str, str]) -> None:
    hidden, allowed = convention_stages(stages(true_hides=hides), TOKENS, TOKENS, BLUE).data[:2]
    assert shown(allowed) == KEEP.tolist()
    assert np.array(allowed.text).tolist() == np.where(KEEP, letters[0], "").tolist()
    assert np.array(hidden.text).tolist() == np.where(KEEP, "", letters[1]).tolist()
    assert allowed.hovertemplate.endswith(f"{'False' if hides else 'True'}: may look<extra></extra>")


def test_scores_are_signed_and_weights_run_from_zero_to_one() -> None:
    figure = convention_stages(stages(), TOKENS, TOKENS, BLUE)
    before, masked, weights = figure.data[3], figure.data[5], figure.data[7]
    assert (before.zmin, before.zmax) == (-4, 4)
    assert (masked.zmin, masked.zmax) == (-4, 4)  # the fill does not stretch the scale
    assert (weights.zmin, weights.zmax) == (0, 1)
    assert shown(masked) == KEEP.tolist()
    assert np.array(figure.data[4].customdata)[0, 1] == "−10\u202f000"


def test_a_hidden_cell_with_a_weight_shows_the_weight() -> None:
    hidden, weights = convention_stages(stages(), TOKENS, TOKENS, BLUE).data[6:]
    assert shown(weights)[2] == [True, True, True]
    assert shown(hidden)[2] == [False, False, False]
    assert shown(hidden)[0] == [False, True, True]


def test_infinities_are_sent_as_text() -> None:
    masked = np.where(KEEP, 1, -np.inf).astype(np.float32)
    figure = convention_stages(stages(masked=masked, weights=np.zeros((3, 3), dtype=np.float32)), TOKENS, TOKENS, BLUE)
    assert "Infinity" not in figure.to_json()
    json.loads(figure.to_json())
    assert np.array(figure.data[4].customdata)[2].tolist() == ["−∞"] * 3


def test_the_four_stages_do_not_overlap() -> None:
    layout = convention_stages(stages(), TOKENS, TOKENS, BLUE).layout
    domains = [layout[name].domain for name in ("yaxis", "yaxis2", "yaxis3", "yaxis4")]
    for upper, lower in itertools.pairwise(domains):
        assert lower[1] < upper[0]
    assert [note.text for note in layout.annotations] == [
        f"<b>{n}. {t}</b>" for n, t in enumerate(("mask", "before", "after", "weights"), 1)
    ]


def test_nan_weights_are_written_as_nan() -> None:
    rows = [("low", np.full(3, 1 / 3)), ("nan", np.full(3, np.nan)), ("zero", np.zeros(3))]
    nothing, weights = empty_rows(rows, TOKENS).data
    assert shown(nothing) == [[False] * 3, [True] * 3, [False] * 3]
    assert shown(weights) == [[True] * 3, [False] * 3, [True] * 3]
    assert nothing.texttemplate == "NaN"
    assert [list(row) for row in weights.text] == [["0.333"] * 3, [""] * 3, ["0.000"] * 3]  # on dark colours, not in black
    ((one,), *_) = empty_rows([("one", np.ones(1))], TOKENS[:1]).data[1].text
    assert one == BLACK.format("1.000")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-10_000.0, "−10\u202f000"),
        (1.19e-7, "1.19 × 10⁻⁷"),
        (-2e-9, "−2 × 10⁻⁹"),
        (0.25, "0.25"),
        (-np.inf, "−∞"),
        (np.nan, "NaN"),
    ],
)
def test_a_number_is_written_as_it_is_printed(value: float, text: str) -> None:
    assert written_number(value) == text
