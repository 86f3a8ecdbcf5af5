"""Turns: the number of runs at a time is limited, and every turn is released in the end."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from pages.shell.view import turns
from pages.shell.view.runs import Runs
from pages.shell.view.turns import NowAndThen, aside, computed, enter_line, turn
from pages.shell.view.view import View
from pages.ui.caches import RESULTS, Store, cached
from pages.ui.limits import HEAVY_PARAMETERS, RUNS
from tests.pages.apps import notes, on_page
from tests.pages.shell.view.taken_turns import any_turn_is_taken
from tests.waiting import SECONDS
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.untrained import Untrained, Weights


def test_the_number_of_runs_at_a_time_is_limited() -> None:
    lock, running, most = threading.Lock(), 0, 0
    together = threading.Barrier(RUNS)  # as many runs as have a turn wait for one another

    def run() -> None:
        nonlocal running, most
        with turn():
            with lock:
                running += 1
                most = max(most, running)
            together.wait(SECONDS)
            with lock:
                running -= 1

    threads = [threading.Thread(target=run) for _ in range(5 * RUNS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert most == RUNS
    assert not together.broken


def test_a_turn_within_a_turn_takes_no_second_turn() -> None:
    def take() -> None:
        with turn():
            pass

    with contextlib.ExitStack() as stack:
        for _ in range(RUNS + 1):  # would wait forever if each took a turn
            stack.enter_context(turn())
        others = threading.Thread(target=take)
        others.start()
        others.join(SECONDS)
        assert not others.is_alive() or RUNS == 1


def test_what_acts_now_and_then_does_not_act_at_each_call() -> None:
    times, given = iter([0.0, 0.5, 2.0, 2.5, 3.9, 4.0]), []
    give_back = NowAndThen(lambda: given.append(1), 2.0, lambda: next(times))
    counts = []
    for _ in range(5):
        give_back()
        counts.append(len(given))
    assert counts == [0, 1, 1, 1, 2]


def test_heavy_work_releases_its_turn_and_runs_one_at_a_time() -> None:
    in_the_lane, leave, most = threading.Semaphore(0), threading.Event(), []

    def heavy() -> None:
        with turn(), aside(), aside():
            most.append(1)
            in_the_lane.release()
            leave.wait(SECONDS)
            assert len(most) == 1
            most.pop()

    def light() -> None:
        with turn():
            pass

    heavies = [threading.Thread(target=heavy) for _ in range(2 * RUNS)]
    for thread in heavies:
        thread.start()
    assert in_the_lane.acquire(timeout=SECONDS)
    others = [threading.Thread(target=light) for _ in range(5 * RUNS)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(SECONDS)
        assert not thread.is_alive()
    assert not in_the_lane.acquire(blocking=False)
    leave.set()
    for thread in heavies:
        thread.join(SECONDS)
    assert most == []


def test_heavy_work_that_fails_lets_the_next_heavy_work_run() -> None:
    for _ in range(RUNS + 1):
        with pytest.raises(ValueError, match="wrong"), turn(), aside():
            raise ValueError("wrong")
    with turn(), aside():
        pass


def test_a_large_model_is_heavy_work_and_a_shipped_one_is_not() -> None:
    large = View("vanilla", ("a b",), (None,), Untrained.of("vanilla", ("a b",)))
    shipped = View("reverse", ("abc",), (None,), "reverse")
    assert large.heavy
    assert not shipped.heavy
    turns_for_others = cached(lambda _model: not any_turn_is_taken())
    with turn():
        assert large.run(turns_for_others, "vanilla")
        assert not shipped.run(turns_for_others, "reverse")


class Observed(Untrained):
    """A small model that passes for a large one, and notes whether a turn is taken when it is built."""

    taken: ClassVar[list[bool]] = []

    @property
    def parameters(self) -> int:
        return HEAVY_PARAMETERS

    def build(self, weights: Weights | None = None) -> Pipeline:
        self.taken.append(any_turn_is_taken())
        return super().build(weights)


@pytest.mark.parametrize("work", [lambda view: view.pipeline, lambda view: view.encoding("source"), lambda view: view.answer()])
def test_a_large_model_is_built_without_a_turn(work: Callable[[View], object]) -> None:
    RESULTS.clear()
    Observed.taken.clear()
    view = View("vanilla", ("a b",), (None,), Observed.of("vanilla", ("a b",), sizes={"d_model": 8, "d_ff": 8, "heads": 1}))
    assert view.heavy
    with turn():
        work(view)
        assert any_turn_is_taken()  # the run has taken its turn again
    assert Observed.taken == [False]


def test_a_large_model_that_is_built_stays_in_memory() -> None:
    shared, key = Runs(Store(300 << 20)), Untrained.of("vanilla", ("a b",))
    assert shared.kept_pipeline(key) is None
    pipeline = shared.pipeline(key)
    assert shared.kept_pipeline(key) is pipeline


def test_a_result_that_another_session_drops_is_computed_without_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another session empties the cache right after the cache has reported that it has the result."""

    class Forgetful(Store):
        def has(self, function: Callable[..., Any], *arguments: Any) -> bool:
            has = super().has(function, *arguments)
            self.clear()
            return has

        def kept(self, function: Callable[..., Any], *arguments: Any) -> Any:
            kept = super().kept(function, *arguments)
            self.clear()
            return kept

    store = Forgetful(10_000)
    monkeypatch.setattr(turns, "RESULTS", store)
    no_turn = store.cached(lambda _: not any_turn_is_taken())
    assert no_turn("a")
    with turn():
        assert computed("", no_turn, "a", heavy=True)  # the cached result, or a new one that is computed without a turn


def test_a_turn_is_released_after_an_error() -> None:
    for _ in range(RUNS + 1):
        with pytest.raises(ValueError, match="wrong"), turn():
            raise ValueError("wrong")


@pytest.mark.slow
def test_a_page_that_ends_early_releases_its_turn() -> None:
    for _ in range(RUNS + 1):
        app = on_page("pages/attention/page.py", model="vanilla", source="a " * 400)
        assert app.error or notes(app)  # the model is built by the first run


def test_only_one_run_at_a_time_draws_a_large_model_and_the_others_wait_without_a_turn() -> None:
    lock, drawing, most, free, ended = threading.Lock(), 0, 0, threading.Event(), threading.Semaphore(0)

    def draw() -> None:
        nonlocal drawing, most
        with turn():
            enter_line("waiting")
            enter_line("waiting")  # a second call in the same run has no effect
            with lock:
                drawing += 1
                most = max(most, drawing)
            with aside():  # releases its turn
                assert free.wait(SECONDS)
            with lock:
                drawing -= 1
        ended.release()

    threads = [threading.Thread(target=draw) for _ in range(3 * RUNS)]
    for thread in threads:
        thread.start()
    for _ in range(5):  # meanwhile, other runs get turns
        with turn():
            pass
    free.set()
    for thread in threads:
        assert ended.acquire(timeout=SECONDS)
        thread.join(SECONDS)
    assert most == 1
    with turn():
        enter_line("waiting")  # the line is free again, and below also after a run that failed
    with contextlib.suppress(ValueError), turn():
        enter_line("waiting")
        raise ValueError
    with turn():
        enter_line("waiting")
    enter_line("waiting")  # without a turn it must not take the line, because nothing would release it
    last = threading.Thread(target=draw)
    last.start()
    last.join(SECONDS)
    assert not last.is_alive()


def test_a_kept_result_with_progress_does_not_wait_for_heavy_work() -> None:
    key = Untrained.of("vanilla", ["a"], sizes={"d_model": 512})
    view = View("own-sizes", ("a",), (None,), key)
    assert view.heavy
    doubled = RESULTS.cached(lambda number, _: 2 * number, ignored=1)
    view.run(doubled, 21, report=lambda *_: None)
    results: list[int] = []
    with aside():  # the heavy work of another run
        reader = threading.Thread(target=lambda: results.append(view.run(doubled, 21, report=lambda *_: None)))
        reader.start()
        reader.join(SECONDS)
        assert results == [42]
