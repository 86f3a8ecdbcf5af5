"""Tests of the scores of predictions. They are compared with counts by hand and with sums over every choice of cells."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transformer import InputError
from transformer.analysis.position_geometry import sinusoidal_table
from transformer.analysis.prediction_scores import caught_attention, drawn_mask, guessed_token, likeness


def rows(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, allowed cells and marked cells. Rows sum to 1, or to 0 if all keys are masked. Masked cells may be marked."""
    queries, keys = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    allowed = random.random((queries, keys)) < 0.8
    weights = np.where(allowed, random.random((queries, keys)), 0)
    total = weights.sum(1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0), allowed, random.random(allowed.shape) < 0.5


@settings(max_examples=60, deadline=None)
@given(st.composite(rows)())
def test_marks_count_the_weights_of_their_cells(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    weights, allowed, marked = case
    caught = caught_attention(weights, allowed, marked)
    cells = [cell for cell in np.ndindex(weights.shape) if allowed[cell]]
    hit = [cell for cell in cells if marked[cell]]
    full = [query for query, row in enumerate(allowed) if row.any()]
    assert caught.count == len(hit)
    assert caught.share == pytest.approx(sum(weights[cell] for cell in hit) / max(1, len(full)))
    assert caught.even == pytest.approx(sum(1 / allowed[query].sum() for query, _ in hit) / max(1, len(full)))
    best = max((sum(weights[cell] for cell in choice) for choice in combinations(cells, len(hit))), default=0)
    assert caught.most == pytest.approx(best / max(1, len(full)))
    above = [sorted((weights[row] - 1 / allowed[row].sum())[allowed[row]].tolist(), reverse=True) for row in full]
    leads = [sum(row[:number]) for row in above for number in range(len(hit) + 1)]
    assert caught.lead == pytest.approx(max(leads, default=0))
    left = [cell for cell in cells if not marked[cell]]
    assert (caught.missed is None) == (not left)
    if left:
        assert caught.missed_weight == max(weights[cell] for cell in left) == weights[caught.missed]


def test_marking_all_cells_has_share_1_and_marking_none_has_share_0() -> None:
    weights, allowed = np.array([[0.1, 0.9, 0.0]]), np.array([[True, True, False]])
    everything = caught_attention(weights, allowed, np.ones((1, 3), bool))
    assert (everything.count, everything.share, everything.even, everything.missed) == (2, 1.0, 1.0, None)
    nothing = caught_attention(weights, allowed, np.zeros((1, 3), bool))
    assert (nothing.count, nothing.share, nothing.even, nothing.missed, nothing.missed_weight) == (0, 0, 0, (0, 1), 0.9)


def test_the_lead_of_one_large_weight_is_the_same_for_any_number_of_marks() -> None:
    weights, allowed = np.array([[0.97, *[0.0025] * 12]]), np.ones((1, 13), bool)
    for count in (1, 6, 12):
        caught = caught_attention(weights, allowed, np.arange(13)[None] < count)
        assert caught.lead == pytest.approx(0.97 - 1 / 13)


def test_rows_that_attend_to_one_key_each_have_a_large_lead() -> None:
    caught = caught_attention(np.eye(14), np.ones((14, 14), bool), np.eye(14) * np.arange(14) == 3)
    assert (caught.count, caught.share, caught.most) == (1, pytest.approx(1 / 14), pytest.approx(1 / 14))
    assert caught.lead == pytest.approx(1 - 1 / 14)


def test_a_drawn_mask_is_compared_cell_by_cell() -> None:
    real = np.array([True, True, False])
    allowed = np.tril(np.ones((3, 3), bool)) & real
    drawn = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1]], bool)
    score = drawn_mask(allowed, drawn, real)
    assert score.right == 4
    assert score.missed == ((1, 0),)
    assert score.too_many == ((0, 1), (2, 2))
    assert score.future == ((0, 1),)
    assert score.padding == ((2, 2),)
    # Padding after the query counts as padding, not as future.
    late = drawn_mask(allowed, np.triu(np.ones((3, 3), bool), 2), real)
    assert (late.future, late.padding) == ((), ((0, 2),))
    perfect = drawn_mask(allowed, allowed, real)
    assert (perfect.right, perfect.missed, perfect.too_many) == (5, (), ())


def test_neighbours_are_most_similar_in_the_sinusoidal_table() -> None:
    table = sinusoidal_table(16, 64)
    score = likeness(table, 5, 6)
    assert score.best == (4, 6)
    assert score.rank == 1
    assert score.values[5] == pytest.approx(1)
    row, other = table[5].astype(float), table[9].astype(float)
    assert score.values[9] == pytest.approx(row @ other / (np.linalg.norm(row) * np.linalg.norm(other)))
    # Positions 3 and 7 are equally far from 5, and less similar to it than 4 and 6.
    assert likeness(table, 5, 3).rank == likeness(table, 5, 7).rank == 3
    assert likeness(table, 0).best == (1,)
    assert likeness(table, 0).rank == 0


def test_a_vector_of_zeros_has_cosine_0_to_every_vector() -> None:
    assert likeness(np.array([[0.0, 0.0], [1.0, 0.0]]), 1, 0).values.tolist() == [0.0, 1.0]


def test_a_guessed_token_has_its_rank() -> None:
    probabilities = np.array([0.1, 0.5, 0.15, 0.15, 0.1])
    assert guessed_token(probabilities, 1) == (0.5, 1, 1, 0.5)
    assert guessed_token(probabilities, 2) == guessed_token(probabilities, 3) == (0.15, 2, 1, 0.5)
    assert guessed_token(probabilities, 4).rank == 4


@pytest.mark.parametrize(
    ("score", "problem"),
    [
        (lambda: likeness(np.ones((1, 2)), 0), "at least two"),
        (lambda: likeness(np.ones((3, 2)), 1, 1), "another position"),
        (lambda: likeness(np.ones((3, 2)), 3), "allowed are 0 to 2"),
        (lambda: guessed_token(np.ones(4) / 4, 4), "allowed are 0 to 3"),
    ],
)
def test_a_prediction_that_cannot_be_scored_is_refused(score: Callable[[], object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        score()
