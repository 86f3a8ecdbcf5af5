"""Tests of the steps of a head in models of Hugging Face: every number follows from the numbers that its step names."""

import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import LONG, MODELS, SHORT, opened, reference
from tests.transformer.small import SOURCE, TARGET, small
from transformer.analysis.cell import explain
from transformer.analysis.head_steps import attention_steps, step_names
from transformer.errors import InputError
from transformer.tracing.trace import run_traced


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_number_of_every_step_is_explained_from_the_trace(name: str) -> None:
    trace = opened(name).trace([LONG, SHORT])
    for kind in trace.kinds:
        head, layer = trace.heads(kind) - 1, trace.layers(kind) - 1
        for item in (0, 1):
            for step in attention_steps(trace, kind, layer, head, item):
                rows, columns = step.values.shape
                for row, column in {(0, 0), (rows - 1, columns - 1), (0, columns - 1), (rows // 2, columns // 2)}:
                    found = explain(None, trace, kind, layer, head, step.name, row, column, item)
                    assert found.agrees, (kind, step.name, row, column, found)


def test_the_steps_include_those_of_only_some_families() -> None:
    assert "position_bias" in step_names(opened("t5").trace(LONG), "encoder")
    assert "capped_scores" in step_names(opened("gemma2").trace(LONG), "decoder")
    assert "position_bias" not in step_names(opened("gpt2").trace(LONG), "decoder")


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_the_divisor_is_that_of_the_model(name: str) -> None:
    trace = opened(name).trace(LONG)
    found = explain(None, trace, "decoder", 1, 1, "scaled_scores", 2, 1)
    config = reference(name).config
    assert found["divisor"] == pytest.approx((config.hidden_size // config.num_attention_heads) ** 0.5, rel=1e-6)


@pytest.mark.parametrize("name", ["bart", "bert"])
def test_the_first_layer_reads_the_normed_embedding(name: str) -> None:
    steps = attention_steps(opened(name).trace(LONG), "encoder", 0, 0)
    assert steps[0].path == "source_embedding.normalized"


def test_our_own_trace_needs_its_model() -> None:
    trace = opened("marian").trace(SHORT)
    assert explain(None, trace, "cross", 0, 0, "query", 0, 0).operation == "recorded"
    with pytest.raises(InputError, match="The model must be a Transformer, not None"):
        explain(None, run_traced(small(), SOURCE, TARGET), "encoder", 0, 0, "query", 0, 0)
