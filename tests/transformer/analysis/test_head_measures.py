"""Tests of the measures of a head, with weights whose measures are known."""

import numpy as np
import pytest

from transformer import InputError
from transformer.analysis.head_measures import alignment_mask, mean_of, measure, rollout, shift, strongest


def head(pattern: np.ndarray) -> np.ndarray:
    return pattern[None, None].astype(np.float64)


EYE = np.eye(6)
PREVIOUS = np.eye(6, k=-1) + np.eye(6)[0] * np.array([1, 0, 0, 0, 0, 0])[:, None]


@pytest.mark.parametrize(
    ("pattern", "name", "value"),
    [
        (EYE, "self", 1.0),
        (EYE, "diagonal", 1.0),
        (EYE, "entropy", 0.0),
        (EYE, "distance", 0.0),
        (EYE[::-1], "anti-diagonal", 1.0),
        (EYE[::-1], "distance", 3.0),
        (PREVIOUS, "previous", 5 / 6),
        (np.full((6, 6), 1 / 6), "entropy", np.log2(6)),
        (np.full((6, 6), 1 / 6), "first", 1 / 6),
        (np.tile(EYE[5], (6, 1)), "last", 1.0),
        (np.eye(6, k=1), "next", 1.0),  # the last query has no allowed key and is skipped
    ],
)
def test_a_pattern_has_its_known_measure(pattern: np.ndarray, name: str, value: float) -> None:
    assert measure(head(pattern))[name][0, 0] == pytest.approx(value)


def test_the_diagonal_of_a_map_that_is_not_square_runs_from_corner_to_corner() -> None:
    pattern = np.zeros((4, 10))
    pattern[range(4), [0, 3, 6, 9]] = 1
    assert measure(head(pattern))["diagonal"][0, 0] == 1
    assert measure(head(pattern[:, ::-1]))["anti-diagonal"][0, 0] == 1


def test_alignment_counts_only_queries_that_the_task_aligns() -> None:
    aligned = np.zeros((3, 4), dtype=bool)
    aligned[0, 1] = aligned[1, 2] = aligned[1, 3] = True
    weights = np.array([[0.1, 0.7, 0.1, 0.1], [0.0, 0.0, 0.5, 0.4], [1.0, 0.0, 0.0, 0.0]])
    assert measure(head(weights), aligned)["alignment"][0, 0] == pytest.approx((0.7 + 0.9) / 2)
    weights[1] = 0  # no allowed key
    assert measure(head(weights), aligned)["alignment"][0, 0] == pytest.approx(0.7)


def test_the_alignment_of_a_task_becomes_rows_and_keys_shifted_by_sos() -> None:
    mask = alignment_mask([(0, 2), (1, 1), (2, 0)], 4, 5)
    assert mask is not None
    assert np.argwhere(mask).tolist() == [[0, 3], [1, 2], [2, 1]]
    assert alignment_mask(None, 4, 5) is None
    beyond = alignment_mask([(9, 0), (0, 9)], 4, 5)
    assert beyond is not None
    assert not beyond.any()


def test_shift_is_one_for_a_head_whose_whole_weight_moves() -> None:
    a, b = np.zeros((2, 3, 5)), np.zeros((2, 3, 5))
    a[1, 2, 1] = b[1, 2, 4] = 1
    shifts = shift(a, b, 1, 4)
    assert shifts[1, 2] == 1
    assert shifts.sum() == 1
    assert shift(b, a, 1, 4)[1, 2] == -1
    assert strongest(shifts) == (1, 2)


def test_repetitions_are_measured_on_the_queries_whose_token_occurred_before() -> None:
    tokens = ["a", "b", "a", "c", "a", "b"]
    weights = np.tril(np.ones((6, 6)))
    weights[4] = [0.1, 0.2, 0.3, 0.25, 0.15, 0]  # a: before at 0 and 2, then b and c
    weights[2] = [0.6, 0.1, 0.3, 0, 0, 0]  # a: before at 0, then b
    weights[5] = [0, 0.5, 0.4, 0, 0, 0.1]  # b: before at 1, then a
    measured = measure(head(weights), ids=tokens)
    assert measured["duplicate"][0, 0] == pytest.approx((0.6 + 0.4 + 0.5) / 3)
    assert measured["induction"][0, 0] == pytest.approx((0.1 + 0.45 + 0.4) / 3)
    assert measure(head(weights), ids=[7, 3, 7, 9, 7, 3])["induction"] == measured["induction"]
    assert not {"duplicate", "induction"} & {*measure(head(weights)), *measure(head(weights), ids="abcdef")}
    weights[5] = 0  # a query that may attend to no key is not counted
    assert measure(head(weights), ids=tokens)["duplicate"][0, 0] == pytest.approx((0.6 + 0.4) / 2)


def test_a_token_that_follows_itself_is_its_own_continuation() -> None:
    assert measure(head(np.eye(3)), ids=[5, 5, 4])["induction"][0, 0] == 1


def test_ids_that_do_not_fit_the_weights_are_refused() -> None:
    with pytest.raises(InputError, match="There are 2 ids, but 4 queries and 4 keys"):
        measure(np.ones((1, 1, 4, 4)), ids=[1, 2])
    with pytest.raises(InputError, match="There are 4 ids, but 4 queries and 5 keys"):
        measure(np.ones((1, 1, 4, 5)), ids=[1, 2, 3, 4])


def test_the_mean_skips_sentences_without_the_measure() -> None:
    means = mean_of([{"self": np.array([[1.0]]), "alignment": np.array([[0.5]])}, {"self": np.array([[0.0]])}])
    assert means["self"][0, 0] == 0.5
    assert means["alignment"][0, 0] == 0.5


def test_rollout_multiplies_the_layers_and_its_rows_sum_to_one() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 2, 4))
    rolled = rollout(weights)
    assert rolled.shape == (3, 4, 4)
    assert rolled.sum(-1) == pytest.approx(1)
    assert rolled[1] == pytest.approx((weights[1].mean(0) / 2 + np.eye(4) / 2) @ (weights[0].mean(0) / 2 + np.eye(4) / 2))


def test_rollout_of_heads_that_attend_to_their_own_position_is_the_identity() -> None:
    assert rollout(np.broadcast_to(np.eye(3), (2, 2, 3, 3)))[-1] == pytest.approx(np.eye(3))
