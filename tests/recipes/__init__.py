"""Small models of a known mechanism, which tests train: each recipe writes a folder as a model hub gives it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_core() -> Iterator[None]:
    """A context in which torch uses one thread. For tensors this small more threads take longer, and sums have one order, so a
    seed gives the same model."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
