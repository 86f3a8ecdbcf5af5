"""Tests of the geometry of a token table: cosines, neighbours and a plane."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer.small import SOURCE, TARGET, small
from transformer import run_traced
from transformer.analysis.token_geometry import cosines, nearest, plane, token_table


def drawn(seed: int, rows: int, width: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)


@pytest.mark.parametrize("preset", ["vanilla", "pytorch", "shared_heads"])
def test_the_vector_of_a_token_is_its_row_of_the_table(preset: str):
    model = small(preset)
    trace = run_traced(model, SOURCE, TARGET)
    for side, ids in (("source", SOURCE), ("target", TARGET)):
        table = token_table(model, side)
        assert (table[ids.numpy()] == trace[f"{side}_embedding.token"].numpy()).all()
        assert not table.flags.writeable


def test_a_table_in_bfloat16_has_its_rounded_numbers():
    rounded = small("vanilla").source_embedding.table.weight.bfloat16()
    table = token_table(small("vanilla").bfloat16(), "source")
    assert table.tolist() == rounded.tolist()


@given(st.integers(0, 99), st.integers(1, 8), st.integers(1, 9))
def test_cosines_equal_pytorchs(seed: int, rows: int, width: int):
    a, b = drawn(seed, rows, width), drawn(seed + 1, 5, width)
    expected = torch.cosine_similarity(torch.tensor(a)[:, None], torch.tensor(b)[None], dim=-1, eps=1e-30)
    np.testing.assert_allclose(cosines(a, b), expected, atol=1e-5)
    np.testing.assert_allclose(cosines(7 * a, b), cosines(a, b), atol=1e-6)  # the length of a row does not change cosines


def test_a_row_has_cosine_1_with_itself_and_a_zero_row_has_none():
    table = drawn(0, 4, 6)
    table[2] = 0
    square = cosines(table, table)
    unknown = np.isnan(square)
    assert unknown[2].all()
    assert unknown[:, 2].all()
    assert unknown.sum() == 7
    np.testing.assert_allclose(np.delete(square.diagonal(), 2), 1, atol=1e-12)
    assert np.nanmax(abs(square)) <= 1


@given(st.integers(0, 99), st.integers(2, 12), st.integers(1, 15))
def test_neighbours_are_other_rows_sorted_by_cosine(seed: int, rows: int, count: int):
    table = drawn(seed, rows, 5)
    neighbours = nearest(table, 1, count)
    values = cosines(table[1:2], table)[0]
    others = sorted((other for other in range(rows) if other != 1), key=lambda other: -values[other])
    assert [neighbour.token_id for neighbour in neighbours] == others[:count]
    assert [neighbour.cosine for neighbour in neighbours] == [values[other] for other in others[:count]]


def test_zero_rows_have_no_neighbours():
    table = drawn(0, 6, 4)
    table[[0, 3]] = 0
    assert sorted(neighbour.token_id for neighbour in nearest(table, 1, 99)) == [2, 4, 5]
    assert nearest(table, 3, 99) == ()


@given(st.integers(0, 99), st.integers(3, 12), st.integers(2, 9))
def test_the_axes_have_the_largest_shares_of_the_variance(seed: int, rows: int, width: int):
    table = drawn(seed, rows, width)
    projection = plane(table)
    variances = np.sort(np.linalg.eigvalsh(np.cov(table.T.astype(np.float64))))[::-1]
    np.testing.assert_allclose(projection.shares, variances[:2] / variances.sum(), atol=1e-6)
    np.testing.assert_allclose(projection.points.var(0, ddof=1), variances[:2], atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(projection.points.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(projection.points[:, 0] @ projection.points[:, 1], 0, atol=1e-6)


@given(st.integers(0, 99))
def test_points_in_a_plane_keep_their_distances(seed: int):
    flat = drawn(seed, 10, 2) * (3, 1)
    turned, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(7, 7)))
    projection = plane((flat @ turned[:2] + 5).astype(np.float32))
    assert sum(projection.shares) == pytest.approx(1, abs=1e-6)

    def apart(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[:, None] - points[None], axis=-1)

    np.testing.assert_allclose(apart(projection.points), apart(flat), atol=1e-4)


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (1, 5), (6, 1), (2, 2)])
def test_tables_too_small_for_two_axes_still_have_points(rows: int, width: int):
    projection = plane(drawn(0, rows, width))
    assert projection.points.shape == (rows, 2)
    assert np.isfinite(projection.points).all()
    assert 0 <= sum(projection.shares) <= 1 + 1e-9
    assert plane(np.ones((4, 3), np.float32)).shares == (0, 0)


def test_rows_that_axes_are_not_fitted_to_are_still_projected():
    table = drawn(3, 12, 6)
    table[:2] *= 100
    words, words_alone = range(2, 12), plane(table[2:])
    projection = plane(table, words)
    assert projection.shares == pytest.approx(words_alone.shares)
    np.testing.assert_allclose(projection.points[2:], words_alone.points, atol=1e-9)
    assert abs(projection.points[:2]).max() > abs(projection.points[2:]).max()
