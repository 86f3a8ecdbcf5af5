"""Turns: a few runs of the app at a time; the others wait in line.

Python executes one thread at a time. So twenty runs at once end no sooner than twenty runs in a row: all of them end late, and
time is lost because the interpreter switches between them. Measured with 80 sessions, each with a click every 3 seconds. With
two runs at a time, 95 of 100 clicks were answered within 0.14 s. Without a limit it was 1.7 s, with 1.6 times the processor
time.

A run that starts heavy work on a large model gives up its turn until the work is done (`aside`). Only one run at a time may
draw a large model (`enter_line`), because each such run has a model of its own in memory: without this rule, many of them
waited half-way, and 100 sessions on random links took 2.4 GB. The run that draws keeps its turn. If it ran as a third one
beside the two, the clicks of 60 other sessions would take 47 ms instead of 21.
"""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import TypeVar

import streamlit as st

from pages.ui.caches import ABSENT, RESULTS
from pages.ui.limits import RUNS
from transformer.process import return_freed_memory

Result = TypeVar("Result")

TURNS = threading.BoundedSemaphore(RUNS)
# Only one run at a time does heavy work, because that takes hundreds of megabytes.
_HEAVY = threading.Lock()
# The run that draws a large model holds this lock.
_LINE = threading.Lock()
# Freed memory is given back to the system at most once in so many seconds. Giving it back takes 2 to 15 ms, and later runs must
# then ask for memory again. If it was never given back, a server with 100 visitors was up to 70 MB larger.
RETURN_SECONDS = 2.0


class NowAndThen:
    """A function that may be called often, but calls another function at most once in some seconds.

    Args:
        act: the function that is called.
        seconds: the least time between two calls of `act`, and before the first one.
        clock: returns the time in seconds.
    """

    def __init__(self, act: Callable[[], None], seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._act, self._seconds, self._clock = act, seconds, clock
        self._last = clock()

    def __call__(self) -> None:
        now = self._clock()
        if now - self._last >= self._seconds:
            self._last = now
            self._act()


_give_memory_back = NowAndThen(return_freed_memory, RETURN_SECONDS)


class _OfThread(threading.local):
    """The state of the run in this thread: whether it has a turn, does heavy work, and draws a large model."""

    turn = False
    heavy = False
    line = False


_OF_THREAD = _OfThread()


@contextmanager
def turn() -> Generator[None]:
    """A context in which a run of the app computes. It waits until fewer than `RUNS` other runs compute. Inside another such
    context it does nothing."""
    if _OF_THREAD.turn:
        yield
        return
    _take_turn()
    try:
        yield
    finally:
        _leave_turn()
        if _OF_THREAD.line:
            _OF_THREAD.line = False
            _LINE.release()
    _give_memory_back()


def enter_line(label: str) -> None:
    """Wait until no other run of the app draws a large model. From then to the end of its turn, only this run may draw one.
    Call it before any part of such a model is in memory. Does nothing if this run has no turn. While it waits, a spinner turns
    beside `label`."""
    if _OF_THREAD.line or not _OF_THREAD.turn:
        return
    if not _LINE.acquire(blocking=False):
        with st.spinner(label), _without_turn():
            _LINE.acquire()
    _OF_THREAD.line = True


@contextmanager
def aside() -> Generator[None]:
    """A context for heavy work. It waits until the heavy work of other runs is done. Meanwhile another run can have its turn.
    Inside another such context it does nothing.

    Never enter it inside a function that a cache is computing. Other runs may have a turn and wait for that result, while this
    run waits for a turn: a deadlock.
    """
    if _OF_THREAD.heavy:
        yield
        return
    with _without_turn(), _HEAVY:
        _OF_THREAD.heavy = True
        try:
            yield
        finally:
            _OF_THREAD.heavy = False
            return_freed_memory()


def computed(
    label: str,
    function: Callable[..., Result],
    *arguments: object,
    heavy: bool = False,
    report: Callable[[int, int], None] | None = None,
) -> Result:
    """The result of a function made by `caches.cached`. While it is computed, a spinner turns beside a label. A result in the
    cache has no spinner, because a spinner starts a thread and costs a click as much as a widget.

    Args:
        arguments: the arguments of the function; all of them belong to the key of the cache.
        heavy: whether another run can have the turn while the result is computed (`aside`).
        report: a last argument of the function, which is called with the progress and is not in the key. The page then shows
            the progress itself, without the spinner.
    """
    result = RESULTS.kept(function, *arguments)
    if result is not ABSENT:
        return result
    with aside() if heavy else nullcontext():
        if report:
            return function(*arguments, report)
        with st.spinner(label):
            return function(*arguments)


@contextmanager
def _without_turn() -> Generator[None]:
    """A context in which another run can have the turn of this run. Does nothing if this run has no turn."""
    if not _OF_THREAD.turn:
        yield
        return
    _leave_turn()
    try:
        yield
    finally:
        _take_turn()


def _take_turn() -> None:
    TURNS.acquire()
    _OF_THREAD.turn = True


def _leave_turn() -> None:
    if _OF_THREAD.turn:
        _OF_THREAD.turn = False
        TURNS.release()
