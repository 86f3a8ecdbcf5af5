"""Turns: no more runs at a time than allowed, and a turn always comes back."""

import threading
import time

import pytest

from pages.shell.turns import turn
from pages.ui.limits import RUNS
from tests.pages.apps import on_page


def test_no_more_runs_at_a_time_than_allowed() -> None:
    lock, running, most = threading.Lock(), 0, 0

    def run() -> None:
        nonlocal running, most
        with turn():
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.01)
            with lock:
                running -= 1

    threads = [threading.Thread(target=run) for _ in range(5 * RUNS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most == RUNS


def test_a_turn_comes_back_after_an_error() -> None:
    for _ in range(RUNS + 1):
        with pytest.raises(ValueError, match="wrong"), turn():
            raise ValueError("wrong")


def test_a_page_that_ends_early_gives_its_turn_back() -> None:
    for _ in range(RUNS + 1):
        app = on_page("pages/attention/page.py", model="vanilla", source="a " * 400)
        assert app.error
