"""Tests of the steps of an answer: greedy, sampled, forced, edited; with and without a cache."""

import math

import pytest
import torch
from torch import Tensor

from tests.transformer.pipeline.decoding.small_answers import (
    EOS,
    MAX_NEW_TOKENS,
    ONE,
    SOS,
    forced_total,
    model_with_ends,
    steps,
)
from tests.transformer.small import PAD, SOURCE, VARIANTS, small
from transformer import Pipeline
from transformer.errors import InputError
from transformer.network.tap import Edit, watched
from transformer.pipeline.decoding.cached_edits import fits_cache
from transformer.pipeline.decoding.generate import ALLOWED, OWN, generate
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.logits_processors import LogitsProcessor, MinP, Temperature, TopK, TopP
from transformer.pipeline.decoding.methods import Beam, Greedy, Sample
from transformer.tracing.interventions import Ablate, Block, Patch, Replace, Scale
from transformer.tracing.phrases import interventions

LOGITS_PROCESSORS: tuple[LogitsProcessor, ...] = (Temperature(1.5), TopK(6), TopP(0.9), MinP(0.05))


@pytest.mark.few_cases(4)
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@pytest.mark.parametrize("method", [Greedy(), Sample(3), Beam(3, 0.5)])
def test_steps_with_and_without_a_cache_are_equal(preset: str, norm_first: bool, method: Greedy | Sample | Beam) -> None:
    model = model_with_ends(preset, norm_first=norm_first)
    source = ONE if isinstance(method, Beam) else SOURCE
    with_cache, without_cache = (
        steps(model, source, method=method, suppress=(EOS,), cached=cached) for cached in (True, False)
    )
    assert len(with_cache) == len(without_cache) == MAX_NEW_TOKENS + 1
    for first, second in zip(with_cache, without_cache, strict=True):
        torch.testing.assert_close(first.own.logits, second.own.logits, atol=1e-5, rtol=0)
        assert [made[:5] for made in first.hypotheses] == [made[:5] for made in second.hypotheses]
        for kind in ("decoder", "cross"):
            torch.testing.assert_close(first.attention(kind), second.attention(kind), atol=1e-5, rtol=0)


@pytest.mark.parametrize("method", [Greedy(), Beam(2)])
def test_written_padding_gives_the_same_logits_with_and_without_a_cache(method: Greedy | Beam) -> None:
    """In this variant a padded query attends to all tokens equally, also to later ones."""
    model = small("vanilla")
    with_cache, without_cache = (
        steps(model, method=method, forced={1: PAD}, suppress=(EOS,), cached=cached) for cached in (True, False)
    )
    for first, second in zip(with_cache, without_cache, strict=True):
        torch.testing.assert_close(first.own.logits, second.own.logits, atol=1e-5, rtol=0)


EDITS: list[tuple[bool, tuple[Edit, ...]]] = [
    (True, (Ablate("decoder.layers.0.cross_attention", heads=(1,)),)),
    (True, (Ablate("decoder.layers.1.self_attention", heads=(0,), to="uniform"),)),
    (True, (Scale("decoder.layers.0.self_attention.key.heads", factor=2.0),)),
    (True, (Scale("decoder.layers.0.self_attention.value.projected", factor=-1.0),)),
    (True, interventions("no positions", small().config)),
    (True, interventions("no scaling decoder layer 1", small().config)),
    (True, interventions("no residual decoder layer 1 feed_forward", small().config)),
    (True, interventions("no padding mask", small().config)),
    (True, (Replace("decoder.layers.0.self_attention.value.heads", by="decoder.layers.0.self_attention.key.heads"),)),
    (True, (Block("encoder.layers.0.self_attention", edges=((0, 1),)),)),
    (False, (Block("decoder.layers.0.cross_attention", edges=((0, 1), (2, 3))),)),
    (False, (Block("decoder.layers.0.self_attention", edges=((2, 1),)),)),
    (False, (Scale("decoder.layers.0.self_attention.output", factor=3.0, positions=(1,)),)),
    (False, (Patch("decoder.layers.0.feed_forward.output", values=0.5, positions=(1,)),)),
    (False, (Replace("decoder.layers.0.self_attention.key.heads", by="decoder.layers.0.self_attention.query.heads"),)),
    (False, interventions("no causal mask", small().config)),
]


@pytest.mark.few_cases(3)
@pytest.mark.parametrize(("fits", "edits"), EDITS, ids=str)
def test_edits_have_the_same_effect_with_and_without_a_cache(fits: bool, edits: tuple[Edit, ...]) -> None:
    model = model_with_ends()
    assert fits_cache(model, edits) is fits
    plain = steps(model, suppress=(EOS,), cached=False)
    with_cache, without_cache = (steps(model, edits=edits, suppress=(EOS,), cached=cached) for cached in (True, False))
    assert len(with_cache) == len(without_cache) == MAX_NEW_TOKENS + 1
    for first, second in zip(with_cache, without_cache, strict=True):
        torch.testing.assert_close(first.own.logits, second.own.logits, atol=1e-5, rtol=0)
    if "source_mask" not in str(edits):  # this source has no padding
        assert any(not torch.allclose(a.own.logits, b.own.logits) for a, b in zip(plain, without_cache, strict=False))


@pytest.mark.parametrize("preset", ["vanilla", "shared_heads"])
def test_a_step_holds_every_tap_also_with_an_edit(preset: str) -> None:
    model = model_with_ends(preset)
    for choices in ({}, {"edits": (Ablate("decoder.layers.0.cross_attention"),)}, {"cached": False}, {"method": Beam(2)}):
        for step in steps(model, **choices):
            assert step.values.keys() == model.taps.keys()
            assert step.values["decoder.layers.0.self_attention.weights"].shape[-1] == step.index + 1
            assert step.attention("decoder").shape == (2, 3, step.index + 1)
            expected = torch.ones(2, 3)
            expected[0] = 0.0 if "edits" in choices else 1.0
            torch.testing.assert_close(step.attention("cross").sum(-1), expected)
            torch.testing.assert_close(step.values["probabilities"][:, -1], step.own.probabilities)
    assert not steps(model, traced=False)[0].values
    with pytest.raises(InputError, match=r"^This step has no cross attention\.$"):
        steps(model, traced=False)[0].attention("cross")
    with pytest.raises(InputError, match=r"^This step has no encoder attention\.$"):
        steps(model)[0].attention("encoder")


def test_the_caller_does_not_run_in_the_scope_or_in_inference_mode() -> None:
    run = generate(small(), ONE, SOS, EOS, 3, edits=(Ablate("decoder.layers.0.cross_attention"),))
    next(run)
    assert not watched()
    assert not torch.is_inference_mode_enabled()


# --- methods ----------------------------------------------------------------------------------------------------------


def test_the_stages_follow_the_order_of_the_logits_processors() -> None:
    (step, *_) = steps(small(), method=Sample(1), logits_processors=LOGITS_PROCESSORS, suppress=(0, 1))
    assert [stage.by for stage in step.stages] == [OWN, ALLOWED, *LOGITS_PROCESSORS]
    logits = step.own.logits.index_fill(-1, torch.tensor([0, 1]), -math.inf)
    for stage in step.stages[1:]:
        logits = stage.by.apply(logits) if stage.by != ALLOWED else logits
        torch.testing.assert_close(stage.logits, logits)
        torch.testing.assert_close(stage.probabilities.sum(-1), torch.ones(1))


@pytest.mark.parametrize("logits_processors", [(Temperature(0),), (Temperature(0.001),), (TopK(1),), (TopP(0),), (MinP(1),)])
def test_sampling_with_the_strictest_logits_processors_is_greedy(logits_processors: tuple[LogitsProcessor, ...]) -> None:
    model = model_with_ends()
    expected = [step.hypotheses[0].token for step in steps(model)]
    assert [
        step.hypotheses[0].token for step in steps(model, method=Sample(5), logits_processors=logits_processors)
    ] == expected


def test_the_memory_of_an_answer_counts_each_tensor_once() -> None:
    plain = Generation.of(steps(small(), traced=False))
    assert plain.nbytes == sum(step.input_ids.nbytes + step.own.logits.nbytes for step in plain.steps)
    traced = Generation.of(steps(small()))
    memories = {
        values.untyped_storage().data_ptr(): values.untyped_storage().nbytes()
        for step in traced.steps
        for values in (step.input_ids, step.own.logits, *step.values.values(), *step.masks.values())
    }
    assert plain.nbytes < traced.nbytes <= sum(memories.values())


def test_a_token_beyond_the_last_allowed_one_is_not_written() -> None:
    answers = [Generation.of(generate(model_with_ends(seed=seed), ONE, SOS, EOS, 3, Greedy())) for seed in range(8)]
    assert {answer.ended for answer in answers} == {True, False}
    for answer in answers:
        written = answer.written()
        assert written
        assert tuple(made.token for made in answer.chain(written))[: len(answer.ids())] == answer.ids()
        assert written.step + 1 == len(answer.ids()) + answer.ended


def test_greedy_ignores_logits_processors() -> None:
    model = model_with_ends()
    assert Generation.of(steps(model, logits_processors=LOGITS_PROCESSORS)).ids() == Generation.of(steps(model)).ids()


def test_the_same_seed_writes_the_same_answer_and_other_seeds_write_others() -> None:
    model = model_with_ends()
    answers = [Generation.of(steps(model, method=Sample(seed))).ids() for seed in (1, 1, 2, 3, 4)]
    assert answers[0] == answers[1]
    assert len({*answers}) > 2


def test_samples_follow_their_probabilities() -> None:
    """χ² of 20,000 samples, with a fixed seed."""
    (step, *_) = steps(small(), method=Sample(11), logits_processors=(Temperature(1.3), TopK(6)))
    logits = step.stages[-1].logits[0]
    count = 20_000
    sampled = Sample(11).samples(logits, 0, count)
    assert int(sampled[0]) == step.hypotheses[0].token
    expected = logits.softmax(-1).double() * count
    observed = torch.bincount(sampled, minlength=len(logits))
    allowed = expected > 0
    assert observed[~allowed].sum() == 0
    chi_squared = float(((observed - expected)[allowed] ** 2 / expected[allowed]).sum())
    assert chi_squared < 20.5  # 5 degrees of freedom: exceeded once in a thousand


class Ones(Sample):
    def uniforms(self, index: int, count: int) -> Tensor:
        return torch.ones(count, dtype=torch.float64)


def test_a_draw_of_almost_one_takes_the_last_allowed_token() -> None:
    logits = torch.tensor([0.0, 1.0, 2.0, -math.inf])
    assert Ones(0).samples(logits, 0, 2).tolist() == [2, 2]


# --- forced tokens ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [Greedy(), Sample(2), Beam(3)])
def test_a_forced_token_is_written_and_later_tokens_are_chosen_again(method: Greedy | Sample | Beam) -> None:
    model = model_with_ends(seed=2)
    plain = Generation.of(steps(model, method=method))
    forced = Generation.of(steps(model, method=method, forced={1: 7}))
    assert forced.ids()[1] == 7
    assert forced.steps[1].forced
    assert not forced.steps[0].forced
    if not isinstance(method, Beam):
        assert forced.ids()[:1] == plain.ids()[:1]
    chain = forced.chain(forced.best)
    if isinstance(method, Beam):
        assert all(forced.chain(made)[1].token == 7 for made in forced.hypotheses if made.step > 0)
        assert all(forced.hypotheses[number].step > 0 for number in forced.steps[-1].kept)
    assert sum(made.log_probability for made in chain) == pytest.approx(forced_total(model, [made.token for made in chain]))


def test_a_forced_end_ends_the_answer_even_if_it_must_not_be_written() -> None:
    model = small(seed=4)
    generation = Generation.of(steps(model, forced={2: EOS}, suppress=(0, 1, 2, 3)))
    assert generation.ended
    assert len(generation.ids()) == 2


@pytest.mark.parametrize("forced", [{0: 10}, {-1: 3}, {0: -1}, {0: True}])
def test_an_invalid_forced_token_is_refused(forced: dict[int, int]) -> None:
    with pytest.raises(InputError, match=r"cannot be forced at step .+; allowed are ids 0 to 9, at steps from 0\.$"):
        steps(small(), forced=forced)


def test_errors_come_before_the_first_step() -> None:
    with pytest.raises(InputError):
        generate(small(), ONE, SOS, EOS, MAX_NEW_TOKENS, forced={0: 99})
    with pytest.raises(InputError, match=r"^Beam search writes one answer at a time, not 2\.$"):
        generate(small(), SOURCE, SOS, EOS, MAX_NEW_TOKENS, Beam(2))
    with pytest.raises(InputError, match=r"^Beam search takes edits without `items`"):
        generate(
            small(), ONE, SOS, EOS, MAX_NEW_TOKENS, Beam(2), edits=(Ablate("decoder.layers.0.cross_attention", items=(0,)),)
        )


# --- scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [Greedy(), Sample(7), Beam(4), Beam(3, 1.0)])
def test_totals_are_the_log_probabilities_under_forcing(method: Greedy | Sample | Beam) -> None:
    model = model_with_ends(seed=3)
    generation = Generation.of(
        steps(model, method=method, logits_processors=(Temperature(2.0),) if isinstance(method, Sample) else ())
    )
    for hypothesis in generation.hypotheses:
        tokens = [made.token for made in generation.chain(hypothesis)]
        assert hypothesis.total == pytest.approx(forced_total(model, tokens), abs=1e-4)
        penalty = method.length_penalty if isinstance(method, Beam) else 0
        assert hypothesis.score == pytest.approx(hypothesis.total / len(tokens) ** penalty)


def test_the_answer_of_a_shipped_model_is_that_of_its_steps(reverse: Pipeline) -> None:
    generation = Generation.of(reverse.generate("headlight"))
    assert reverse.target_vocabulary.tokens_of(generation.ids()) == reverse.answers(["headlight"])[0].tokens
    assert generation.ended
