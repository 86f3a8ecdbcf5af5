"""Short trainings in the background of a session. The page reacts to clicks meanwhile, and a training can be stopped.

They run in a thread instead of in the run of the page, because Streamlit 1.67 handles a click in the page only after the run of
a fragment has ended (a click in the sidebar ends the run).
"""

import threading

import streamlit as st

from pages.shell.view.turns import aside
from pages.ui.caches import RESULTS, of_session
from pages.ui.limits import EXPERIMENT_SECONDS
from transformer import HeadlightError
from transformer.training.short_run import Point, ShortRun, short_run

# Session key.
TRAININGS = "short_trainings"

_run = RESULTS.cached(short_run, ignored=1)

# The short trainings of all visitors that have not ended, in the order in which they were started. The first one trains, or
# waits for other heavy work to end.
_LINE: list["Background"] = []
_MOVED = threading.Condition()


class StoppedError(Exception):
    """The training was stopped by `Background.stop`."""


class Background:
    """Several trainings, one after another, in a thread. Their curves are computed once for all visitors (`curves`).

    Attributes:
        step: the number of steps done.
        steps: the number of steps of all trainings together.
        problem: the error that ended the trainings before the last step. None if there was no error, or they were stopped.
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
        """Whether the thread trains or waits for other heavy work. False as soon as `stop` was called."""
        return self._thread.is_alive() and not self._stopped.is_set()

    @property
    def place(self) -> int:
        """The place in the line, counted from 1; 0 if the training does not wait."""
        with _MOVED:
            if self._trains.is_set() or self not in _LINE:
                return 0
            # If the first one does not train yet, other heavy work runs before it.
            return _LINE.index(self) + (0 if _LINE[0]._trains.is_set() else 1)

    def stop(self) -> None:
        """End the training after the current step. Returns immediately."""
        self._stopped.set()
        with _MOVED:
            _MOVED.notify_all()

    def join(self, seconds: float | None = None) -> bool:
        """Wait until the thread has ended, at most `seconds`; returns whether it has ended."""
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
    """The curves of trainings; None if the curve of one of them is not computed yet."""
    if not all(RESULTS.has(_run, settings, EXPERIMENT_SECONDS) for settings in runs):
        return None
    return [_run(settings, EXPERIMENT_SECONDS, _silent) for settings in runs]


def _silent(_: int, __: int) -> None:
    """Report nothing, because the result is already in the cache."""


def _new_trainings() -> dict[str, Background]:
    return {}


def _stop_all(trainings: dict[str, Background]) -> None:
    for training in trainings.values():
        training.stop()


_of_session = of_session(_new_trainings, _stop_all)


def trainings() -> dict[str, Background]:
    """Name of an experiment → its training in this session. All trainings are stopped when the browser disconnects."""
    st.session_state[TRAININGS] = _of_session()
    return st.session_state[TRAININGS]
