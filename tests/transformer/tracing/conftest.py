"""Fixtures of the tests of edits."""

import pytest

from tests.transformer.small import SOURCE, TARGET, small
from transformer.network.config import PRESETS
from transformer.network.model import Transformer
from transformer.tracing.trace import Trace, run_traced


@pytest.fixture(scope="module", params=PRESETS)
def model(request: pytest.FixtureRequest) -> Transformer:
    """A small model of each variant. Do not change it."""
    return small(request.param)


@pytest.fixture(scope="module")
def plain(model: Transformer) -> Trace:
    """The trace of the model without an edit."""
    return run_traced(model, SOURCE, TARGET)
