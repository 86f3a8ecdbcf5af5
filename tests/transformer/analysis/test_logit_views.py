"""Tests of the logit lens and of the contributions to a logit."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.transformer.small import SOURCE, VARIANTS, small
from transformer import Pipeline
from transformer.analysis.logit_contributions import FEED_FORWARD, OUTPUT_BIAS, POSITION, TOKEN, Part, logit_contributions
from transformer.analysis.logit_lens import answer_lens, lens_number, logit_lens, ranks
from transformer.errors import InputError, PathError
from transformer.network.model import Transformer
from transformer.pipeline.decoding.generate import DecodingStep, generate
from transformer.pipeline.decoding.generation import Generation
from transformer.pipeline.decoding.methods import Beam
from transformer.tracing.interventions import Ablate, Scale
from transformer.tracing.phrases import interventions
from transformer.tracing.readout import readout_of


def steps(model: Transformer, **choices: object) -> list[DecodingStep]:
    return [*generate(model, SOURCE[1:], 1, 2, 4, **choices)]


def shaken(preset: str, norm_first: bool, seed: int = 0, **values: object) -> Transformer:
    """A small model in which no parameter, in particular no bias and no LayerNorm, has its initial value."""
    model = small(preset, seed=seed, norm_first=norm_first, **values)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
        model.output_projection.bias[0] -= 9  # so `<pad>` is never written; after it, vanilla would read the prefix again
    return model


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@pytest.mark.parametrize("final_norm", [False, True])
def test_the_lens_ends_in_the_models_own_logits(preset: str, norm_first: bool, final_norm: bool) -> None:
    model = shaken(preset, norm_first, final_norm=final_norm)
    for step in steps(model):
        lens = logit_lens(model, step.values)
        assert lens.shape == (3, 1, 1, 10)
        torch.testing.assert_close(lens[-1, :, -1], step.own.logits, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
def test_the_lens_at_a_layer_equals_the_logits_of_a_model_that_ends_there(preset: str, norm_first: bool) -> None:
    """If the sub-layers of the layers above are silenced, they do not change the stream of a pre-norm model."""
    model = shaken(preset, True)
    silenced = [Ablate(f"decoder.layers.1.{name}.output") for name in ("self_attention", "cross_attention", "feed_forward")]
    (step, *_), (ended, *_) = steps(model), steps(model, edits=silenced)
    torch.testing.assert_close(logit_lens(model, step.values)[1, 0, -1], ended.own.logits[0], atol=1e-5, rtol=0)
    assert readout_of(model).stream == (
        "target_embedding.sum",
        *(f"decoder.layers.{layer}.feed_forward_add_norm.sum" for layer in range(2)),
    )


def test_ranks_count_the_tokens_with_a_higher_logit() -> None:
    logits = torch.tensor([[[[1.0, 3.0, 2.0]]], [[[3.0, 1.0, 2.0]]]])
    assert ranks(logits, torch.tensor([[2]])).tolist() == [[[1]], [[1]]]
    assert ranks(logits, torch.tensor([[1]])).tolist() == [[[0]], [[2]]]


def test_the_lens_of_an_answer_equals_the_lens_of_each_step(reverse: Pipeline) -> None:
    generation = Generation.of(reverse.generate("headlight", Beam(3)))
    found = answer_lens(reverse.network, generation)
    for step, made in enumerate(generation.chain(generation.best)):
        lens = logit_lens(reverse.network, generation.steps[made.step].values)[:, made.row, -1].double()
        assert found.top[:, step].tolist() == lens.argmax(-1).tolist()
        np.testing.assert_allclose(found.shares[:, step], lens.softmax(-1).amax(-1).numpy())
        assert found.ranks[:, step].tolist() == (lens > lens[:, made.token, None]).sum(-1).tolist()
    assert set(found.ranks[-1]) == {0}


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("cap", [0.0, 2.0])
def test_the_computation_of_a_cell_of_the_lens_ends_in_its_numbers(norm_first: bool, cap: float) -> None:
    model = shaken("pytorch", norm_first)
    readout, generation = replace(readout_of(model), cap=cap), Generation.of(steps(model))
    found = answer_lens(readout, generation)
    for point, step in np.ndindex(*found.ranks.shape):
        cell = lens_number(readout, generation, point, step)
        assert cell.token == found.top[point, step]
        assert cell.logit.agrees
        assert cell.share.result == pytest.approx(found.shares[point, step], abs=1e-6)
        assert cell.rank == found.ranks[point, step] + 1
        assert len(cell.logit.terms) == readout.d_model
        assert "bias" in dict(cell.logit.extra)
        assert "bias" not in dict(lens_number(replace(readout, bias=None), generation, point, step).logit.extra)
    for point, step in ((len(found.ranks), 0), (0, found.ranks.shape[1])):
        with pytest.raises(PathError, match="allowed are 0 to"):
            lens_number(readout, generation, point, step)


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@given(seed=st.integers(0, 20), token=st.integers(0, 9), against=st.none() | st.integers(0, 9), final=st.booleans())
@settings(max_examples=3)
def test_contributions_add_up_to_the_logit(
    preset: str, norm_first: bool, seed: int, token: int, against: int | None, final: bool
) -> None:
    model = shaken(preset, norm_first, seed, final_norm=final)
    for step in steps(model, method=Beam(2)):
        for row in range(len(step.input_ids)):
            found = logit_contributions(model, step.values, token, against, row)
            logits = step.own.logits[row]
            assert found.logit == pytest.approx(float(logits[token] - (0 if against is None else logits[against])), abs=1e-5)
            assert found.values.sum() == pytest.approx(found.logit, abs=2e-5)
            assert len({*found.parts}) == len(found.parts) == 2 + 2 + 2 * (3 + 3 + 1) + 1


def test_a_contribution_equals_the_drop_of_the_logit_without_the_part() -> None:
    """In a pre-norm model without a last LayerNorm nothing is rescaled. So if a part of the last layer is silenced, the logit
    drops by exactly the contribution of the part."""
    model = shaken("vanilla", norm_first=True)
    (step, *_) = steps(model)
    found = logit_contributions(model, step.values, 4)
    shares = dict(zip(found.parts, found.values, strict=True))
    (without, *_) = steps(model, edits=[Ablate("decoder.layers.1.feed_forward.output")])
    drop = float(step.own.logits[0, 4] - without.own.logits[0, 4])
    assert shares[Part(FEED_FORWARD, 1)] == pytest.approx(drop, abs=1e-5)
    row = model.output_projection.weight[4].detach()
    assert shares[Part(TOKEN)] == pytest.approx(float(step.values["target_embedding.token"][0, -1] @ row), abs=1e-5)
    assert shares[Part(POSITION)] == pytest.approx(float(step.values["target_embedding.position"][-1] @ row), abs=1e-5)
    assert shares[Part(OUTPUT_BIAS)] == pytest.approx(float(model.output_projection.bias[4].detach()), abs=1e-6)


def test_after_an_edit_of_the_stream_contributions_do_not_add_up_to_the_logit() -> None:
    model = shaken("pytorch", False)
    (step, *_) = steps(model, edits=[Scale("decoder.layers.0.feed_forward_add_norm.sum", factor=0.5)])
    found = logit_contributions(model, step.values, 3)
    assert abs(found.values.sum() - found.logit) > 1e-3


@pytest.mark.few_cases(8)
@pytest.mark.parametrize(("preset", "norm_first"), VARIANTS)
@pytest.mark.parametrize("sublayer", ["self_attention", "cross_attention", "feed_forward"])
def test_without_a_residual_connection_earlier_parts_do_not_contribute(preset: str, norm_first: bool, sublayer: str) -> None:
    model = shaken(preset, norm_first)
    (step, *_) = steps(model, edits=interventions(f"no residual decoder layer 2 {sublayer}", model.config))
    found = logit_contributions(model, step.values, 3, against=5)
    assert found.values.sum() == pytest.approx(found.logit, abs=2e-5)
    shares = dict(zip(found.parts, found.values, strict=True))
    assert all(value == 0 for part, value in shares.items() if part.layer == 0 or part.name in (TOKEN, POSITION))
    assert shares[Part(FEED_FORWARD, 1)] != 0


def test_lens_and_contributions_read_a_trace_of_a_shipped_model(reverse: Pipeline) -> None:
    trace = reverse.trace("abc")
    values = {step.path: step.values for step in trace}
    token = reverse.target_vocabulary.eos
    found = logit_contributions(reverse.model, values, token)
    assert found.values.sum() == pytest.approx(found.logit, abs=1e-3)
    np.testing.assert_allclose(logit_lens(reverse.model, values)[-1].numpy(), trace.logits.numpy(), atol=1e-4)


def test_a_pass_that_was_not_traced_and_a_missing_token_or_row_are_refused() -> None:
    model = small()
    (step, *_) = steps(model, traced=False)
    with pytest.raises(InputError, match=r"^There is no tensor target_embedding\.sum; the logit lens needs a traced pass"):
        logit_lens(model, step.values)
    with pytest.raises(InputError, match=r"^There is no tensor logits; contributions need a traced pass"):
        logit_contributions(model, step.values, 0)
    (step, *_) = steps(model)
    with pytest.raises(InputError, match=r"^token is 10; allowed are 0 to 9\.$"):
        logit_contributions(model, step.values, 10)
    with pytest.raises(InputError, match=r"^row is 1; allowed are 0 to 0\.$"):
        logit_contributions(model, step.values, 1, row=1)
