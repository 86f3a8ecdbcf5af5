"""What the tests of the library share."""

import inspect

import pytest
import torch
from hypothesis import settings

from tests.transformer.tiny import TINY
from transformer.config import TransformerConfig
from transformer.learning import Training
from transformer.pipeline import Pipeline
from transformer.recipe import Recipe
from transformer.vocabulary import Vocabulary

# Their fields come from files and from people, so they check them themselves; the import hook must not get there first.
for kind in (TransformerConfig, Recipe, Vocabulary):
    kind.__init__ = inspect.unwrap(kind.__init__)
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
