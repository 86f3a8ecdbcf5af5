"""The process of one live training. `LiveTraining` starts this process, which reads commands and writes messages.

| command | what the process does |
|---|---|
| `start` | begins; the values are those of `LiveSettings`, the data is the state of a run to resume, or empty |
| `pause`, `go` | stops computing, continues |
| `watch` | sends a `view`: the model's present answer to `text` |
| `copy` | sends a `checkpoint` of the present model |
| `stop` | sends a `state`, from which the run can be resumed, and ends |

The process ends when its standard input is closed, so it never outlives the program that started it.
"""

import dataclasses
import math
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO

import torch

from transformer.errors import CheckpointError, InputError
from transformer.training.live_view import live_view
from transformer.training.messages import Message, receive, send
from transformer.training.training_settings import LiveSettings

SECONDS_BETWEEN_REPORTS = 0.2
# A run that is killed can be resumed from its last state. Making a state takes some milliseconds.
SECONDS_BETWEEN_STATES = 10.0


def _end_process() -> None:
    os._exit(0)


class Worker:
    """A training that obeys commands from one stream, and writes its progress as messages to another (`messages.py`).

    Args:
        commands: the stream from which commands are read; the constructor waits for the first, which must be `start`.
        answers: the stream to which messages are written.
        on_gone: called in another thread when the stream of commands has ended; by default it ends the process at once.
    """

    def __init__(self, commands: IO[bytes], answers: IO[bytes], on_gone: Callable[[], None] = _end_process) -> None:
        self.answers, self.on_gone = answers, on_gone
        self.queue: queue.Queue[Message] = queue.Queue()
        first = receive(commands)
        if first is None:
            raise EOFError("The program that started this process has gone.")
        threading.Thread(target=self.listen, args=(commands,), daemon=True).start()
        self.settings = LiveSettings(**first.values)
        self.training = self.settings.training()
        if first.data:
            self.training.resume(first.data)
        self.paused = self.stopped = False
        self.watched: str | None = None
        self.losses: list[float] = []
        self.rates: list[float] = []
        self.reported = self.saved = time.monotonic()

    def listen(self, commands: IO[bytes]) -> None:
        """Put each command in the queue until the stream ends; then call `on_gone`."""
        while (command := receive(commands)) is not None:
            self.queue.put(command)
        self.on_gone()

    def run(self) -> None:
        """Train until the last step, the limit on time, a command to stop, or a loss that is not finite."""
        training, step = self.training, self.training.step
        self.tell("ready", step=step, steps=training.recipe.steps)
        self.tell_copy()
        while training.step < training.recipe.steps and training.seconds < 60 * self.settings.minutes:
            self.obey()
            if self.stopped:
                self.report()
                self.tell_copy()
                self.tell_state()
                return
            result = training.advance()
            if not math.isfinite(result.loss):
                self.report()
                self.tell("diverged", step=result.step)
                return
            self.losses.append(result.loss)
            self.rates.append(result.learning_rate)
            if result.accuracy is not None or time.monotonic() - self.reported > SECONDS_BETWEEN_REPORTS:
                self.report(result.accuracy)
            if time.monotonic() - self.saved > SECONDS_BETWEEN_STATES:
                self.tell_state()
        if self.losses:
            self.report()
        if self.watched is not None:
            self.tell_view(self.watched)
        self.tell_copy()
        self.tell("done", step=training.step)

    def obey(self) -> None:
        """Carry out the commands that came since the last step. While the training is paused, wait for more commands."""
        while not self.stopped and (self.paused or not self.queue.empty()):
            command = self.queue.get()
            match command.kind:
                case "pause":
                    self.paused = True
                    self.report()
                    self.tell("paused", step=self.training.step)
                case "go":
                    self.paused = False
                    self.tell("running", step=self.training.step)
                case "watch":
                    self.watched = command.values["text"]
                    self.tell_view(command.values["text"])
                case "copy":
                    self.tell_copy()
                case "stop":
                    self.stopped = True

    def report(self, accuracy: float | None = None) -> None:
        """Send the losses and learning rates of the steps since the last report. `accuracy` is the share of exact answers in a
        check after the last step; None if there was no check."""
        training = self.training
        self.tell(
            "steps", step=training.step, losses=self.losses, rates=self.rates, accuracy=accuracy, seconds=training.seconds
        )
        self.losses, self.rates, self.reported = [], [], time.monotonic()

    def tell_view(self, text: str) -> None:
        """Send the model's present answer to a text, with the attention weights of all its heads; or the reason, if the model
        cannot read the text."""
        try:
            view = live_view(self.training.pipeline(), text, self.training.step)
        except InputError as problem:
            self.tell("unreadable", text=text, problem=str(problem))
            return
        self.tell("view", view.to_bytes())

    def tell_copy(self) -> None:
        """Send the present model, as the contents of a checkpoint file. If a weight is no longer finite, nothing is sent: the
        loss of the next step is not finite either, and `run` reports this."""
        pipeline = self.training.pipeline()
        card = pipeline.card
        recipe = card.recipe | {"longest": self.training.task.longest}
        pipeline = dataclasses.replace(pipeline, card=dataclasses.replace(card, recipe=recipe))
        with suppress(CheckpointError):
            self.tell("checkpoint", pipeline.to_bytes(), step=self.training.step)

    def tell_state(self) -> None:
        """Send the state of the training, which has all data that a resumed run needs."""
        self.saved = time.monotonic()
        self.tell("state", self.training.state(), step=self.training.step)

    def tell(self, kind: str, data: bytes = b"", **values: object) -> None:
        """Write one message: its kind, its named values (of types that JSON has), and the contents of a file."""
        send(self.answers, kind, data, **values)


def main() -> None:
    """Run a live training in this process, with one thread of PyTorch, on standard input and output. Ctrl-C is ignored, because
    it is meant for the program that started the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    # A copy of `sys.stdin`: Python closes `sys.stdin` at exit, and aborts if the listening thread still reads from it.
    commands = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # other output must not be mixed with the messages
    Worker(commands, answers).run()


if __name__ == "__main__":
    main()
