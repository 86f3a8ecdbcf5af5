"""Tests of the attention of each variant, from its input to its output."""

import math

import pytest
import torch
from einops import einsum, rearrange
from torch import Tensor

from transformer.network.attention import MultiHeadAttention, PerHeadProjection, SharedProjection
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.masks import Mask


def attention(preset: str, **values: object) -> MultiHeadAttention:
    torch.manual_seed(0)
    return MultiHeadAttention(TransformerConfig.preset(preset, d_model=12, heads=3, **values)).eval()


def open_mask(queries: int, keys: int, rows: int = 2) -> Mask:
    return Mask.of(torch.ones(rows, 1, queries, keys, dtype=torch.bool))


X, MEMORY = (torch.randn(2, length, 12, generator=torch.Generator().manual_seed(length)) for length in (4, 5))


@pytest.mark.parametrize(("preset", "divisor"), [("vanilla", 4), ("pytorch", 4), ("shared_heads", 12)])
@torch.no_grad()
def test_attention_equals_the_formula(preset: str, divisor: int):
    module = attention(preset)
    query, key, value = module.query(X), module.key(MEMORY), module.value(MEMORY)
    scores = einsum(query, key, "batch head query d, batch head key d -> batch head query key") / math.sqrt(divisor)
    heads = einsum(scores.softmax(-1), value, "batch head query key, batch head key d -> batch head query d")
    expected = module.output_projection(rearrange(heads, "batch head query d -> batch query (head d)"))
    torch.testing.assert_close(module(X, MEMORY, open_mask(4, 5)), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("preset", "kind"), [("vanilla", PerHeadProjection), ("shared_heads", SharedProjection)])
def test_each_head_has_its_slice_of_the_projection(preset: str, kind: type):
    projection = attention(preset).query
    assert isinstance(projection, kind)
    heads, (weight, *bias) = projection(X), projection.projection.parameters()
    for head in range(3):
        part = slice(4 * head, 4 * head + 4)
        expected = X @ weight[part].T + bias[0][part] if preset == "vanilla" else X[..., part] @ weight.T
        torch.testing.assert_close(heads[:, head], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("preset", "count"), [("vanilla", 4 * (144 + 12)), ("shared_heads", 3 * 16 + 144)])
def test_attention_has_the_number_of_parameters_of_its_variant(preset: str, count: int):
    assert sum(parameter.numel() for parameter in attention(preset).parameters()) == count


def test_a_larger_divisor_gives_flatter_weights():
    sharp, flat = attention("shared_heads", score_divisor="d_head"), attention("shared_heads")
    entropies = [entropy(weights_of(module, 40 * X)) for module in (sharp, flat)]
    assert (entropies[1] >= entropies[0] - 1e-6).all()
    assert (entropies[1] > entropies[0] + 1e-3).any()


def weights_of(module: MultiHeadAttention, x: Tensor) -> Tensor:
    scores = module.scale(module.query(x) @ module.key(x).mT)
    return scores.softmax(-1)


def entropy(weights: Tensor) -> Tensor:
    return -(weights * weights.clamp(min=1e-30).log()).sum(-1)


@pytest.mark.parametrize("preset", PRESETS)
def test_hiding_a_key_equals_removing_it(preset: str):
    module = attention(preset)
    keep = torch.tensor([True, False, True, True, False]).expand(2, 1, 1, 5)
    hidden = module(X, MEMORY, Mask.of(keep))
    absent = module(X, MEMORY[:, [0, 2, 3]], open_mask(4, 3))
    torch.testing.assert_close(hidden, absent, atol=1e-6, rtol=0)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_order_of_keys_does_not_matter(preset: str):
    module, order = attention(preset), [3, 1, 4, 0, 2]
    expected = module(X, MEMORY, open_mask(4, 5))
    torch.testing.assert_close(module(X, MEMORY[:, order], open_mask(4, 5)), expected, atol=1e-6, rtol=0)


def test_masking_before_or_after_scaling_gives_the_same_weights():
    before, after = attention("shared_heads"), attention("shared_heads", mask_before_scaling=False)
    mask = Mask.of(torch.ones(2, 1, 4, 4, dtype=torch.bool).tril())
    torch.testing.assert_close(before(X, X, mask), after(X, X, mask), atol=0, rtol=0)
