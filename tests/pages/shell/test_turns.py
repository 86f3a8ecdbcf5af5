"""Turns: no more runs at a time than allowed, and a turn always comes back."""

import contextlib
import threading
import time

import pytest

from pages.shell import turns
from pages.shell.turns import aside, turn
from pages.shell.view import View
from pages.ui.caches import cached
from pages.ui.limits import RUNS
from tests.pages.apps import on_page
from transformer.pipeline.untrained import Untrained


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


def test_a_turn_within_a_turn_is_the_same() -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(RUNS + 1):  # would wait for ever
            stack.enter_context(turn())
        others = threading.Thread(target=lambda: stack.enter_context(turn()))
        others.start()
        others.join(10)
        assert not others.is_alive() or RUNS == 1


def test_heavy_work_leaves_its_turn_to_others_and_is_done_alone() -> None:
    in_the_lane, leave, most = threading.Semaphore(0), threading.Event(), []

    def heavy() -> None:
        with turn(), aside(), aside():
            most.append(1)
            in_the_lane.release()
            leave.wait(10)
            assert len(most) == 1
            most.pop()

    def light() -> None:
        with turn():
            pass

    heavies = [threading.Thread(target=heavy) for _ in range(2 * RUNS)]
    for thread in heavies:
        thread.start()
    assert in_the_lane.acquire(timeout=10)
    others = [threading.Thread(target=light) for _ in range(5 * RUNS)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(10)
        assert not thread.is_alive()
    assert not in_the_lane.acquire(blocking=False)
    leave.set()
    for thread in heavies:
        thread.join(10)
    assert most == []


def test_heavy_work_that_fails_leaves_the_line() -> None:
    for _ in range(RUNS + 1):
        with pytest.raises(ValueError, match="wrong"), turn(), aside():
            raise ValueError("wrong")
    with turn(), aside():
        pass


def test_a_large_model_is_heavy_work_and_a_shipped_one_is_not() -> None:
    large = View("vanilla", ("a b",), (None,), Untrained.of("vanilla", ("a b",)))
    shipped = View("reverse", ("abc",), (None,), "reverse")
    assert isinstance(large.work(), contextlib.nullcontext) is False
    assert isinstance(shipped.work(), contextlib.nullcontext)
    turns_for_others = cached(lambda _model: not any_turn_is_taken())
    with turn():
        assert large.computed(turns_for_others, "vanilla")
        assert not shipped.computed(turns_for_others, "reverse")


def any_turn_is_taken() -> bool:
    """Whether another thread could not take all turns at once."""
    taken: list[bool] = []

    def take() -> None:
        got = [turns._TURNS.acquire(blocking=False) for _ in range(RUNS)]
        for _ in filter(None, got):
            turns._TURNS.release()
        taken.append(not all(got))

    thread = threading.Thread(target=take)
    thread.start()
    thread.join(10)
    return taken[0]


def test_a_turn_comes_back_after_an_error() -> None:
    for _ in range(RUNS + 1):
        with pytest.raises(ValueError, match="wrong"), turn():
            raise ValueError("wrong")


def test_a_page_that_ends_early_gives_its_turn_back() -> None:
    for _ in range(RUNS + 1):
        app = on_page("pages/attention/page.py", model="vanilla", source="a " * 400)
        assert app.error
