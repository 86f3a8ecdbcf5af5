"""Tests of token embeddings and positions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.transformer import reference
from tests.transformer.small import SIZES, SOURCE
from transformer.errors import InputError
from transformer.network.config import PRESETS, TransformerConfig
from transformer.network.embedding import Embedding, sinusoid


def embedding(preset: str, **values: object) -> Embedding:
    torch.manual_seed(0)
    return Embedding(TransformerConfig.preset(preset, **SIZES | values), "source").eval()


@given(st.integers(1, 40), st.integers(1, 24))
def test_the_sinusoid_equals_the_formula(positions: int, d_model: int):
    np.testing.assert_allclose(sinusoid(positions, d_model), reference.sinusoid(positions, d_model), rtol=0, atol=1e-14)


def test_the_sinusoid_is_exact_at_large_positions():
    position, d_model = 60_000, 8
    expected = reference.sinusoid(1, d_model)
    angles = [position / 10_000 ** (2 * (index // 2) / d_model) for index in range(d_model)]
    expected = [np.sin(angle) if index % 2 == 0 else np.cos(angle) for index, angle in enumerate(angles)]
    np.testing.assert_allclose(sinusoid(position + 1, d_model)[-1], expected, rtol=0, atol=1e-14)


def test_a_model_adds_the_sinusoid_rounded_to_its_own_precision():
    module, exact = embedding("vanilla"), sinusoid(SIZES["max_len"], SIZES["d_model"])
    single = module.positions(16).clone()
    assert torch.equal(single, exact.float())
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.float64, torch.float32):
        assert torch.equal(module.to(dtype).positions(16), exact.to(dtype))
    torch.testing.assert_close(module.double()(SOURCE), module.table.weight[SOURCE] + exact[:7], rtol=0, atol=0)
    assert list(module.state_dict()) == ["table.weight"]
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.equal(embedding("vanilla").positions(16), exact)
    finally:
        torch.set_default_dtype(torch.float32)


def test_models_share_equal_tables_until_one_changes_its_precision():
    first, second = embedding("vanilla"), embedding("vanilla")
    assert first.positions.table is second.positions.table
    assert first.positions.table is not embedding("vanilla", max_len=8).positions.table
    first.double()
    assert first.positions.table.dtype == torch.float64
    assert torch.equal(second.positions.table, sinusoid(SIZES["max_len"], SIZES["d_model"]).float())


def test_the_sinusoid_is_neither_a_parameter_nor_in_a_checkpoint():
    fixed = embedding("vanilla")
    assert [name for name, _ in fixed.named_parameters()] == ["table.weight"]
    assert list(fixed.state_dict()) == ["table.weight"]


@pytest.mark.parametrize(("preset", "factor"), [("vanilla", 1.0), ("pytorch", 12**0.5), ("shared_heads", 1.0)])
def test_the_sum_is_token_times_factor_plus_position(preset: str, factor: float):
    module = embedding(preset)
    learned = preset == "shared_heads"
    positions = module.positions.table.weight[:7] if learned else torch.from_numpy(reference.sinusoid(7, 12)).float()
    expected = module.table.weight[SOURCE] * factor + positions
    torch.testing.assert_close(module(SOURCE), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize(("preset", "zero"), [("vanilla", True), ("pytorch", False), ("shared_heads", False)])
def test_the_padding_row_is_zero_only_in_some_variants(preset: str, zero: bool):
    assert bool((embedding(preset, source_pad=3).table.weight[3] == 0).all()) == zero


@pytest.mark.parametrize("preset", PRESETS)
def test_dropout_follows_the_sum(preset: str):
    module = embedding(preset, dropout=0.5).train()
    before, after = module.eval()(SOURCE), module.train()(SOURCE)
    dropped = after == 0
    assert 0.2 < dropped.float().mean() < 0.8
    torch.testing.assert_close(after[~dropped], 2 * before[~dropped])


def test_an_error_names_the_side():
    with pytest.raises(InputError, match="There is no source token id 10; allowed are 0 to 9"):
        embedding("vanilla")(torch.tensor([[10]]))
