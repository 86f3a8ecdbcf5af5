"""Maps with fewer cells than weights."""

import numpy as np
import pytest

from transformer.figures.reduction import most_cells, reduced, reduced_map


def test_a_cell_shows_its_largest_allowed_weight() -> None:
    rng = np.random.default_rng(0)
    weights, allowed = rng.random((2, 3, 7, 5), dtype=np.float32), rng.random((2, 3, 7, 5)) < 0.5
    allowed[0, 0, :3, :2] = False
    made = reduced(weights, allowed, [f"q{row}" for row in range(7)], [f"k{column}" for column in range(5)], 3)
    assert made.weights.shape == made.allowed.shape == (2, 3, 3, 3)
    for place in np.ndindex(made.weights.shape):
        layer, head, row, column = place
        part = np.s_[layer, head, 3 * row : 3 * row + 3, 2 * column : 2 * column + 2]
        assert made.allowed[place] == allowed[part].any()
        assert made.weights[place] == np.where(allowed[part], weights[part], 0).max()
    assert not made.allowed[0, 0, 0, 0]
    assert made.queries == ("q0 … q2", "q3 … q5", "q6")
    assert made.keys == ("k0 … k1", "k2 … k3", "k4")


def test_one_map_is_reduced_only_if_it_is_too_large() -> None:
    weights, allowed, names = np.tri(5, dtype=np.float32), np.tri(5) > 0, [f"t{index}" for index in range(5)]
    assert reduced_map(weights, allowed, names, names, 5) == (weights, allowed, names, names)
    cells, may, queries, keys = reduced_map(weights, allowed, names, names, 3)
    assert cells.tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert may.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert queries == keys == ("t0 … t1", "t2 … t3", "t4")


@pytest.mark.parametrize(("layers", "heads", "cells"), [(32, 32, 54), (12, 12, 144), (1000, 1000, 8)])
def test_all_maps_fit_into_the_bytes(layers: int, heads: int, cells: int) -> None:
    assert most_cells(layers, heads, 3_000_000) == cells
    assert cells == 8 or cells**2 * layers * heads <= 3_000_000 < (cells + 1) ** 2 * layers * heads
