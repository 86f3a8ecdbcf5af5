"""Tests of the logit lens and of contributions to logits in models of Hugging Face."""

import pytest
import torch

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import MODELS, SHORT, opened, reference
from transformer.analysis.logit_contributions import POSITION, Part, logit_contributions
from transformer.analysis.logit_lens import logit_lens
from transformer.huggingface.hf_readout import checked_readout
from transformer.pipeline.decoding.methods import Beam

WITH_DECODER = [name for name, (model_class, _) in MODELS.items() if "MaskedLM" not in model_class]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", WITH_DECODER)
def test_the_lens_and_the_contributions_end_in_the_models_own_logits(name: str) -> None:
    pipeline = opened(name)
    readout = pipeline.readout
    assert readout is not None
    layers, heads = pipeline.config.decoder_layers, pipeline.config.heads
    for step in [*pipeline.generate(SHORT, Beam(2))][:2]:
        lens, logits = logit_lens(readout, step.values), step.values["logits"]
        assert len(lens) == layers + 1
        torch.testing.assert_close(lens[-1], logits, atol=1e-5, rtol=1e-5)
        for row in range(len(step.input_ids)):
            found = logit_contributions(readout, step.values, 7, 9, row)
            kinds = 2 if pipeline.crossed else 1
            assert sum(part.head is not None for part in found.parts) == kinds * layers * heads
            assert (Part(POSITION) in found.parts) == (readout.position != "")
            assert found.values.sum() == pytest.approx(found.logit, abs=1e-5)
            if not readout.cap:
                assert found.logit == pytest.approx(float(logits[row, -1, 7] - logits[row, -1, 9]), abs=1e-5)


@pytest.mark.parametrize(("name", "norm"), [("gpt2", "transformer.ln_f"), ("llama", "model.norm"), ("gemma", "model.norm")])
def test_the_lens_is_the_output_layer_on_the_hidden_states(name: str, norm: str) -> None:
    """The expected logits are computed from the hidden states that `transformers` itself returns, without a tap."""
    pipeline, model = opened(name), reference(name)
    trace = pipeline.trace(SHORT)
    with torch.inference_mode():
        output = model(torch.tensor(trace.target_ids), output_hidden_states=True)
        # The last of these states is already normalised.
        expected = [model.lm_head(model.get_submodule(norm)(state)) for state in output.hidden_states[:-1]]
    lens = logit_lens(pipeline.readout, trace)
    torch.testing.assert_close(lens[:-1], torch.stack(expected), atol=1e-5, rtol=1e-5)


def test_the_contribution_of_a_head_comes_from_its_rows_of_the_output_matrix() -> None:
    """Tested with GPT-2, whose matrix after the heads has a row for each input number."""
    pipeline = opened("gpt2")
    trace, model = pipeline.trace(SHORT), pipeline.original
    values = {step.path: step.values for step in trace}
    found = logit_contributions(pipeline.readout, values, 7)
    head = values["decoder.layers.1.self_attention.head_output"][0, 1, -1]
    vector = head @ model.transformer.h[1].attn.c_proj.weight.detach()[8:]
    norm, end = model.transformer.ln_f, values["decoder.layers.1.feed_forward_add_norm.sum"][0, -1]
    carried = (vector - vector.mean()) / (end.var(unbiased=False) + norm.eps).sqrt() * norm.weight.detach()
    share = dict(zip(found.parts, found.values, strict=True))[Part("decoder", 1, 1)]
    assert share == pytest.approx(float(carried @ model.lm_head.weight.detach()[7]), abs=1e-5)


def test_a_model_whose_readout_fails_has_none() -> None:
    pipeline = opened("llama")
    stack, trace = pipeline.network.stacks["decoder"], pipeline.trace(SHORT)
    values = {step.path: step.values for step in trace}
    assert checked_readout(pipeline.original, stack, True, values) is not None
    assert checked_readout(pipeline.original, stack, True, values | {"logits": values["logits"] + 0.1}) is None
    del values["decoder.layers.0.feed_forward.output"]
    assert checked_readout(pipeline.original, stack, True, values) is None
    assert opened("bert").readout is None
