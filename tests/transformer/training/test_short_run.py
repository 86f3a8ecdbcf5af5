"""Tests of short trainings: the losses equal those of an ordinary training; a training on few pairs reads only these pairs,
and memorises them."""

import pytest

from transformer import InputError
from transformer.training.run import Training
from transformer.training.short_run import CHECK_EVERY, ShortRun, TrainingOnFewPairs, short_run

FEW = ShortRun("reverse", 3e-3, 20, 80, 16, pairs=16)


@pytest.mark.slow
def test_the_losses_are_those_of_training():
    settings = ShortRun("reverse", 1e-3, 5, 2 * CHECK_EVERY, 4)
    done: list[tuple[int, int]] = []
    points = short_run(settings, 600, lambda step, steps: done.append((step, steps)))
    losses = [step.loss for step in Training("reverse", settings.recipe)]
    assert [point.step for point in points] == [1, CHECK_EVERY, 2 * CHECK_EVERY]
    assert [point.loss for point in points] == [losses[point.step - 1] for point in points]
    assert done == [(step, settings.steps) for step in range(1, settings.steps + 1)]


@pytest.mark.slow
def test_few_pairs_are_memorised_and_others_are_not():
    points = short_run(FEW, 600, lambda *_: None)
    assert points[-1].loss < 0.5
    assert points[-1].held_out_loss > 3 * points[-1].loss
    assert points[-1].held_out_loss > min(point.held_out_loss for point in points)


def test_only_the_few_pairs_are_read():
    training = TrainingOnFewPairs("few", FEW.recipe, 6)
    read = {pair for pool in range(5) for batch in training.batches(pool) for pair in batch}
    assert read == {*training.few}
    assert [len(batch) for pool in range(5) for batch in training.batches(pool)] == [16] * 5


def test_a_training_that_takes_too_long_is_stopped():
    with pytest.raises(InputError, match="stopped after 0 seconds, at step 1 of 80"):
        short_run(FEW, 0, lambda *_: None)


def test_an_exception_in_the_report_ends_the_training():
    def stop(step: int, _: int) -> None:
        raise KeyboardInterrupt(step)

    with pytest.raises(KeyboardInterrupt, match="1"):
        short_run(FEW, 600, stop)
