"""Tests of greedy decoding against a naive decoder that runs the whole model again for every token."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.transformer.small import PAD, VARIANTS, padded, small
from transformer.network.model import Transformer
from transformer.pipeline.decoding.answers import greedy, greedy_from

SOS, EOS = 1, 2


def naive(model: Transformer, source: Tensor, limit: int) -> tuple[list[int], bool]:
    """The answer for one source alone, without its padding, and whether it ended with `<eos>`."""
    target = [SOS]
    while True:
        logits = model(source[source != PAD][None], torch.tensor([target]))
        best = int(logits[0, -1].argmax())
        if best == EOS:
            return target[1:], True
        if len(target) > limit:
            return target[1:], False
        target.append(best)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@given(source=padded(3, 6), seed=st.integers(0, 50), limit=st.integers(0, 9), guess=st.lists(st.integers(0, 9), max_size=12))
@settings(max_examples=6)
@torch.no_grad()
def test_each_row_of_a_batch_gets_the_same_answer_alone_and_from_any_guess(
    preset: str, norm_first: bool, source: Tensor, seed: int, limit: int, guess: list[int]
):
    model = small(preset, seed=seed, norm_first=norm_first, encoder_layers=1, decoder_layers=1)
    with torch.no_grad():
        # Without this, few untrained models write `<eos>`.
        model.output_projection.bias[EOS] += 0.5
    written = greedy(model, source, SOS, EOS, limit)
    assert list(zip(written.ids, written.ended, strict=True)) == [naive(model, row, limit) for row in source]
    for row, ids, ended in zip(source, written.ids, written.ended, strict=True):
        for guessed in (guess, ids, ids[:-1], [*ids, *guess][:12]):
            target = torch.tensor([SOS, *guessed])
            logits = model(row[None], target[None])[0]
            assert greedy_from(model, row[None], SOS, EOS, limit, target[1:], logits) == ([ids], [ended])


def model_that_writes(token: int, **choices: Any) -> Transformer:
    model = small("pytorch", **choices)
    with torch.no_grad():
        model.output_projection.weight.zero_()
        model.output_projection.bias.copy_(torch.eye(10)[token])
    return model


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_decoding_stops_at_the_limit(limit: int):
    written = greedy(model_that_writes(7), torch.tensor([[1, 5, 2]]), SOS, EOS, limit)
    assert written == ([[7] * limit], [False])


def test_an_answer_fits_the_positions_of_the_model():
    written = greedy(model_that_writes(7), torch.tensor([[1, 5, 2]]), SOS, EOS, 10**6)
    assert written == ([[7] * 15], [False])  # max_len is 16, and <sos> takes one


def test_an_answer_can_be_empty():
    assert greedy(model_that_writes(EOS), torch.tensor([[1, 5, 2], [1, 2, 0]]), SOS, EOS, 5) == ([[], []], [True, True])


def test_the_encoder_runs_once(monkeypatch: pytest.MonkeyPatch):
    model, calls = model_that_writes(7), []
    encode = model.encode
    monkeypatch.setattr(model, "encode", lambda source: calls.append(source) or encode(source))
    greedy(model, torch.tensor([[1, 5, 2]]), SOS, EOS, 5)
    assert len(calls) == 1


@pytest.mark.parametrize(("guess", "passes"), [([7] * 12, 0), ([7, 7, 3, 7], 1), ([], 2)])
def test_a_guess_with_more_errors_costs_more_passes(monkeypatch: pytest.MonkeyPatch, guess: list[int], passes: int):
    model, calls, source, target = model_that_writes(7), [], torch.tensor([[1, 5, 2]]), torch.tensor([[SOS, *guess]])
    logits, decode = model(source, target)[0], model.decode
    monkeypatch.setattr(model, "decode", lambda *given: calls.append(given) or decode(*given))
    assert greedy_from(model, source, SOS, EOS, 12, target[0, 1:], logits) == ([[7] * 12], [False])
    assert len(calls) == passes


@pytest.mark.parametrize(("target_padding", "passes"), [("keys", 1), ("queries", 6)])
def test_only_padded_queries_masked_with_a_finite_number_need_greedy(
    monkeypatch: pytest.MonkeyPatch, target_padding: str, passes: int
):
    model = model_that_writes(PAD, target_padding=target_padding, mask_fill=-1e4)
    calls, source, target = [], torch.tensor([[1, 5, 2]]), torch.tensor([[SOS, 7]])
    logits, encoded, decode = model(source, target)[0], model.encode(source), model.decode
    monkeypatch.setattr(model, "decode", lambda *given: calls.append(given) or decode(*given))
    if passes == 1:  # the encoder's output is given
        monkeypatch.setattr(model, "encode", lambda _: pytest.fail("The encoder ran again."))
    assert greedy_from(model, source, SOS, EOS, 5, target[0, 1:], logits, encoded) == ([[PAD] * 5], [False])
    assert len(calls) == passes
