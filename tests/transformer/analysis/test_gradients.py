"""Tests of gradients: against finite differences, and the completeness of integrated gradients."""

import threading
from typing import Any

import numpy as np
import pytest
import torch

from tests.transformer.huggingface.tiny import SHORT, opened
from tests.transformer.small import SOURCE, TARGET, small
from transformer import Ablate, Change, InputError, Pipeline, run_traced
from transformer.analysis.gradients import attention_gradients, input_gradients, weights_and_gradients
from transformer.analysis.word_trace import WordTrace
from transformer.network.config import PRESETS
from transformer.network.tap import Edit, tracing
from transformer.tracing.trace import Trace

EPSILON = 1e-5
FAMILIES = ["gpt2", "t5", "bert", "llama", "marian", "gemma2"]


def own(preset: str) -> tuple[Pipeline, Trace]:
    """A small network in double precision, and its trace of two texts with padding."""
    pipeline = Pipeline.load("reverse")
    model = small(preset, d_model=12).double()
    pipeline = Pipeline("small", model, pipeline.source_vocabulary, pipeline.target_vocabulary, pipeline.card)
    return pipeline, run_traced(model, SOURCE, TARGET)


def log_probability(pipeline: Any, trace: Trace, position: int, token: int, edits: list[Edit]) -> float:
    source, target = (torch.tensor(ids[:1]) if ids else None for ids in (trace.source_ids, trace.target_ids))
    with torch.inference_mode(), tracing(pipeline.network, edits, keep=False):
        return pipeline.network(source, target)[0, position].double().log_softmax(-1)[token].item()


def slope(pipeline: Any, trace: Trace, path: str, where: tuple[Any, ...], position: int, token: int, epsilon: float) -> float:
    """The finite difference of the log-probability for a relative change of some values of a tensor."""

    def scaled(factor: float) -> Change:
        def by(values: torch.Tensor) -> torch.Tensor:
            values[where] *= factor
            return values

        return Change(path, by)

    above, below = (log_probability(pipeline, trace, position, token, [scaled(1 + sign * epsilon)]) for sign in (1, -1))
    return (above - below) / (2 * epsilon)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("preset", PRESETS)
def test_input_gradients_of_our_own_network_are_finite_differences(preset: str) -> None:
    pipeline, trace = own(preset)
    made = input_gradients(pipeline, trace, 1, 4)
    for side, length in (("source", 7), ("target", 5)):
        assert made.values[side].shape == (length,)
        expected = [slope(pipeline, trace, f"{side}_embedding.token", (0, place), 1, 4, EPSILON) for place in range(length)]
        np.testing.assert_allclose(made.values[side], expected, atol=1e-8)
    assert abs(made.values["source"]).max() > 1e-3
    assert not made.values["target"][2:].any()  # the row cannot read what comes later
    assert made.output == pytest.approx(trace.logits[0, 1].log_softmax(-1)[4].item())
    assert (made.baseline, made.gap) == (None, None)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("preset", PRESETS)
def test_attention_gradients_of_our_own_network_are_finite_differences(preset: str) -> None:
    pipeline, trace = own(preset)
    made = attention_gradients(pipeline, trace, 1, 4)
    assert list(made) == ["encoder", "decoder", "cross"]
    for kind, values in made.items():
        assert values.shape == tuple(trace.attention(kind)[:, 0].shape)
        assert abs(values).max() > 1e-5
        for layer, head, query in [(0, 0, 0), (0, 1, 1), (1, 2, 1)]:
            path = str(trace.attention_path(kind, layer) / "weights")
            key = int(trace.head(kind, layer, head)[query].argmax())
            expected = slope(pipeline, trace, path, (0, head, query, key), 1, 4, EPSILON)
            assert values[layer, head, query, key] == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_gradients_of_models_of_hugging_face_are_finite_differences(name: str) -> None:
    pipeline = opened(name)
    trace = pipeline.trace(SHORT)
    position = 2
    token = int(trace.logits[0, position].argmax())
    made = input_gradients(pipeline, trace, position, token)
    assert set(made.values) == set(trace.sides)
    for side in trace.sides:
        path = next(path for each in ("token", "scaled") if (path := f"{side}_embedding.{each}") in trace)
        expected = [slope(pipeline, trace, path, (0, place), position, token, 1e-3) for place in range(position + 1)]
        np.testing.assert_allclose(made.values[side][: position + 1], expected, rtol=0.02, atol=3e-3)
    for kind, values in attention_gradients(pipeline, trace, position, token).items():
        layer, head, query, key = np.unravel_index(abs(values).argmax(), values.shape)
        path = str(trace.attention_path(kind, int(layer)) / "weights")
        expected = slope(pipeline, trace, path, (0, int(head), int(query), int(key)), position, token, 1e-2)
        assert values[layer, head, query, key] == pytest.approx(expected, rel=0.02, abs=3e-3)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("preset", PRESETS)
def test_integrated_gradients_sum_to_the_difference_of_the_outputs(preset: str) -> None:
    pipeline, trace = own(preset)
    made = input_gradients(pipeline, trace, 1, 4, steps=300)
    zeros = [Change(f"{side}_embedding.token", torch.zeros_like) for side in ("source", "target")]
    baseline = log_probability(pipeline, trace, 1, 4, [*zeros])
    assert made.baseline == pytest.approx(baseline)
    assert made.gap is not None
    assert abs(made.gap) < 3e-4  # ReLU has kinks, at which the quadrature errs
    assert sum(values.sum() for values in made.values.values()) == pytest.approx(made.output - baseline + made.gap)
    coarse = input_gradients(pipeline, trace, 1, 4, steps=2).gap
    assert coarse is not None
    assert abs(made.gap) < abs(coarse)


@pytest.mark.slow
def test_integrated_gradients_are_complete_for_a_trained_model_and_for_hugging_face() -> None:
    for pipeline, text in ((Pipeline.load("reverse"), "hello"), (opened("gpt2"), SHORT), (opened("bert"), SHORT)):
        made = input_gradients(pipeline, pipeline.trace(text), 1, steps=100)
        assert made.gap is not None
        assert made.baseline is not None
        assert abs(made.gap) < 0.02 * max(1, abs(made.output - made.baseline)), pipeline.name


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("family", FAMILIES)
def test_from_the_mean_vector_they_are_complete_for_every_family(family: str) -> None:
    pipeline = opened(family)
    trace = pipeline.trace(SHORT)
    made = input_gradients(pipeline, trace, 1, steps=200, baseline="mean")
    assert made.gap is not None
    assert made.baseline is not None
    assert abs(made.output - made.baseline) > 1e-3
    assert abs(made.gap) < 0.01 * abs(made.output - made.baseline)
    side = trace.sides[-1]
    mean = pipeline.token_table(side).mean(0)
    path = f"{side}_embedding.token"
    if path in trace and len(trace.sides) == 1:
        scale = trace[path].values[0, 0].norm() / pipeline.token_table(side)[trace.ids_of(side)[0][0]].norm()
        start = Change(path, lambda vectors: (scale * mean).expand_as(vectors))
        assert made.baseline == pytest.approx(log_probability(pipeline, trace, 1, made.token, [start]), abs=1e-4)


def test_by_default_the_next_token_of_the_target_is_explained() -> None:
    pipeline = Pipeline.load("reverse")
    trace = pipeline.trace("abc", "xyz")
    assert input_gradients(pipeline, trace, 0).token == trace.target_ids[0][1]
    assert input_gradients(pipeline, trace, 3).token == int(trace.logits[0, 3].argmax())
    bert = opened("bert")
    trace = bert.trace(SHORT)
    assert input_gradients(bert, trace, 1).token == int(trace.logits[0, 1].argmax())


def test_edits_are_part_of_the_pass() -> None:
    pipeline = Pipeline.load("reverse")
    edits = [Ablate("decoder.layers.1.cross_attention")]
    trace = pipeline.trace("abc", "cba", edits)
    assert not attention_gradients(pipeline, trace, 1, edits=edits)["cross"][1].any()
    made = input_gradients(pipeline, trace, 1, edits=edits)
    assert made.output == pytest.approx(trace.logits[0, 1].log_softmax(-1)[made.token].item(), abs=1e-5)


def test_the_parameters_and_the_mode_of_the_caller_are_left_as_they_were() -> None:
    for pipeline, text in ((Pipeline.load("reverse"), "abc"), (opened("gpt2"), SHORT)):
        parameters = [*(pipeline.model or pipeline.original).parameters()]
        wanted, state = [parameter.requires_grad for parameter in parameters], torch.random.get_rng_state()
        trace = pipeline.trace(text)
        plain = input_gradients(pipeline, trace, 1).values["target"]
        with torch.inference_mode():
            inside = input_gradients(pipeline, trace, 1).values["target"]
            assert torch.is_inference_mode_enabled()
        assert (plain == inside).all()
        attention_gradients(pipeline, trace, 1)
        assert [parameter.requires_grad for parameter in parameters] == wanted
        assert all(parameter.grad is None for parameter in parameters)
        assert torch.random.get_rng_state().equal(state)


def test_threads_may_share_a_model() -> None:
    pipeline = Pipeline.load("reverse")
    traces = {text: pipeline.trace(text) for text in ("abc", "hello", "world")}
    alone = {text: input_gradients(pipeline, trace, 1).values["source"] for text, trace in traces.items()}
    together: dict[str, Any] = {}

    def explain(text: str) -> None:
        together[text] = input_gradients(pipeline, traces[text], 1).values["source"]

    threads = [threading.Thread(target=explain, args=(text,)) for text in traces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text, values in alone.items():
        np.testing.assert_allclose(together[text], values, atol=1e-6)


def test_a_model_that_was_built_in_inference_mode_is_refused() -> None:
    with torch.inference_mode():
        pipeline, trace = own("vanilla")
    with pytest.raises(InputError, match="built within `torch"):
        input_gradients(pipeline, trace, 0)


def test_a_trace_of_another_model_or_of_words_is_refused() -> None:
    pipeline = Pipeline.load("reverse")
    with pytest.raises(InputError, match="this one has another configuration"):
        input_gradients(Pipeline.load("english-french"), pipeline.trace("abc"), 0)
    with pytest.raises(InputError, match="not of words"):
        attention_gradients(pipeline, WordTrace.of(pipeline.trace("abc")), 0)


def test_weights_and_gradients_are_the_factors_of_attention_gradients() -> None:
    pipeline, trace = own("pytorch")
    products = attention_gradients(pipeline, trace, 1, 4)
    for kind, (weights, gradients) in weights_and_gradients(pipeline, trace, 1, 4).items():
        np.testing.assert_allclose(weights, trace.attention(kind)[:, 0].numpy())
        np.testing.assert_array_equal(weights * gradients, products[kind])
        assert gradients.any()
