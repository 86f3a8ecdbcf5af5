"""Tests of panels: tiles, rows and columns of a tensor, colours and small pictures."""

import numpy as np
import pytest

from transformer.figures.panels import (
    Panel,
    TensorView,
    in_one_scale,
    panel,
    strongest,
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
