"""A training in a process of its own, which can be watched, paused, stopped, resumed and copied at any step.

    training = LiveTraining(LiveSettings(task="reverse"))
    training.start()
    training.progress.losses
    training.stop()

The training runs in its own process (`worker.py`), because a thread would hold Python's interpreter lock for most of each step,
and because a process returns all of its memory when it ends. The process has a low priority and one thread.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from transformer.training.live_view import LiveView
from transformer.training.messages import Message, receive, send
from transformer.training.training_settings import LiveSettings

# The priority is lowered before torch is imported, because the import takes as long as a hundred steps. The process stays in
# the session of this process, because Linux compares priorities only within a session (`sched_autogroup`).
WORKER = "transformer.training.worker"
START = f"import os, runpy; getattr(os, 'nice', int)({{}}); runpy.run_module('{WORKER}', None, '__main__')"
# After a command to stop, a process is killed if it has not ended by itself after this time.
SECONDS_TO_END = 1.5
# Number of recent steps over which the present speed is averaged.
RECENT_STEPS = 50

Status = Literal["new", "starting", "running", "paused", "stopping", "stopped", "done", "failed"]
Problem = Literal["crashed", "diverged"]
ALIVE = ("starting", "running", "paused", "stopping")


@dataclass(frozen=True)
class Copy:
    """A copy of a model in training, after one of its steps.

    Attributes:
        step: optimiser steps done.
        data: the contents of a checkpoint file.
    """

    step: int
    data: bytes


@dataclass(frozen=True)
class Progress:
    """The progress of a training. It is immutable: each report of the training makes a new Progress.

    Attributes:
        status: `new` (not started), `starting`, `running`, `paused`, `stopping`, `stopped` (by `stop`), `done` (the last step
            or the limit on time was reached), or `failed`.
        step, steps: steps done, and steps of the whole run.
        losses, rates: loss in nats and learning rate of each step, from the first.
        checks: (step, share of exact answers on held-out pairs) of each check.
        seconds: time spent in training steps so far.
        steps_per_second: the present speed; 0 before the first report.
        problem: why the training failed: `crashed`, or `diverged` (the loss is no longer finite); else None.
        exit_code: exit code of a process that crashed; negative for a signal.
        view: the model's latest answer to the text that was passed to `LiveTraining.watch`, with its attention weights; None
            before the first answer.
        unreadable: if the model cannot read that text, the text and the reason; else None.
        copy: the latest copy of the model; None before the first copy.
    """

    status: Status = "new"
    step: int = 0
    steps: int = 0
    losses: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    checks: tuple[tuple[int, float], ...] = ()
    seconds: float = 0.0
    steps_per_second: float = 0.0
    problem: Problem | None = None
    exit_code: int = 0
    view: LiveView | None = None
    unreadable: tuple[str, str] | None = None
    copy: Copy | None = None

    @property
    def alive(self) -> bool:
        """Whether the training has a process, which may also be starting, paused or stopping."""
        return self.status in ALIVE

    @property
    def seconds_left(self) -> float | None:
        """Seconds to the last step at the present speed; None if the speed is unknown."""
        return (self.steps - self.step) / self.steps_per_second if self.steps_per_second else None


class LiveTraining:
    """A training in a process of its own. All methods can be called from any thread, and return at once, except `join` and
    `copy`. `pause`, `go` and `watch` do nothing unless the status is `running` or `paused`.

    Args:
        settings: the settings of the run.
        on_end: called without arguments, in another thread, each time the process has ended.
        niceness: how much lower the priority of the process is, from 0 (as high as that of this process) to 19 (the lowest).

    Attributes:
        settings: the settings of the run.
        progress: the latest progress.
    """

    def __init__(self, settings: LiveSettings, on_end: Callable[[], None] = lambda: None, niceness: int = 10) -> None:
        self.settings, self.progress, self._on_end = settings, Progress(steps=settings.steps), on_end
        self._niceness = niceness
        self._state = b""
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        # The lock is held while `progress` is replaced. Threads that wait for a change are notified at each message.
        self._changed = threading.Condition()
        self._writing = threading.Lock()

    @property
    def can_resume(self) -> bool:
        """Whether `start` continues from the last state that the process sent, with the same losses as a run without a stop.
        If False, `start` begins at step 0."""
        return bool(self._state) and self.progress.status in ("stopped", "failed") and self.progress.problem != "diverged"

    def start(self) -> None:
        """Start the process. A run that was stopped or has crashed continues from its last state, if it has sent a state; any
        other run begins at step 0. Does nothing if `progress.alive` is True."""
        with self._changed:
            if self.progress.alive:
                return
            state = self._state if self.can_resume else b""
            kept = self.progress if state else replace(Progress(), steps=self.settings.steps)
            self.progress = replace(kept, status="starting", problem=None, exit_code=0, steps_per_second=0.0)
            self._process = subprocess.Popen(
                # -P: a file in the current folder does not replace a module of the standard library.
                [sys.executable, "-P", "-c", START.format(self._niceness)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # The process finds its modules where this one does: in a checkout, or in the packages that are installed.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
            )
            self._thread = threading.Thread(target=self._follow, args=(self._process, state), daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Stop computing until `go` is called. The process does not end."""
        self._command("pause")

    def go(self) -> None:
        """Continue after a pause."""
        self._command("go")

    def watch(self, text: str) -> None:
        """Request the model's present answer to a text. The answer is stored in `progress.view`; if the model cannot read the
        text, the reason is stored in `progress.unreadable`."""
        self._command("watch", text=text)

    def stop(self) -> None:
        """Tell the process to end, and keep the state from which `start` can resume. The process ends within two seconds;
        `join` waits for this."""
        with self._changed:
            process, status = self._process, self.progress.status
            if process is None or status not in ("starting", "running", "paused"):
                return
            self.progress = replace(self.progress, status="stopping")
        if status == "starting":  # there are no results yet that could be lost
            process.kill()
            return
        self._send(process, "stop")
        killer = threading.Timer(SECONDS_TO_END, process.kill)
        killer.daemon = True
        killer.start()

    def join(self, seconds: float | None = None) -> bool:
        """Wait until the process has ended, at most `seconds` (None for no limit). Returns whether it has ended."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def copy(self, seconds: float = 3.0) -> Copy | None:
        """Request a copy of the present model, and wait for it at most `seconds`. If there is no process, or no copy comes in
        time, the latest copy is returned; None if there is no copy yet."""
        with self._changed:
            before = self.progress.copy
            if self.progress.status not in ("running", "paused"):
                return before
        self._command("copy")
        with self._changed:
            self._changed.wait_for(lambda: self.progress.copy is not before or not self.progress.alive, seconds)
            return self.progress.copy

    def _command(self, kind: str, **values: Any) -> None:
        process = self._process
        if process is not None and self.progress.status in ("running", "paused"):
            self._send(process, kind, **values)

    def _send(self, process: subprocess.Popen[bytes], kind: str, data: bytes = b"", **values: Any) -> None:
        assert process.stdin is not None
        try:
            with self._writing:
                send(process.stdin, kind, data, **values)
        except (OSError, ValueError):
            return  # the process has ended; `_follow` records this

    def _follow(self, process: subprocess.Popen[bytes], state: bytes) -> None:
        """Send the settings, and the state to resume from, to the process. Then read messages until it has ended."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            self._send(process, "start", state, **self.settings.values())
            while (message := receive(process.stdout)) is not None:
                with self._changed:
                    self.progress = self._after(message)
                    self._changed.notify_all()
        except Exception:
            process.kill()  # its messages are not read any more, so it would wait for ever
            raise
        finally:
            self._end(process)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until a process has ended, and set the status of `progress`."""
        assert process.stdin is not None
        assert process.stdout is not None
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            try:
                pipe.close()
            except OSError:
                continue  # some data was not written before the process ended
        with self._changed:
            if self._process is process:  # no new process was started meanwhile
                self._process = None
                if self.progress.status == "stopping":
                    self.progress = replace(self.progress, status="stopped")
                elif self.progress.alive:
                    self.progress = replace(self.progress, status="failed", problem="crashed", exit_code=code)
            self._changed.notify_all()
        self._on_end()

    def _after(self, message: Message) -> Progress:
        """The progress after a message. A message of the kind `state` is kept for `start`."""
        now, values = self.progress, message.values
        match message.kind:
            case "ready":
                # A process that was killed may have reported steps after its last state; these steps are done again.
                done = values["step"]
                now = replace(now, step=done, losses=now.losses[:done], rates=now.rates[:done])
                now = replace(now, checks=tuple(check for check in now.checks if check[0] <= done))
                return now if now.status == "stopping" else replace(now, status="running")
            case "steps":
                count = len(values["losses"])
                new = values["seconds"] - now.seconds
                speed = count / new if count and new > 0 else now.steps_per_second
                # Smoothed over some reports, so that the time left does not jump.
                share = min(1.0, count / RECENT_STEPS) if now.steps_per_second else 1.0
                now = replace(
                    now,
                    step=values["step"],
                    losses=now.losses + tuple(values["losses"]),
                    rates=now.rates + tuple(values["rates"]),
                    seconds=values["seconds"],
                    steps_per_second=(1 - share) * now.steps_per_second + share * speed,
                )
                check = values["accuracy"]
                return now if check is None else replace(now, checks=(*now.checks, (now.step, check)))
            case "paused" | "running" if now.status != "stopping":
                return replace(now, status=message.kind)
            case "view":
                return replace(now, view=LiveView.from_bytes(message.data), unreadable=None)
            case "unreadable":
                return replace(now, unreadable=(values["text"], values["problem"]))
            case "checkpoint":
                return replace(now, copy=Copy(values["step"], message.data))
            case "state":
                self._state = message.data
            case "diverged":
                return replace(now, status="failed", problem="diverged", step=values["step"])
            case "done":
                return replace(now, status="done", step=values["step"])
        return now
