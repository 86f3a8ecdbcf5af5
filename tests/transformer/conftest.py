"""What the tests of the library share."""

import pytest
import torch

from transformer.pipeline import Pipeline

# On tensors this small, a second thread costs more than it brings.
torch.set_num_threads(1)


@pytest.fixture(scope="session")
def reverse() -> Pipeline:
    """The shipped model that writes letters backwards. Do not change it."""
    return Pipeline.load("reverse")
