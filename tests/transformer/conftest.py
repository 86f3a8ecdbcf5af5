"""What the tests of the library share."""

import inspect

import pytest
import torch
from hypothesis import settings

from tests.transformer.tiny import TINY
from transformer.pipeline.pipeline import Pipeline
from transformer.text.vocabulary import Vocabulary
from transformer.training.run import Training

# Its tokens come from files and from people, so it checks them itself; the import hook must not get there first. (What
# `fields.by_name` has given a constructor, the hook leaves alone.)
Vocabulary.__init__ = inspect.unwrap(Vocabulary.__init__)
# How long an example takes says nothing here: a busy machine must not fail a test.
settings.register_profile("headlight", deadline=None)
settings.load_profile("headlight")
# On tensors this small, a second thread costs more than it brings.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def reverse() -> Pipeline:
    """The shipped model that writes letters backwards. Do not change it."""
    return Pipeline.load("reverse")


@pytest.fixture(scope="module")
def finished() -> Training:
    """The tiny run, done without a break. Do not train it on."""
    training = Training("reverse", TINY)
    training.steps = list(training)
    return training
