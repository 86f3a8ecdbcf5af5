"""Tests of loss and exact answers in one pass: they equal the loss of training and the result of greedy decoding."""

import itertools

import pytest
import torch

from transformer import InputError, Pipeline
from transformer.tasks import find_task
from transformer.training.evaluation import accuracy
from transformer.training.held_out import held_out
from transformer.training.recipe import recipe
from transformer.training.run import Training


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ["reverse@000168", "reverse@000316", "reverse"])
def test_exact_answers_are_those_of_greedy_decoding(name: str):
    pipeline = Pipeline.load(name)
    pairs = list(itertools.islice(find_task("reverse").pairs("held-out", "greedy"), 60))
    assert held_out(pipeline, pairs).exact == pytest.approx(accuracy(pipeline, pairs).share)


@pytest.mark.parametrize("smoothing", [0.0, 0.05])
def test_the_loss_is_the_loss_of_training(smoothing: float):
    training = Training("reverse", recipe("reverse").replace(label_smoothing=smoothing, steps=1, batch=1))
    pairs = list(itertools.islice(training.task.pairs("held-out", 1), 20))
    source, target = training.ids(pairs)
    pipeline = training.pipeline()
    with torch.no_grad():
        logits = pipeline.model(source, target[:, :-1])
        expected = training.loss(logits.flatten(0, 1), target[:, 1:].flatten())
    measured = held_out(pipeline, pairs, smoothing)
    assert measured.loss == pytest.approx(expected.item(), rel=1e-5)
    assert measured.pairs == 20
    # By hand, over the tokens that are not padding.
    counted = target[:, 1:] != training.task.target_vocabulary.pad
    assert measured.right_tokens == pytest.approx((logits.argmax(-1) == target[:, 1:])[counted].float().mean().item())


def test_no_pairs_are_refused(reverse: Pipeline):
    with pytest.raises(InputError, match="no pairs"):
        held_out(reverse, [])
