"""Long computations in the background of a session. The page reacts to clicks meanwhile, and a computation can be stopped.

They run in a thread instead of in the run of the page, because Streamlit 1.67 handles a click in the page only after the run of
a fragment has ended (a click in the sidebar ends the run).
"""

import logging
import threading
from collections.abc import Callable, Hashable, Sequence

import streamlit as st

from pages.shell.error_boundary import fault_number, sentence, show_fault
from pages.shell.view.runs import Report
from pages.shell.view.turns import aside, turn
from pages.ui.caches import of_session
from pages.ui.escaping import literal
from pages.ui.text import text
from transformer import HeadlightError

LOG = logging.getLogger("headlight")
# Session key.
BACKGROUND = "background"
# Seconds between two drawings of the progress.
PACE = 0.5

# Computes something that a cache keeps, and reports after each step how many steps are done, and of how many.
Job = Callable[[Report], object]

# The computations of all visitors that have not ended, in the order in which they were started. The first one computes, or
# waits for other heavy work to end.
_LINE: list["Background"] = []
_MOVED = threading.Condition()


class StoppedError(Exception):
    """Raised in a computation that `Background.stop` has stopped."""


class Background:
    """A computation in a thread: several jobs, one after another.

    Args:
        steps: the number of steps of each job.
        of: a value that identifies what the jobs compute, to compare with other jobs.

    Attributes:
        step, steps: the number of steps done, and the number of steps of all jobs together.
        problem: the error that ended the jobs before the last step. None if there was no error, or they were stopped.
        fault: if a bug of the app ended the jobs, its number in the log; otherwise empty.
    """

    def __init__(self, jobs: Sequence[Job], steps: int, of: Hashable = None) -> None:
        self.step, self.steps, self.of = 0, steps * len(jobs), of
        self.problem: HeadlightError | None = None
        self.fault = ""
        self._jobs, self._each = tuple(jobs), steps
        self._stopped, self._runs = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        with _MOVED:  # so that the thread reads the line only after the computation is in it
            self._thread.start()
            _LINE.append(self)

    @property
    def alive(self) -> bool:
        """Whether the thread computes or waits for other heavy work. False as soon as `stop` was called."""
        return self._thread.is_alive() and not self._stopped.is_set()

    @property
    def place(self) -> int:
        """The place of the computation in the queue of waiting computations, counted from 1; 0 if it does not wait."""
        with _MOVED:
            if self._runs.is_set() or self not in _LINE:
                return 0
            # If the first one does not run yet, other heavy work runs before it.
            return _LINE.index(self) + (0 if _LINE[0]._runs.is_set() else 1)

    def stop(self) -> None:
        """End the computation after the current step. Returns immediately."""
        self._stopped.set()
        with _MOVED:
            _MOVED.notify_all()

    def join(self, seconds: float | None = None) -> bool:
        """Wait until the thread has ended, at most `seconds`; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            with _MOVED:
                _MOVED.wait_for(lambda: _LINE[0] is self or self._stopped.is_set())
            if not self._stopped.is_set():
                self._run_all()
        finally:
            with _MOVED:
                _LINE.remove(self)
                _MOVED.notify_all()

    def _run_all(self) -> None:
        before = 0

        def report(step: int, _: int) -> None:
            self.step = before + step
            if self._stopped.is_set():
                raise StoppedError

        try:
            with aside():
                self._runs.set()
                for job in self._jobs:
                    report(0, 0)
                    job(report)
                    before += self._each
        except StoppedError:
            return
        except HeadlightError as problem:
            self.problem = problem
        except Exception:
            self.fault = fault_number()
            LOG.exception("Fault %s: the computation of %.200r in the background failed", self.fault, self.of)


def silent(_: int, __: int) -> None:
    """Ignore the progress of a computation: a `report` that does nothing."""


def _new() -> dict[str, Background]:
    return {}


def _stop_all(computations: dict[str, Background]) -> None:
    for computation in computations.values():
        computation.stop()


_of_session = of_session(_new, _stop_all)


def computations() -> dict[str, Background]:
    """The background computations of this session, by name. All are stopped when the browser disconnects."""
    st.session_state[BACKGROUND] = _of_session()
    return st.session_state[BACKGROUND]


def show_background(name: str, label: str, jobs: Sequence[Job], steps: int, of: Hashable = None) -> None:
    """Draw a button that starts jobs; while they run, draw their progress. Call it only if their results are not in the cache.
    When the jobs have ended, the app runs again.

    Args:
        name: the name of the computation, unique in the app.
        jobs, steps, of: the arguments of `Background`. If jobs with another `of` run under this name, the button stops them.
    """
    computation = computations().get(name)
    if computation and computation.of != of:
        computation = None
    if computation and computation.alive:
        st.fragment(_show_progress, key=f"{name}-progress", run_every=PACE)(name, computation)
        return
    if computation and computation.problem:
        st.error(literal(sentence(computation.problem)), icon=":material/timer_off:")
    if computation and computation.fault:
        show_fault(computation.fault)
    st.button(label, key=name, icon=":material/play_arrow:", on_click=_start, args=(name, jobs, steps, of))


def _start(name: str, jobs: Sequence[Job], steps: int, of: Hashable) -> None:
    start(computations(), name, jobs, steps, of)


def start(computations: dict[str, Background], name: str, jobs: Sequence[Job], steps: int, of: Hashable) -> None:
    """Start jobs in the background of a session, unless they run already: a second click can arrive before the button is gone.
    Jobs of this `name` (of the computation) with another `of` are stopped. `computations` are those of the session by name;
    `steps` is the number of steps of each job; `of` identifies what the jobs compute."""
    running = computations.get(name)
    if running and running.alive and running.of == of:
        return
    if running:
        running.stop()
    computations[name] = Background(jobs, steps, of)


def _show_progress(name: str, computation: Background) -> None:
    """Draw the progress. While the jobs run, Streamlit calls only this function."""
    words = text("common")["background"]
    with turn():
        if not computation.alive:
            st.rerun()
        place = computation.place
        if place:
            st.info(words["waits"].format(place=place), icon=":material/hourglass_empty:")
        else:
            says = words["running"].format(step=computation.step, steps=computation.steps)
            st.progress(min(computation.step / computation.steps, 1.0), says)
        st.button(words["stop"], key=f"stop-{name}", icon=":material/stop:", on_click=computation.stop)
