"""Tests of one gradient step in detail: its numbers are those of torch's loss, autograd and Adam, and of a nudged weight."""

import copy
import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from transformer import ConfigError, InputError, Pipeline
from transformer.analysis.label_smoothing import least_loss
from transformer.tasks import find_task
from transformer.training.adam import BETAS, EPSILON
from transformer.training.gradient_step import StepSettings, Weight, open_step
from transformer.training.held_out import batch_of

SETTINGS = StepSettings(learning_rate=1e-3, smoothing=0.05, clip=1.0)
WEIGHTS = [
    Weight("decoder.layers.0.cross_attention.query.projection.weight", (3, 5)),
    Weight("encoder.layers.1.feed_forward.up_projection.bias", (7,)),
    Weight("output_projection.weight", (4, 2)),
]


@pytest.fixture(scope="module")
def snapshot() -> Pipeline:
    return Pipeline.load("reverse@000089")


def batches(pipeline: Pipeline, count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    pairs = find_task("reverse").pairs("train", "oracle")
    return [batch_of(pipeline, list(itertools.islice(pairs, 5))) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("count", [1, 3])
def test_a_step_is_the_step_of_torch(snapshot: Pipeline, weight: Weight, count: int):
    given = batches(snapshot, count)
    step = open_step(snapshot, given, weight, SETTINGS)
    # The oracle: torch's cross-entropy, autograd, clipping and Adam, on a copy of the model.
    model = copy.deepcopy(snapshot.model).double().eval()
    criterion = nn.CrossEntropyLoss(ignore_index=snapshot.target_vocabulary.pad, label_smoothing=SETTINGS.smoothing)
    optimizer = torch.optim.Adam(model.parameters(), SETTINGS.learning_rate, BETAS, EPSILON)
    parameter = dict(model.named_parameters())[weight.name]
    source, target = given[-1]
    start = criterion(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
    for number, (source, target) in enumerate(given, 1):
        before = parameter[weight.index].item()
        loss = criterion(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        gradient = parameter.grad[weight.index].item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), SETTINGS.clip).item()
        optimizer.step()
        assert number == step.update.number or number < count
    after = criterion(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
    assert step.loss_at_start == pytest.approx(start.item(), rel=1e-12)
    assert step.loss == pytest.approx(loss.item(), rel=1e-12)
    assert step.loss_after == pytest.approx(after.item(), rel=1e-9)
    assert step.gradient == pytest.approx(gradient, rel=1e-9)
    assert step.norm == pytest.approx(norm, rel=1e-9)
    assert step.norm == pytest.approx(sum(value**2 for value in step.norms.values()) ** 0.5, rel=1e-9)
    assert step.value == pytest.approx(before, rel=1e-12)
    assert step.value_after == pytest.approx(parameter[weight.index].item(), rel=1e-9)
    # Adam's formula gives the same change as torch's optimiser, and the nudge the same gradient as autograd.
    assert step.value + step.update.change == pytest.approx(step.value_after, rel=1e-9)
    assert step.finite_difference == pytest.approx(step.gradient, rel=1e-4, abs=1e-9)
    assert step.loss == pytest.approx(step.losses[step.counted].mean(), rel=1e-12)
    state = optimizer.state[parameter]
    assert (step.update.mean, step.update.square) == pytest.approx(
        (state["exp_avg"][weight.index].item(), state["exp_avg_sq"][weight.index].item()), rel=1e-9
    )


def test_the_first_step_is_as_long_as_the_learning_rate(snapshot: Pipeline):
    step = open_step(snapshot, batches(snapshot, 1), WEIGHTS[0], SETTINGS)
    assert step.update.corrected_mean == pytest.approx(step.update.gradient)
    assert abs(step.update.change) == pytest.approx(SETTINGS.learning_rate, rel=1e-3)
    assert np.sign(step.update.change) == -np.sign(step.gradient)
    assert step.loss_after < step.loss


def test_an_earlier_step_raises_the_loss_and_the_step_after_it_lowers_it():
    """This is what the page says about a snapshot in the middle of the training, where the learning rate is highest."""
    snapshot, middle = Pipeline.load("reverse@000596"), SETTINGS._replace(learning_rate=9.2e-4)
    given = batches(snapshot, 2)
    alone = open_step(snapshot, given[1:], WEIGHTS[0], middle)
    assert alone.loss_at_start == alone.loss
    assert alone.loss_after > alone.loss + 0.5
    second = open_step(snapshot, given, WEIGHTS[0], middle)
    assert second.loss_at_start == alone.loss
    assert second.loss > second.loss_at_start + 0.5
    assert second.loss_after < second.loss - 0.5


def test_label_smoothing_changes_the_losses_and_not_the_shares(snapshot: Pipeline):
    given, vocab = batches(snapshot, 1), len(snapshot.target_vocabulary)
    plain = open_step(snapshot, given, WEIGHTS[0], SETTINGS._replace(smoothing=0.0))
    np.testing.assert_allclose(plain.losses, -np.log(plain.shares), rtol=1e-9)
    smoothed = open_step(snapshot, given, WEIGHTS[0], SETTINGS)
    assert np.array_equal(smoothed.shares, plain.shares)
    assert (smoothed.losses > least_loss(vocab, SETTINGS.smoothing)).all()


def test_padding_does_not_count(snapshot: Pipeline):
    ((source, target),) = batches(snapshot, 1)
    step = open_step(snapshot, [(source, target)], WEIGHTS[0], SETTINGS)
    assert (~step.counted).any()
    assert np.array_equal(step.counted, (target[:, 1:] != snapshot.target_vocabulary.pad).numpy())
    alone = open_step(snapshot, [(source[:1], target[:1])], WEIGHTS[0], SETTINGS)
    np.testing.assert_allclose(alone.losses[0], step.losses[0], rtol=1e-9)


def test_the_model_is_not_changed(snapshot: Pipeline):
    before = {name: tensor.clone() for name, tensor in snapshot.model.state_dict().items()}
    open_step(snapshot, batches(snapshot, 2), WEIGHTS[0], SETTINGS)
    assert all(torch.equal(tensor, before[name]) for name, tensor in snapshot.model.state_dict().items())
    assert all(parameter.grad is None for parameter in snapshot.model.parameters())


@pytest.mark.parametrize(
    "weight", [Weight("none", (0,)), Weight("output_projection.weight", (0,)), Weight("output_projection.weight", (0, 10_000))]
)
def test_a_missing_weight_is_refused(snapshot: Pipeline, weight: Weight):
    with pytest.raises(InputError, match="has no weight"):
        open_step(snapshot, batches(snapshot, 1), weight, SETTINGS)


def test_no_batch_is_refused(snapshot: Pipeline):
    with pytest.raises(InputError, match="no batch"):
        open_step(snapshot, [], WEIGHTS[0], SETTINGS)


@pytest.mark.parametrize("setting", ["learning_rate", "smoothing", "clip"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, -math.inf, 10**400, True, "0.1", None, 1j])
def test_settings_that_are_no_numbers_of_a_step_are_refused(snapshot: Pipeline, setting: str, value: Any):
    with pytest.raises(ConfigError, match=f"{setting} is "):
        open_step(snapshot, batches(snapshot, 1), WEIGHTS[0], SETTINGS._replace(**{setting: value}))
