"""The training of each session, and the line in which trainings wait for a place on the server."""

import threading
from typing import Any

import streamlit as st

from pages.ui.caches import of_session
from pages.ui.limits import TRAINING_NICENESS, TRAININGS
from transformer.training.live import LiveTraining, Progress
from transformer.training.settings import LiveSettings

# Session key of the desk.
DESK = "live_desk"


class Line:
    """A limit on the trainings that compute at the same time; the others wait in the order in which they came.

    A paused training gives up its place as soon as somebody waits for one: it is stopped, and can be resumed.

    Args:
        places: how many compute at the same time.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self._lock = threading.RLock()
        self._waiting: list[LiveTraining] = []
        self._running: list[LiveTraining] = []

    def enter(self, training: LiveTraining) -> None:
        """Start a training, now or when it is its turn. Does nothing if it is in line already."""
        with self._lock:
            if training not in self._waiting and training not in self._running:
                self._waiting.append(training)
                self._advance()

    def leave(self, training: LiveTraining) -> None:
        """Take a training out of the line, and end its process within two seconds if it has one."""
        with self._lock:
            if training in self._waiting:
                self._waiting.remove(training)
        training.stop()

    def ended(self, training: LiveTraining) -> None:
        """Give the place of a training whose process has gone to the next."""
        with self._lock:
            if training in self._running:
                self._running.remove(training)
            self._advance()

    def place(self, training: LiveTraining) -> int:
        """The place in line, counted from 1; 0 for a training that does not wait."""
        with self._lock:
            self._advance()
            return self._waiting.index(training) + 1 if training in self._waiting else 0

    def _advance(self) -> None:
        while self._waiting and len(self._running) < self.places:
            training = self._waiting.pop(0)
            self._running.append(training)
            training.start()
        if self._waiting:
            for training in self._running:
                if training.progress.status == "paused":
                    training.stop()
                    break


# Shared by all sessions, as the processor is.
LINE = Line(TRAININGS)


class Desk:
    """What one session trains: one model at a time."""

    def __init__(self) -> None:
        self.training: LiveTraining | None = None
        self._left = False

    @property
    def progress(self) -> Progress:
        """How far the training is; `new` without one."""
        return self.training.progress if self.training else Progress()

    @property
    def place(self) -> int:
        """The place in line; 0 if it does not wait."""
        return LINE.place(self.training) if self.training else 0

    @property
    def busy(self) -> bool:
        """Whether anything can change by itself."""
        return self.place > 0 or self.progress.alive

    def start(self, settings: LiveSettings) -> None:
        """Begin anew; a training that runs is ended."""
        self.stop()
        if self._left:
            return
        ended: list[Any] = []
        training = LiveTraining(settings, lambda: LINE.ended(ended[0]), TRAINING_NICENESS)
        ended.append(training)
        self.training = training
        LINE.enter(training)

    def resume(self) -> None:
        """Go on with a training that was stopped or has crashed."""
        if self.training and not self._left:
            LINE.enter(self.training)

    def stop(self) -> None:
        """Stop the training, if there is one; it can be resumed."""
        if self.training:
            LINE.leave(self.training)

    def leave(self) -> None:
        """Stop the training, and start no other: the browser has gone, and a click that is still under way must not."""
        self._left = True
        self.stop()


def _new_desk() -> Desk:
    return Desk()


_connected_desk = of_session(_new_desk, Desk.leave)


def desk() -> Desk:
    """The desk of this session. After the connection was lost and found again, it has the stopped training of before."""
    connected, state = _connected_desk(), st.session_state
    before = state.get(DESK)
    if before is not connected:
        if before is not None:
            connected.training = before.training
        state[DESK] = connected
    return connected
