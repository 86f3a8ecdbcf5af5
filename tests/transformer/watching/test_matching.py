"""Tests of the search for a tensor of ours among theirs, in any layout."""

import math

import pytest
import torch
from einops import rearrange

from transformer.watching.matching import Library, relative

HEADS = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(0))
AXES = ("batch", "head", "query", "d_head")


@pytest.mark.parametrize(
    "layout",
    [
        *("b h t d -> b h t d", "b h t d -> b t (h d)", "b h t d -> (b h) t d", "b h t d -> t b h d"),
        *("b h t d -> b t (d h)", "b h t d -> (h b) t d", "b h t d -> b (h d) t"),
    ],
)
def test_a_tensor_is_found_in_any_layout(layout: str) -> None:
    assert Library([torch.zeros(2, 3), rearrange(HEADS, layout)]).distance(HEADS, AXES) == 0


def test_heads_that_are_tensors_of_their_own_are_found() -> None:
    assert Library([head.contiguous() for head in HEADS.unbind(1)]).distance(HEADS, AXES) == 0
    assert Library([head.contiguous() for head in HEADS.unbind(1)][:2]).distance(HEADS, AXES) > 0.1


def test_other_numbers_are_not_found() -> None:
    assert Library([HEADS + 1]).distance(HEADS, AXES) > 0.1
    assert Library([]).distance(HEADS, AXES) == math.inf
    assert Library([HEADS.reshape(2, 5, 3, 4)]).distance(HEADS, AXES) > 0.1  # the same numbers, with positions mixed
    scores = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(1))
    assert Library([scores.mT.contiguous()]).distance(scores, ("batch", "query", "key")) > 0.1


def test_one_huge_number_does_not_hide_a_difference() -> None:
    ours = torch.tensor([1.0, 2.0, -1e9])
    assert float(relative(torch.tensor([1.0, 2.5, -1e9]), ours)) > 0.001
    assert float(relative(ours, ours)) == 0
    assert float(relative(torch.tensor([1.0, math.nan, 0.0]), ours)) == math.inf
