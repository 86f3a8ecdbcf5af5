"""Waiting for an event of another process or thread."""

import time
from collections.abc import Callable

SECONDS = 120.0  # a process can take long to start on a busy machine


def wait_for(condition: Callable[[], bool], state: Callable[[], object] = lambda: None) -> None:
    """Return as soon as the condition is true. Fails with the state after `SECONDS`."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, state()
        time.sleep(0.01)
