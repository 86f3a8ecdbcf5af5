"""Turns: a few runs of the app at a time; the others wait in line.

Python runs one thread at a time, so twenty runs at once are done no sooner than one after another: all of them end late, and
they lose time by passing the interpreter round. Measured with 80 sessions, each with a click every 3 seconds: 95 of 100 clicks
were done in 0.14 s with two runs at a time. Without a limit it was 1.7 s, and 1.6 times the processor time.

A run that comes to heavy work, on a large model, gives up its turn until the work is done: `aside`. Of the runs that draw a
large model, one goes on at a time (`enter_line`): while others waited in the middle of theirs, each held a model of its own in
memory, and 100 sessions on random links took 2.4 GB. That run keeps its turn: as a third beside the two, it made the clicks of
60 others take 47 ms instead of 21.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

from pages.ui.caches import ABSENT, RESULTS
from pages.ui.limits import RUNS
from pages.ui.waiting import waited
from transformer.process import return_freed_memory

Result = TypeVar("Result")

_TURNS = threading.BoundedSemaphore(RUNS)
# One heavy work at a time, because each takes hundreds of megabytes.
_HEAVY = threading.Lock()
# Held by the run that draws a large model.
_LINE = threading.Lock()
# Seconds between two times that freed memory is given back. It takes 2 to 15 ms, and the next runs ask for new pages; never
# giving back what runs on large models have freed made a server of 100 visitors up to 70 MB larger.
RETURN_SECONDS = 2.0


class _Returns:
    """Gives freed memory back to the system now and then."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def give_back(self) -> None:
        """Give it back if the last time is long enough ago."""
        now = time.monotonic()
        if now - self._last >= RETURN_SECONDS:
            self._last = now
            return_freed_memory()


_RETURNS = _Returns()


class _OfThread(threading.local):
    """Whether the run in this thread has a turn, whether it is at heavy work, and whether it draws a large model."""

    turn = False
    heavy = False
    line = False


_OF_THREAD = _OfThread()


@contextmanager
def turn() -> Iterator[None]:
    """A context that waits for a turn, and gives it back at the end. Within another turn it does nothing."""
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
    _RETURNS.give_back()


def enter_line(label: str) -> None:
    """Wait until no other run draws a large model; this one does until the end of its turn. Call it before anything of such a
    model is in memory. Without a turn it does nothing.

    Args:
        label: text beside a spinner, while others have to be waited for.
    """
    if _OF_THREAD.line or not _OF_THREAD.turn:
        return
    if not _LINE.acquire(blocking=False):
        with st.spinner(label), _without_turn():
            _LINE.acquire()
    _OF_THREAD.line = True


@contextmanager
def aside() -> Iterator[None]:
    """A context for heavy work. It waits for the heavy work of others, and leaves its turn to somebody else meanwhile. Within
    another such context it does nothing.

    Never enter it while a cache computes a result: others may wait for that with a turn of theirs, and this run for a turn.
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


def waited_aside(label: str, function: Callable[..., Result], *arguments: object) -> Result:
    """The result of a cached function whose work is heavy. While it is computed, a spinner turns beside a label, and somebody
    else has the turn.

    Args:
        label: text beside the spinner.
        function: made by `caches.cached`, with none of its arguments ignored.
        arguments: its arguments.
    """
    result = RESULTS.kept(function, *arguments)
    if result is not ABSENT:
        return result
    with aside():
        return waited(label, function, *arguments)


@contextmanager
def _without_turn() -> Iterator[None]:
    """A context in which somebody else can have the turn of this run, if it has one."""
    if not _OF_THREAD.turn:
        yield
        return
    _leave_turn()
    try:
        yield
    finally:
        _take_turn()


def _take_turn() -> None:
    _TURNS.acquire()
    _OF_THREAD.turn = True


def _leave_turn() -> None:
    if _OF_THREAD.turn:
        _OF_THREAD.turn = False
        _TURNS.release()
