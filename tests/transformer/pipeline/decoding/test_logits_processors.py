"""Tests of the logits processors of sampling."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from transformer.errors import InputError
from transformer.pipeline.decoding.logits_processors import MinP, Temperature, TopK, TopP, as_logits_processors

LOGITS = st.lists(st.lists(st.floats(-20, 20, width=32), min_size=7, max_size=7), min_size=1, max_size=3).map(torch.tensor)


def kept(logits: Tensor) -> list[set[int]]:
    return [set(torch.nonzero(row > -math.inf)[:, 0].tolist()) for row in logits]


@given(logits=LOGITS, temperature=st.floats(0.05, 10))
def test_temperature_is_softmax_of_divided_logits(logits: Tensor, temperature: float) -> None:
    expected = (logits.double() / temperature).softmax(-1)
    torch.testing.assert_close(Temperature(temperature).apply(logits).double().softmax(-1), expected, atol=1e-4, rtol=0)


@given(logits=LOGITS)
def test_temperature_zero_keeps_only_the_greedy_token(logits: Tensor) -> None:
    assert kept(Temperature(0).apply(logits)) == [{token} for token in logits.argmax(-1).tolist()]


@given(logits=LOGITS, count=st.integers(1, 9))
def test_top_k_keeps_the_k_most_probable(logits: Tensor, count: int) -> None:
    for row, tokens in zip(logits.tolist(), kept(TopK(count).apply(logits)), strict=True):
        assert tokens == set(sorted(range(7), key=lambda token: -row[token])[:count])


@given(logits=LOGITS, mass=st.floats(0, 1))
def test_top_p_keeps_the_fewest_tokens_with_that_mass(logits: Tensor, mass: float) -> None:
    probabilities = logits.double().softmax(-1)
    for row, values, tokens in zip(probabilities.tolist(), logits.tolist(), kept(TopP(mass).apply(logits)), strict=True):
        order = sorted(range(7), key=lambda token: -values[token])
        assert tokens == set(order[: len(tokens)])
        masses = [row[token] for token in order[: len(tokens)]]
        assert sum(masses) >= mass - 1e-9
        assert len(tokens) == 1 or sum(masses[:-1]) < mass + 1e-9


@pytest.mark.slow
@given(logits=LOGITS, share=st.floats(0, 1))
def test_min_p_keeps_tokens_with_a_share_of_the_highest_probability(logits: Tensor, share: float) -> None:
    probabilities = logits.double().softmax(-1)
    for row, tokens in zip(probabilities, kept(MinP(share).apply(logits)), strict=True):
        least = float(row.max()) * share
        assert {token for token in range(7) if row[token] > least + 1e-9} <= tokens
        assert tokens <= {token for token in range(7) if row[token] >= least - 1e-9}


@given(logits=LOGITS)
@settings(max_examples=20)
def test_every_logits_processor_keeps_the_greedy_token_and_the_order(logits: Tensor) -> None:
    for processor in (Temperature(0.3), Temperature(0), TopK(1), TopP(0), MinP(1)):
        assert processor.apply(logits).argmax(-1).tolist() == logits.argmax(-1).tolist()


def test_the_order_of_logits_processors_matters() -> None:
    logits = torch.tensor([[2.0, 1.5, 1.0, 0.0]])
    hot_first = TopP(0.6).apply(Temperature(5).apply(logits))
    cut_first = Temperature(5).apply(TopP(0.6).apply(logits))
    assert kept(hot_first) == [{0, 1, 2}]
    assert kept(cut_first) == [{0, 1}]


@pytest.mark.parametrize(
    ("make", "value", "sentence"),
    [
        (Temperature, -1, "The temperature is -1; allowed are 0 to 10.0."),
        (Temperature, math.nan, "The temperature is nan; allowed are 0 to 10.0."),
        (TopK, 0, "Top-k is 0; it must be a whole number of at least 1."),
        (TopP, 1.5, "Top-p is 1.5; allowed are 0 to 1."),
        (MinP, -0.1, "Min-p is -0.1; allowed are 0 to 1."),
    ],
)
def test_values_outside_the_limits_are_refused(make: type, value: float, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        make(value)
    assert str(error.value) == sentence


def test_anything_but_logits_processors_is_refused() -> None:
    with pytest.raises(InputError, match=r"^Logits processors are a list of Temperature, TopK, TopP and MinP, not "):
        as_logits_processors(["temperature"])
