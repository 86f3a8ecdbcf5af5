"""Fixtures and settings for all tests of the library."""

import jaxtyping
import pytest

from tests.transformer.preparation import prepare
from tests.transformer.tiny import TINY
from transformer.pipeline.pipeline import Pipeline
from transformer.training.run import Training

prepare()

# Files whose tests call the same small functions some hundred thousand times. Checking the shapes in these files took 54 of
# 120 s; the tests in other files check the shapes of the same functions.
REPEATING = {
    "test_averages",
    "test_beam",
    "test_call_tree",
    "test_compare",
    "test_layer_mistakes",
    "test_mask_invariants",
    "test_network_like",
    "test_shipped",
    "test_sweep",
}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    jaxtyping.config.update("jaxtyping_disable", item.path.stem in REPEATING)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def reverse() -> Pipeline:
    """The shipped model that writes letters backwards. Do not change it."""
    return Pipeline.load("reverse")


@pytest.fixture(scope="module")
def finished() -> Training:
    """The tiny run, finished without a break. Do not train it further."""
    training = Training("reverse", TINY)
    training.steps = list(training)
    return training
