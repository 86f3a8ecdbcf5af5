"""Tests of the ablation of heads over many texts, against plain forward hooks on the modules of the network."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.transformer.huggingface.tiny import opened, reference
from transformer import InputError, Pipeline
from transformer.analysis.ablation import ablation_scores
from transformer.analysis.importance import BATCH_SIZE
from transformer.tracing.paths import Kind

# The targets are wrong answers, so that no probability is near 1, where no head matters.
PAIRS = [("abcd", "abcd"), ("hello", "world"), ("world", "hello"), ("xy", "yy")]
TEXTS = ["the cat sleeps .", "a dog runs .", "the old man sees it"]


def hooked(linear: nn.Module, head: int, size: int, new: Any, run: Callable[[], Tensor]) -> Tensor:
    """What `run` returns while the output of one head is replaced, where the map after the heads reads it."""

    def replaced(_module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        values = inputs[0].clone()
        values[..., head * size : (head + 1) * size] = new
        return (values,)

    handle = linear.register_forward_pre_hook(replaced)
    try:
        with torch.inference_mode():
            return run()
    finally:
        handle.remove()


def heard(linear: nn.Module, run: Callable[[], Any]) -> Tensor:
    """What the map after the heads reads during `run`."""
    seen: list[Tensor] = []
    handle = linear.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0].clone()))
    try:
        with torch.inference_mode():
            run()
    finally:
        handle.remove()
    return seen[0][0]


def total(logits: Tensor, target: Tensor) -> float:
    return float(logits[0, :-1].log_softmax(-1)[torch.arange(target.shape[1] - 1), target[0, 1:]].double().sum())


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("by", ["zero", "mean", "resampled"])
def test_drops_of_our_own_network_are_those_of_plain_hooks(by: str) -> None:
    pipeline = Pipeline.load("reverse")
    model, size = pipeline.model, pipeline.config.d_head
    traces = [pipeline.trace(*pair) for pair in PAIRS]
    ids = [(torch.tensor(trace.source_ids), torch.tensor(trace.target_ids)) for trace in traces]
    partner = {1: 2, 2: 1}  # the two texts of five letters
    measured = [1, 2] if by == "resampled" else [0, 1, 2, 3]
    *_, last = ablation_scores(pipeline, iter(PAIRS), by)
    tokens = sum(ids[index][1].shape[1] - 1 for index in measured)
    assert (last.done, last.total, last.tokens) == (len(measured), len(measured), tokens)
    with torch.inference_mode():
        before = [total(model(*each), each[1]) for each in ids]
    assert last.before == pytest.approx(sum(before[index] for index in measured) / tokens, rel=1e-5)
    for kind, layer, head in [("encoder", 0, 1), ("decoder", 1, 3), ("cross", 1, 0)]:
        linear = model.get_submodule(str(Kind.of(kind).path(layer))).get_submodule("output_projection")
        outputs = [heard(linear, lambda each=each: model(*each))[:, head * size : (head + 1) * size] for each in ids]
        drop = 0.0
        for index in measured:
            new = {"zero": 0.0, "mean": torch.cat(outputs).mean(0), "resampled": outputs[partner.get(index, 0)]}[by]
            after = hooked(linear, head, size, new, lambda each=ids[index]: model(*each))
            drop += before[index] - total(after, ids[index][1])
        assert abs(drop / tokens) > 1e-3
        assert last.drops[kind][layer, head] == pytest.approx(drop / tokens, rel=1e-3, abs=1e-5)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("by", ["zero", "mean", "resampled"])
def test_drops_of_a_decoder_of_hugging_face_are_those_of_plain_hooks(by: str) -> None:
    pipeline, model = opened("gpt2"), reference("gpt2")
    ids = [torch.tensor([pipeline.encode(text).ids]) for text in TEXTS]
    assert [each.shape[1] for each in ids] == [4, 4, 5]
    measured, size = ([0, 1] if by == "resampled" else [0, 1, 2]), 8
    *_, last = ablation_scores(pipeline, TEXTS, by)
    tokens = sum(ids[index].shape[1] - 1 for index in measured)
    assert (last.total, last.tokens, list(last.drops)) == (len(measured), tokens, ["decoder"])
    for layer, head in np.ndindex(2, 2):
        linear: Any = model.get_submodule(f"transformer.h.{layer}.attn.c_proj")
        outputs = [heard(linear, lambda each=each: model(each))[:, head * size : (head + 1) * size] for each in ids]
        drop = 0.0
        for index in measured:
            new = {"zero": 0.0, "mean": torch.cat(outputs).mean(0), "resampled": outputs[1 - index if index < 2 else 0]}[by]
            after = hooked(linear, head, size, new, lambda each=ids[index]: model(each).logits)
            with torch.inference_mode():
                drop += total(model(ids[index]).logits, ids[index]) - total(after, ids[index])
        assert last.drops["decoder"][layer, head] == pytest.approx(drop / tokens, rel=1e-3, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["zero", "mean", "resampled"])
def test_an_encoder_alone_predicts_each_token_where_it_is_masked(by: str) -> None:
    """Also where a text has so many tokens that its copies do not fit into one pass."""
    pipeline, model = opened("bert"), reference("bert")
    texts = [*TEXTS, "the old man sees it . " * 3]
    ids = [torch.tensor([pipeline.encode(text).ids]) for text in texts]
    (mask,) = pipeline.source_vocabulary.ids(["<mask>"])
    places = [[place for place, index in enumerate(each[0].tolist()) if index > 4] for each in ids]  # not <s> and </s>
    assert [len(each) for each in places] == [4, 4, 5, BATCH_SIZE + 2]
    measured, size = ([0, 1] if by == "resampled" else [0, 1, 2, 3]), 4
    *_, last = ablation_scores(pipeline, texts, by)
    tokens = sum(len(places[index]) for index in measured)
    assert (last.total, last.tokens, list(last.drops)) == (len(measured), tokens, ["encoder"])

    def probability(run: Callable[[Tensor, int], Tensor]) -> float:
        total = 0.0
        for index in measured:
            for place in places[index]:
                masked = ids[index].clone()
                masked[0, place] = mask
                total += float(run(masked, index)[0, place].log_softmax(-1)[ids[index][0, place]])
        return total

    with torch.inference_mode():
        before = probability(lambda masked, _: model(masked).logits)
    assert last.before == pytest.approx(before / tokens, rel=1e-5)
    for layer, head in np.ndindex(2, 4):
        linear: Any = model.get_submodule(f"bert.encoder.layer.{layer}.attention.output.dense")
        outputs = [heard(linear, lambda each=each: model(each))[:, head * size : (head + 1) * size] for each in ids]

        def ablated(masked: Tensor, index: int, linear: Any = linear, head: int = head, outputs: Any = outputs) -> Tensor:
            new = {"zero": 0.0, "mean": torch.cat(outputs).mean(0), "resampled": outputs[1 - index if index < 2 else 0]}[by]
            return hooked(linear, head, size, new, lambda: model(masked).logits)

        drop = before - probability(ablated)
        assert last.drops["encoder"][layer, head] == pytest.approx(drop / tokens, rel=1e-3, abs=1e-5)


def test_reports_are_the_means_so_far_and_do_not_change_later() -> None:
    pipeline = Pipeline.load("reverse")
    reports = [*ablation_scores(pipeline, PAIRS[:3])]
    assert [(scores.done, scores.total, scores.tokens) for scores in reports] == [(1, 3, 4), (2, 3, 9), (3, 3, 14)]
    *_, alone = ablation_scores(pipeline, PAIRS[:1])
    for kind, drops in alone.drops.items():
        np.testing.assert_array_equal(drops, reports[0].drops[kind])


def test_the_seed_chooses_the_partner() -> None:
    pipeline, words = opened("gpt2"), ["the cat", "a dog", "old man", "big house", "it runs"]
    one, again, other = ([*ablation_scores(pipeline, words, "resampled", seed)][-1].drops["decoder"] for seed in (0, 0, 1))
    assert (one == again).all()
    assert (one != other).any()


def test_texts_that_cannot_be_measured_are_refused() -> None:
    with pytest.raises(InputError, match="Text 2 has no token to predict; the decoder needs at least two tokens"):
        next(ablation_scores(opened("gpt2"), ["the cat", "the"]))
    with pytest.raises(InputError, match="Text 2 has no token to mask"):
        next(ablation_scores(opened("bert"), ["the cat", "<mask>"]))
    for texts in (["the cat", "a dog runs"], ["the cat", "the cat"]):
        with pytest.raises(InputError, match="No two different texts have equally many tokens"):
            next(ablation_scores(opened("gpt2"), texts, "resampled"))


def test_nothing_stays_on_the_network() -> None:
    pipeline = Pipeline.load("reverse")
    before = pipeline.trace("abc", "cba").logits
    state = torch.random.get_rng_state()
    for by in ("zero", "mean", "resampled"):
        list(ablation_scores(pipeline, [("ab", "ba"), ("cd", "dc")], by))
    assert torch.random.get_rng_state().equal(state)
    assert pipeline.trace("abc", "cba").logits.equal(before)
    assert not any(module._forward_pre_hooks or module._forward_hooks for module in pipeline.model.modules())
