"""Tests of panels: tiles, rows and columns of a tensor, colours and small pictures."""

import numpy as np
import pytest

from transformer.figures.panels import (
    LEVELS,
    MASKED_LEVEL,
    Panel,
    TensorView,
    in_one_scale,
    panel,
    shades,
    strongest,
    tensor_view,
    thumbnail,
)

RANDOM = np.random.default_rng(0)


def test_a_panel_is_the_given_text_and_head_of_the_tensor() -> None:
    values = RANDOM.normal(size=(2, 8, 9, 32)).astype(np.float32)
    shown = panel(values, ("batch", "head", "query", "d_head"), "signed", item=1, head=3)
    assert (shown.values == values[1, 3][None]).all()
    assert shown.axes == ("", "query", "d_head")
    every = panel(values, ("batch", "head", "query", "d_head"), "signed", item=1)
    assert (every.values == values[1]).all()
    assert every.axes == ("head", "query", "d_head")
    assert not every.strip


def test_heads_split_from_a_vector_are_side_by_side() -> None:
    cut = RANDOM.normal(size=(1, 9, 8, 32)).astype(np.float32)
    shown = panel(cut, ("batch", "query", "head", "d_head"), "signed")
    assert shown.strip
    assert shown.values.shape == (8, 9, 32)
    for head in range(8):
        assert (shown.values[head] == cut[0, :, head]).all()


@pytest.mark.parametrize(
    ("shape", "axes", "expected"),
    [
        ((2, 1, 1, 9), ("batch", "1", "1", "source"), (1, 1, 9)),
        ((2, 1, 7, 7), ("batch", "1", "target", "target"), (1, 7, 7)),
        ((9, 16), ("position", "d_model"), (1, 9, 16)),
        ((2, 9, 16), ("batch", "source", "d_model"), (1, 9, 16)),
        ((2, 9), ("batch", "source"), (1, 9, 1)),
    ],
)
def test_a_tensor_without_heads_is_one_tile(shape: tuple[int, ...], axes: tuple[str, ...], expected: tuple[int, ...]) -> None:
    values = RANDOM.normal(size=shape).astype(np.float32)
    shown = panel(values, axes, "signed", item=1)
    assert shown.values.shape == expected
    assert (shown.values.reshape(-1) == (values[1] if "batch" in axes else values).reshape(-1)).all()
    assert shown.values.dtype == np.float32


def test_cells_are_hidden_if_a_mask_is_false() -> None:
    mask = np.array([[[[True, True, False]]]])
    shown = panel(mask, ("batch", "1", "1", "source"), "mask")
    assert shown.hidden is not None
    assert shown.hidden.tolist() == [[[False, False, True]]]


def test_the_scale_covers_the_shown_numbers() -> None:
    values = np.array([[[1.0, -3.0, -10_000.0, -np.inf]]], np.float32)
    hidden = np.array([[[False, False, True, False]]])
    assert Panel(values, ("", "query", "key"), False, "signed", hidden).limit == 3
    assert Panel(values, ("", "query", "key"), False, "weights", hidden).limit == 1
    assert Panel(np.zeros((1, 2, 2), np.float32), ("", "", ""), False, "signed").limit == 1
    small = Panel(np.full((1, 1, 1), 0.5, np.float32), ("", "", ""), False, "signed")
    weights = Panel(np.full((1, 1, 1), 0.5, np.float32), ("", "", ""), False, "weights")
    views = [
        TensorView("", "", "", one, one.limit) for one in (small, Panel(values, ("", "", ""), False, "signed", hidden), weights)
    ]
    assert [view.limit for view in in_one_scale(views)] == [3, 3, 1]


@pytest.mark.parametrize("shape", [(3, 5), (9, 1024), (64, 2048), (100, 257), (1, 1)])
def test_the_value_of_a_bin_is_its_number_of_greatest_magnitude(shape: tuple[int, int]) -> None:
    values = RANDOM.normal(size=shape).astype(np.float32)
    small = strongest(values, 20, 256)
    assert small.shape[0] <= 20
    assert small.shape[1] <= 256
    down, across = -(-shape[0] // small.shape[0]), -(-shape[1] // small.shape[1])
    for row in range(small.shape[0]):
        for column in range(small.shape[1]):
            part = values[row * down : (row + 1) * down, column * across : (column + 1) * across]
            assert abs(small[row, column]) == abs(part).max()
            assert small[row, column] in part


def test_a_thumbnail_has_the_shades_of_its_numbers() -> None:
    values = np.array([[[-2.0, 0.0, 1.0, 2.0]]], np.float32)
    shown = Panel(values, ("", "a", "b"), False, "signed")
    assert thumbnail(shown, 10, 10).tolist() == [[0, LEVELS // 2, round(0.75 * LEVELS), LEVELS]]
    assert thumbnail(shown, 10, 10, limit=4.0).tolist()[0][3] == round(0.75 * LEVELS)
    hidden = np.array([[[True, False, True, True]]])
    masked = Panel(values, ("", "a", "b"), False, "signed", hidden)
    assert thumbnail(masked, 10, 10, limit=2.0).tolist() == [[MASKED_LEVEL, LEVELS // 2, MASKED_LEVEL, MASKED_LEVEL]]
    # A bin of masked and open cells shows an open cell.
    assert thumbnail(masked, 10, 2, limit=2.0).tolist() == [[LEVELS // 2, MASKED_LEVEL]]


def test_tiles_of_a_thumbnail_are_arranged_as_in_the_figure() -> None:
    values = np.stack([np.zeros((2, 3)), np.ones((2, 3))]).astype(np.float32)
    pile, strip = (thumbnail(Panel(values, ("head", "a", "b"), flag, "weights"), 99, 99) for flag in (False, True))
    assert pile.shape == (4, 3)
    assert pile[:2].max() == 0
    assert pile[2:].min() == LEVELS
    assert strip.shape == (2, 6)
    assert strip[:, :3].max() == 0
    assert strip[:, 3:].min() == LEVELS


def test_zero_is_the_palest_shade() -> None:
    lightness = shades("signed").astype(int).sum(1)
    assert lightness.argmax() in (LEVELS // 2 - 1, LEVELS // 2, LEVELS // 2 + 1)
    assert len(lightness) == LEVELS + 1
    assert (shades("weights")[0] != shades("signed")[0]).any()


def test_columns_of_a_view_keep_their_numbers_tokens_and_colours() -> None:
    values = RANDOM.normal(size=(2, 5)).astype(np.float32)
    view = tensor_view("scores", values, ("query", "key"), tokens={"key": list("abcde")})
    part = view.columns(2, 3)
    assert (part.panel.values == values[None, :, 2:4]).all()
    assert (part.limit, part.first_column, part.labels(2)) == (view.limit, 2, ["c", "d"])
