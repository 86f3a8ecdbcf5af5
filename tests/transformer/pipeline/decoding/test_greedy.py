"""Tests of greedy decoding against a naive decoder that runs the whole model again for every token."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.transformer.small import PAD, VARIANTS, padded, small
from transformer.network.model import Transformer
from transformer.pipeline.decoding.generate import greedy

SOS, EOS = 1, 2


def naive(model: Transformer, source: Tensor, max_new_tokens: int) -> tuple[list[int], bool]:
    """The answer for one source alone, without its padding, and whether it ended with `<eos>`."""
    target = [SOS]
    while True:
        logits = model(source[source != PAD][None], torch.tensor([target]))
        best = int(logits[0, -1].argmax())
        if best == EOS:
            return target[1:], True
        if len(target) > max_new_tokens:
            return target[1:], False
        target.append(best)


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@given(source=padded(3, 6), seed=st.integers(0, 50), max_new_tokens=st.integers(0, 9))
@settings(max_examples=6)
@torch.no_grad()
def test_each_row_of_a_batch_gets_the_same_answer_alone(
    preset: str, norm_first: bool, source: Tensor, seed: int, max_new_tokens: int
):
    model = small(preset, seed=seed, norm_first=norm_first, encoder_layers=1, decoder_layers=1)
    with torch.no_grad():
        # Without this, few untrained models write `<eos>`.
        model.output_projection.bias[EOS] += 0.5
    generated = greedy(model, source, SOS, EOS, max_new_tokens)
    assert list(zip(generated.ids, generated.ended, strict=True)) == [naive(model, row, max_new_tokens) for row in source]


def model_that_writes(token: int, **choices: Any) -> Transformer:
    model = small("pytorch", **choices)
    with torch.no_grad():
        model.output_projection.weight.zero_()
        model.output_projection.bias.copy_(torch.eye(10)[token])
    return model


@pytest.mark.parametrize("max_new_tokens", [0, 1, 5])
def test_decoding_stops_at_the_limit(max_new_tokens: int):
    generated = greedy(model_that_writes(7), torch.tensor([[1, 5, 2]]), SOS, EOS, max_new_tokens)
    assert generated[:2] == ([[7] * max_new_tokens], [False])
    # The most probable of ten tokens has the logit 1, the others have 0.
    np.testing.assert_allclose(generated.log_probabilities, [[1 - np.log(np.e + 9)] * max_new_tokens], rtol=1e-5)


def test_an_answer_fits_the_positions_of_the_model():
    generated = greedy(model_that_writes(7), torch.tensor([[1, 5, 2]]), SOS, EOS, 10**6)
    assert generated[:2] == ([[7] * 15], [False])  # max_len is 16, and <sos> takes one


def test_an_answer_can_be_empty():
    generated = greedy(model_that_writes(EOS), torch.tensor([[1, 5, 2], [1, 2, 0]]), SOS, EOS, 5)
    assert generated[:2] == ([[], []], [True, True])
    assert [len(row) for row in generated.log_probabilities] == [1, 1]  # that of `<eos>`


def test_the_encoder_runs_once():
    model, calls = model_that_writes(7), []
    model.encoder.register_forward_hook(lambda *_: calls.append(1))
    greedy(model, torch.tensor([[1, 5, 2]]), SOS, EOS, 5)
    assert len(calls) == 1
