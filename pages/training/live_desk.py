"""The training of each session, and the line in which trainings wait until the server can run them."""

import secrets
import threading
from typing import Any
from weakref import WeakSet

import streamlit as st
from cachetools import TTLCache

from pages.shell.models.own_models import keep_left, own_store, take_left
from pages.ui.caches import of_session
from pages.ui.limits import TRAINING_NICENESS, TRAININGS
from transformer.training.live_run import LiveTraining, Progress
from transformer.training.training_settings import LiveSettings

# Session key of the desk.
DESK = "live_desk"


class Line:
    """A queue that limits how many trainings compute at the same time. The others wait in the order in which they came.

    As soon as a training waits, a paused training loses its place: the paused training is stopped, and can be resumed.

    Args:
        places: the number of trainings that can compute at the same time.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self._lock = threading.RLock()
        self._waiting: list[LiveTraining] = []
        self._running: list[LiveTraining] = []
        # Trainings that were stopped because another one waited, and that were not started again.
        self._gave_way = WeakSet[LiveTraining]()

    def enter(self, training: LiveTraining) -> None:
        """Start a training now, or when a place is free. Does nothing if the training is already in the line or runs."""
        with self._lock:
            if training not in self._waiting and training not in self._running:
                self._waiting.append(training)
                self._gave_way.discard(training)
                self._advance()

    def leave(self, training: LiveTraining) -> None:
        """Remove a training from the line. If it has a process, end the process within two seconds."""
        with self._lock:
            if training in self._waiting:
                self._waiting.remove(training)
        training.stop()

    def ended(self, training: LiveTraining) -> None:
        """Give the place of a training whose process has ended to the next training in the line."""
        with self._lock:
            if training in self._running:
                self._running.remove(training)
            self._advance()

    def place(self, training: LiveTraining) -> int:
        """The place of a training in the queue, counted from 1; 0 if the training does not wait."""
        with self._lock:
            self._advance()
            return self._waiting.index(training) + 1 if training in self._waiting else 0

    def gave_way(self, training: LiveTraining) -> bool:
        """Whether a training was stopped because it was paused while another training waited for its place."""
        return training in self._gave_way

    def _advance(self) -> None:
        while self._waiting and len(self._running) < self.places:
            training = self._waiting.pop(0)
            self._running.append(training)
            training.start()
        if self._waiting:
            for training in self._running:
                if training.progress.status == "paused":
                    self._gave_way.add(training)
                    training.stop()
                    break


# One line for all sessions, because they share the processor.
LINE = Line(TRAININGS)


# Token → the training of a browser that has disconnected, and whether it was computing or waiting in the line. A visitor who
# only loads the page again within 300 seconds gets it back. The training is stopped, or will be soon.
LEFT: TTLCache[str, tuple[LiveTraining, bool]] = TTLCache(4, 300)
_LEFT_LOCK = threading.Lock()


class Desk:
    """The training and the own models of one session. A session trains one model at a time.

    Attributes:
        training: the current or last training; None before the first training.
        name: the secret key with which a page that is loaded again finds the training and the session's own models. Only the
            browser's tab has this key. Empty if the session has neither a training nor models.
        models: the session's store of its own models.
        came_back: if the training was stopped because its page was loaded again, the step from which it goes on; None
            otherwise.
    """

    def __init__(self) -> None:
        self.training: LiveTraining | None = None
        self.name = ""
        self.models = own_store()
        self.came_back: int | None = None
        self._left = self._goes_on = False

    @property
    def progress(self) -> Progress:
        """The progress of the training. Without a training, its status is `new`."""
        return self.training.progress if self.training else Progress()

    @property
    def place(self) -> int:
        """The training's place in the queue, from 1; 0 if it does not wait."""
        return LINE.place(self.training) if self.training else 0

    @property
    def busy(self) -> bool:
        """Whether the state can change without a click, so that the page must be drawn again regularly."""
        return self.place > 0 or self.progress.alive or self._goes_on

    def start(self, settings: LiveSettings) -> None:
        """Start a new training. The training before it is stopped."""
        self.stop()
        if self._left:
            return
        ended: list[Any] = []
        training = LiveTraining(settings, lambda: LINE.ended(ended[0]), TRAINING_NICENESS)
        ended.append(training)
        self.training, self.name, self.came_back, self._goes_on = training, secrets.token_urlsafe(16), None, False
        LINE.enter(training)

    def keep_models(self) -> None:
        """Give the session a secret key, unless it has one, by which a reloaded page finds its models. Call after adding
        one."""
        self.name = self.name or secrets.token_urlsafe(16)

    def come_back(self, name: str) -> bool:
        """Move the models and the training of a disconnected browser, whose secret key is `name`, to this session; returns
        whether there were any. A training that was computing is resumed as soon as its process has ended."""
        with_models = take_left(name)
        with _LEFT_LOCK:
            training, computed = LEFT.pop(name, (None, False))
        if training is None:
            self.name = name if with_models else self.name
            return with_models
        self.training, self.name, self._goes_on = training, name, computed
        if computed:
            self.came_back = training.progress.step
            threading.Thread(target=self._go_on, args=(training,), daemon=True).start()
        return True

    def _go_on(self, training: LiveTraining) -> None:
        """Resume a training from a disconnected browser as soon as its process has ended."""
        training.join()
        if self._goes_on and self.training is training and not self._left:
            self._goes_on = False
            LINE.enter(training)

    def resume(self) -> None:
        """Resume a training that was stopped or has crashed."""
        if self.training and not self._left:
            LINE.enter(self.training)

    def stop(self) -> None:
        """Stop the training, if there is one. It can be resumed."""
        self.came_back, self._goes_on = None, False
        if self.training:
            LINE.leave(self.training)

    def leave(self) -> None:
        """Stop the training because the browser has disconnected. After this, a click that is still being handled cannot start
        another training."""
        self._left = True
        if self.name:
            keep_left(self.name, self.models)
        if self.training:
            computed = self._goes_on or self.place > 0 or self.progress.status in ("starting", "running")
            with _LEFT_LOCK:
                LEFT[self.name] = self.training, computed
        self.stop()


_connected_desk = of_session(Desk, Desk.leave)


def desk() -> Desk:
    """The `Desk` of this session, with its training; after a lost connection is restored, with the training from before."""
    connected, state = _connected_desk(), st.session_state
    before = state.get(DESK)
    if before is not connected:
        if before is not None:
            connected.come_back(before.name)
            if connected.training is None:  # `LEFT` does not keep it any more
                connected.training, connected.name = before.training, before.name
        state[DESK] = connected
    return connected
