"""Tests of masks, and of a softmax that never returns NaN."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from transformer.network.config import TransformerConfig
from transformer.network.masks import Mask, attention_softmax, causal, source_mask, target_mask

IDS = torch.tensor([[1, 4, 0], [5, 0, 0]])


def test_the_source_mask_hides_exactly_the_padding():
    mask = source_mask(IDS, TransformerConfig.preset("vanilla"))
    assert mask.tolist() == [[[[True, True, False]]], [[[True, False, False]]]]


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        # Rows are queries. `vanilla` hides the padded rows, `pytorch` the padded columns, `shared_heads` neither.
        ("vanilla", [["100", "110", "000"], ["100", "000", "000"]]),
        ("pytorch", [["100", "110", "110"], ["100", "100", "100"]]),
        ("shared_heads", [["100", "110", "111"], ["100", "110", "111"]]),
    ],
)
def test_the_target_mask_of_each_variant(preset: str, expected: list[list[str]]):
    mask = target_mask(IDS, TransformerConfig.preset(preset))
    assert mask.shape == (2, 1, 3, 3)
    assert [["".join("01"[cell] for cell in row) for row in item[0].tolist()] for item in mask] == expected


@given(st.integers(1, 12))
def test_causal_is_the_lower_triangle(length: int):
    assert np.array_equal(causal(length)[0, 0].numpy(), np.tri(length, dtype=bool))


@pytest.mark.parametrize(
    ("keep", "anything_hidden", "may_be_empty"),
    [
        ([[True, True], [True, True]], False, False),
        ([[True, False], [True, True]], True, False),
        ([[True, True], [False, False]], True, True),
    ],
)
def test_a_mask_stores_its_hidden_keys_and_whether_rows_may_be_empty(
    keep: list[list[bool]], anything_hidden: bool, may_be_empty: bool
):
    mask = Mask.of(torch.tensor(keep)[None, None])
    assert (mask.hidden is not None) == anything_hidden
    assert mask.may_be_empty == may_be_empty
    if mask.hidden is not None:
        assert torch.equal(mask.hidden, ~mask.keep)


SCORES = arrays.arrays(np.float64, st.tuples(*[st.integers(1, 3)] * 4), elements=st.floats(-50, 50) | st.just(-math.inf))


@given(SCORES)
def test_softmax_equals_numpys(scores: np.ndarray):
    powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-60))
    sums = powers.sum(-1, keepdims=True)
    expected = np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0)
    np.testing.assert_allclose(attention_softmax(torch.from_numpy(scores), True), expected, atol=1e-12)


@given(SCORES)
def test_handling_empty_rows_changes_no_other_row(scores: np.ndarray):
    tensor = torch.from_numpy(scores)
    watched, plain = attention_softmax(tensor, True), tensor.softmax(-1)
    empty = (tensor == -math.inf).all(-1)
    assert torch.equal(watched[~empty], plain[~empty])
    assert (watched[empty] == 0).all()


def test_an_empty_row_has_no_gradient_and_leaves_the_others_finite():
    scores = torch.tensor([[-math.inf, -math.inf], [0.3, -math.inf], [0.3, 0.1]], requires_grad=True)
    (attention_softmax(scores[None, None], True) * torch.tensor([1.0, 2.0])).sum().backward()
    assert scores.grad[:2].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert scores.grad[2].abs().min() > 0.01
