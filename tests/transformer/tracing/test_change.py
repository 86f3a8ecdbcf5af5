"""Tests of the edit whose function the caller writes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.huggingface.tiny import SHORT, opened
from tests.transformer.small import SOURCE, TARGET
from tests.transformer.tracing.edits import CROSS, DECODER, edited
from transformer import Ablate, Change, PathError, Pipeline, Scale
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.tracing.trace import Trace, run_traced

WEIGHTS = f"{CROSS}.weights"


def test_a_function_replaces_the_tensor_of_its_path(model: Transformer, plain: Trace) -> None:
    trace = edited(model, Change(WEIGHTS, lambda weights: weights.flip(-1)))
    assert trace[WEIGHTS].values.equal(plain[WEIGHTS].values.flip(-1))
    assert not trace.logits.equal(plain.logits)


@pytest.mark.slow
def test_the_identity_changes_no_bit(model: Transformer, plain: Trace) -> None:
    for path in model.taps:
        assert edited(model, Change(path, lambda values: values)).logits.equal(plain.logits), path


def test_changes_do_the_same_as_the_edits_with_values(model: Transformer) -> None:
    for path in (WEIGHTS, f"{DECODER}.scores", "encoder.output"):
        assert edited(model, Change(path, torch.zeros_like)).logits.equal(edited(model, Ablate(path)).logits)
        doubled = edited(model, Change(path, lambda values: 2 * values))
        assert doubled.logits.equal(edited(model, Scale(path, factor=2.0)).logits)


def test_only_the_chosen_heads_and_items_are_given_and_changed(model: Transformer, plain: Trace) -> None:
    shapes = []

    def ones(weights: Tensor) -> Tensor:
        shapes.append(tuple(weights.shape))
        return torch.ones_like(weights)

    weights = edited(model, Change(WEIGHTS, ones, heads=(2,), items=(0,)))[WEIGHTS].values
    expected = plain[WEIGHTS].values.clone()
    expected[0, 2] = 1
    assert weights.equal(expected)
    assert shapes == [(1, 1, *expected.shape[2:])]


def test_a_function_may_write_to_its_argument(model: Transformer, plain: Trace) -> None:
    query = f"{CROSS}.query"
    trace = edited(model, Change(f"{query}.heads", lambda values: values.mul_(0)))
    assert trace[f"{query}.projected"].values.equal(plain[f"{query}.projected"].values)
    assert not trace[f"{query}.heads"].values.any()


@pytest.mark.parametrize("name", ["scores", "scaled_scores", "masked_scores"])
def test_hidden_keys_stay_hidden(model: Transformer, plain: Trace, name: str) -> None:
    trace = edited(model, Change(f"{DECODER}.{name}", lambda scores: scores.abs() + 1e6))
    hidden = ~plain.allowed("decoder") & ~plain.fully_masked("decoder")[..., None]
    assert not trace.attention("decoder")[hidden].any()
    assert not trace.weights("decoder", 1).equal(plain.weights("decoder", 1))


def test_a_mask_can_be_changed_to_another_mask(model: Transformer) -> None:
    trace = edited(model, Change("target_mask", lambda mask: mask.tril(-1) | mask.new_ones(mask.shape[-2:]).tril(0)))
    assert trace.masks.target.equal(trace.masks.target.new_ones(trace.masks.target.shape).tril())
    with pytest.raises(PathError, match=r"target_mask returned torch\.float32 on cpu; it must return torch\.bool on cpu"):
        edited(model, Change("target_mask", lambda mask: mask.float()))


REFUSED: list[tuple[Callable[[Tensor], Any], str]] = [
    (lambda _: None, "returned None; it must return a tensor of shape"),
    (lambda weights: weights.numpy(), "returned array"),
    (lambda weights: weights[..., 1:], r"returned a tensor of shape \(2, 3, 5, 6\); it must return .*\(2, 3, 5, 7\) \(batch"),
    (lambda weights: weights[0, 0], "returned a tensor of shape"),
    (lambda weights: weights * float("nan"), "returned NaN or too large numbers; allowed are numbers up to"),
    (lambda weights: weights + float("inf"), "returned NaN or too large numbers"),
    (lambda weights: weights - float("inf"), "returned NaN or too large numbers"),
    (lambda weights: weights + 1e13, "returned NaN or too large numbers"),
    (lambda weights: weights.to(torch.complex64), "returned torch.complex64 on cpu; it must return torch.float32"),
    (lambda weights: weights.to("meta"), "on meta; it must return"),
    (lambda weights: weights @ weights, r"The function that changes .* fails \(RuntimeError"),
    (lambda: None, r"fails \(TypeError"),
]


@pytest.mark.few_cases(20)
@pytest.mark.parametrize(("by", "message"), REFUSED)
def test_a_result_that_does_not_fit_is_refused(model: Transformer, by: Callable[[Tensor], Tensor], message: str) -> None:
    with pytest.raises(PathError, match=message):
        edited(model, Change(WEIGHTS, by))


def test_scores_may_become_minus_infinity(model: Transformer) -> None:
    change = Change(f"{CROSS}.scores", lambda scores: scores.index_fill(-1, torch.tensor([1]), -torch.inf))
    assert not edited(model, change).weights("cross", 1)[..., 1].any()


def test_something_that_is_not_a_function_is_refused_before_anything_runs(model: Transformer) -> None:
    for by in (None, 0.5, "flip", torch.ones(2)):
        with pytest.raises(PathError, match="must be a function that takes a tensor and returns one"):
            edited(model, Change(WEIGHTS, by))


def test_a_change_is_hashed_by_its_function() -> None:
    def flip(weights: Tensor) -> Tensor:
        return weights.flip(-1)

    assert Change(WEIGHTS, flip, heads=[0]) == Change(WEIGHTS, flip, heads=(0,))
    assert len({Change(WEIGHTS, flip), Change(WEIGHTS, flip), Change(WEIGHTS, lambda weights: weights.flip(-1))}) == 2
    layers = nn.Sequential(nn.Identity())
    assert Change(WEIGHTS, layers).by is layers


@pytest.mark.slow
def test_pipelines_of_both_kinds_apply_it() -> None:
    for pipeline, text in ((Pipeline.load("reverse"), "abc"), (opened("gpt2"), SHORT), (opened("t5"), SHORT)):
        path = str(pipeline.trace(text).kinds[-1].path(0) / "weights")
        plain, trace = pipeline.trace(text), pipeline.trace(text, edits=[Change(path, lambda weights: weights.flip(-1))])
        same = [one == other for one, other in zip(plain.target_ids[0], trace.target_ids[0], strict=False)]
        assert not plain[path].values[..., : len(same), :].equal(trace[path].values[..., : len(same), :])


def test_the_recording_keeps_the_named_paths_only(model: Transformer) -> None:
    with torch.inference_mode(), tracing(model, keep=[WEIGHTS]) as values:
        model(SOURCE, TARGET)
    assert list(values) == [WEIGHTS]
    assert values[WEIGHTS].equal(run_traced(model, SOURCE, TARGET)[WEIGHTS].values)
