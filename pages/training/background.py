"""Short trainings in the background of a session: every click acts meanwhile, and a training can be stopped.

They run in a thread and not in the run of the page, because Streamlit lets a click in the page wait until the run of a fragment
has ended (1.67; a click in the sidebar ends the run).
"""

import threading

import streamlit as st

from pages.shell.turns import aside
from pages.ui.caches import RESULTS, of_session
from pages.ui.limits import EXPERIMENT_SECONDS
from transformer import HeadlightError
from transformer.training.short_run import Point, ShortRun, short_run

# Session key.
TRAININGS = "short_trainings"

_run = RESULTS.cached(short_run, ignored=1)

# Short trainings of all visitors that have not ended, in the order in which they were started. The first one trains, or waits
# for heavy work of another kind.
_LINE: list["Background"] = []
_MOVED = threading.Condition()


class StoppedError(Exception):
    """Somebody has stopped the training."""


class Background:
    """Trainings one after another in a thread. Their curves are computed once for all visitors (`curves`).

    Args:
        runs: the settings of each.

    Attributes:
        step, steps: done, and of all trainings together.
        problem: why it ended before the last step; None if it did not, or was stopped.
    """

    def __init__(self, runs: tuple[ShortRun, ...]) -> None:
        self.step, self.steps = 0, sum(settings.steps for settings in runs)
        self.problem: HeadlightError | None = None
        self._runs, self._stopped, self._trains = runs, threading.Event(), threading.Event()
        with _MOVED:
            _LINE.append(self)
        self._thread = threading.Thread(target=self._train, daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it trains, or waits for the heavy work of others; False as soon as it was stopped."""
        return self._thread.is_alive() and not self._stopped.is_set()

    @property
    def place(self) -> int:
        """The place in line, counted from 1; 0 if it does not wait."""
        with _MOVED:
            if self._trains.is_set() or self not in _LINE:
                return 0
            # Before the first one there is heavy work that is no short training.
            return _LINE.index(self) + (0 if _LINE[0]._trains.is_set() else 1)

    def stop(self) -> None:
        """End it after the present step. Returns at once."""
        self._stopped.set()
        with _MOVED:
            _MOVED.notify_all()

    def join(self, seconds: float | None = None) -> bool:
        """Wait until the thread has ended; False if it has not after so many seconds."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _train(self) -> None:
        try:
            with _MOVED:
                _MOVED.wait_for(lambda: _LINE[0] is self or self._stopped.is_set())
            if not self._stopped.is_set():
                self._train_all()
        finally:
            with _MOVED:
                _LINE.remove(self)
                _MOVED.notify_all()

    def _train_all(self) -> None:
        before = 0

        def report(step: int, _: int) -> None:
            self.step = before + step
            if self._stopped.is_set():
                raise StoppedError

        try:
            with aside():
                self._trains.set()
                for settings in self._runs:
                    report(0, settings.steps)
                    _run(settings, EXPERIMENT_SECONDS, report)
                    before += settings.steps
        except StoppedError:
            return
        except HeadlightError as problem:
            self.problem = problem


def curves(runs: tuple[ShortRun, ...]) -> list[tuple[Point, ...]] | None:
    """The curves of trainings; None if one of them is not known."""
    if not all(RESULTS.has(_run, settings, EXPERIMENT_SECONDS) for settings in runs):
        return None
    return [_run(settings, EXPERIMENT_SECONDS, _silent) for settings in runs]


def _silent(_: int, __: int) -> None:
    """The result is known."""


def _new_trainings() -> dict[str, Background]:
    return {}


def _stop_all(trainings: dict[str, Background]) -> None:
    for training in trainings.values():
        training.stop()


_of_session = of_session(_new_trainings, _stop_all)


def trainings() -> dict[str, Background]:
    """Name of an experiment → its training in this session. All are stopped when the browser has gone."""
    st.session_state[TRAININGS] = _of_session()
    return st.session_state[TRAININGS]
