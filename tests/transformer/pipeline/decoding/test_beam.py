"""Tests of beam search against the true best answer, found by trying all answers."""

import itertools
import math

import pytest
import torch

from tests.transformer.pipeline.decoding.small_answers import (
    EOS,
    MAX_NEW_TOKENS,
    ONE,
    SOS,
    forced_total,
    model_with_ends,
    steps,
)
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.pipeline.decoding.generate import generate
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam, Greedy, Hypothesis


def tokens_of(generation: Generation, hypothesis: Hypothesis) -> list[int]:
    return [made.token for made in generation.chain(hypothesis)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_beam_as_wide_as_the_vocabulary_finds_the_best_of_all_answers(seed: int, penalty: float) -> None:
    """The answers have up to two tokens. The first step prunes nothing, so the second step keeps the best of all answers."""
    model = model_with_ends(seed=seed)
    generation = Generation.of(generate(model, ONE, SOS, EOS, 1, Beam(10, penalty)))
    every = [[EOS], *(list(pair) for pair in itertools.product(range(10), repeat=2) if pair[0] != EOS)]
    totals = [forced_total(model, tokens) / len(tokens) ** penalty for tokens in every]
    assert tokens_of(generation, generation.best) == every[totals.index(max(totals))]
    assert generation.best.score == pytest.approx(max(totals), abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_a_beam_of_one_is_greedy(seed: int) -> None:
    model = model_with_ends(seed=seed)
    greedy, beam = (Generation.of(steps(model, method=method)) for method in (Greedy(), Beam(1, 0.7)))
    assert beam.ids() == greedy.ids()
    assert beam.ended == greedy.ended
    assert beam.best.total == pytest.approx(greedy.best.total)


@pytest.mark.parametrize("seed", range(8))
def test_the_answer_scores_at_least_as_high_as_every_kept_hypothesis(seed: int) -> None:
    model = model_with_ends(seed=seed)
    generation = Generation.of(steps(model, method=Beam(4)))
    assert generation.best.score == max(generation.hypotheses[number].score for number in generation.steps[-1].kept)


def by_hand(model: Transformer, width: int) -> list[list[tuple[float, list[int]]]]:
    """The hypotheses that are kept after each step of a simple beam search, which runs the whole model for every hypothesis."""
    kept: list[tuple[float, list[int]]] = [(0.0, [])]
    history = []
    for _ in range(MAX_NEW_TOKENS + 1):
        candidates = []
        for total, tokens in kept:
            if tokens[-1:] == [EOS]:
                candidates.append((total, tokens))
                continue
            row = model(ONE, torch.tensor([[SOS, *tokens]]))[0, -1].log_softmax(-1).tolist()
            candidates += [(total + value, [*tokens, token]) for token, value in enumerate(row)]
        kept = sorted(candidates, key=lambda candidate: -candidate[0])[:width]
        history.append(kept)
        best = max((total for total, tokens in kept if tokens[-1] == EOS), default=-math.inf)
        if all(total <= best for total, _ in kept):
            break
    return history


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", [2, 3, 8])
@torch.inference_mode()
def test_each_step_keeps_the_same_hypotheses_as_a_simple_beam_search(seed: int, width: int) -> None:
    model = model_with_ends(seed=seed)
    generation, history = Generation.of(steps(model, method=Beam(width))), by_hand(model, width)
    assert len(generation.steps) == len(history)
    for step, expected in zip(generation.steps, history, strict=True):
        kept = sorted((generation.hypotheses[number] for number in step.kept), key=lambda made: -made.total)
        assert [tokens_of(generation, made) for made in kept] == [tokens for _, tokens in expected]
        assert [made.total for made in kept] == pytest.approx([total for total, _ in expected], abs=1e-4)


def test_the_tree_names_the_step_that_pruned_each_hypothesis() -> None:
    generation = Generation.of(steps(model_with_ends(seed=1), method=Beam(3)))
    last = generation.steps[-1]
    survivors = {made.number for number in last.kept for made in generation.chain(generation.hypotheses[number])}
    assert survivors.isdisjoint(generation.pruned)
    assert survivors | {*generation.pruned} == {made.number for made in generation.hypotheses}
    states = {made.number: generation.state(made) for made in generation.hypotheses}
    assert {number for number, state in states.items() if state in ("best", "kept")} == survivors
    assert [made.number for made in generation.chain(generation.best)] == [n for n, state in states.items() if state == "best"]
    at_once = {number for number, step in generation.pruned.items() if step == generation.hypotheses[number].step}
    assert {number for number, state in states.items() if state == "pruned"} == at_once
    for number, step in generation.pruned.items():
        made = generation.hypotheses[number]
        assert step >= made.step
        descendants = {kept for kept in generation.steps[step].kept if made in generation.chain(generation.hypotheses[kept])}
        assert not descendants
        if step > made.step:
            before = generation.steps[step - 1].kept
            assert any(made in generation.chain(generation.hypotheses[kept]) for kept in before)


@pytest.mark.slow
def test_a_longer_length_penalty_favours_longer_answers() -> None:
    lengths = []
    for penalty in (0.0, 3.0):
        answers = [Generation.of(steps(model_with_ends(seed=seed), method=Beam(4, penalty))).ids() for seed in range(10)]
        lengths.append(sum(map(len, answers)))
    assert lengths[0] < lengths[1]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Beam(0), "The width is 0; allowed are whole numbers from 1 to 1000."),
        (lambda: Beam(2, -1), "The length penalty is -1; allowed are 0 to 5.0."),
        (lambda: Generation(()), "An answer needs the steps of one source; there are 0."),
    ],
)
def test_invalid_settings_of_a_beam_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value) == sentence
