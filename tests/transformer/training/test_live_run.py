"""Tests of a training in a separate process: it is watched, paused, stopped, and resumed with the same losses; a crash is
reported."""

import dataclasses
import io
import math
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.transformer.tiny import same, weights
from tests.waiting import SECONDS, wait_for
from transformer.errors import HeadlightError
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import find_task
from transformer.training.live_run import LiveTraining
from transformer.training.live_view import LiveView, live_view
from transformer.training.messages import Message, receive, send
from transformer.training.training_settings import LiveSettings
from transformer.training.worker import Worker

TINY = LiveSettings(d_model=16, heads=2, layers=1, d_ff=16, batch=8, steps=60, warmup=5, longest=4)


@pytest.fixture
def ended() -> threading.Event:
    """Set each time the process of `live` has ended."""
    return threading.Event()


@pytest.fixture
def live(ended: threading.Event) -> Iterator[LiveTraining]:
    """A training that is not started yet; it is stopped after the test."""
    live = LiveTraining(TINY, ended.set, niceness=0)
    yield live
    live.stop()
    assert live.join(SECONDS)


def process_of(live: LiveTraining) -> subprocess.Popen[bytes]:
    process = live._process
    assert process is not None
    return process


def messages_of(live: LiveTraining) -> IO[bytes]:
    """The pipe to which the process of a training writes its messages. The process is stopped while it imports torch, so that
    it writes none of its own."""
    os.kill(process_of(live).pid, signal.SIGSTOP)
    return Path(f"/proc/{process_of(live).pid}/fd/1").open("wb")


@pytest.mark.slow
def test_a_training_is_watched_copied_stopped_and_resumes_to_the_losses_of_an_uninterrupted_one(
    live: LiveTraining, ended: threading.Event
) -> None:
    live.start()
    wait_for(lambda: live.progress.status == "running")
    live.pause()
    wait_for(lambda: live.progress.status == "paused")
    paused = live.progress.step
    assert paused < TINY.steps
    copy = live.copy()
    assert copy is not None
    assert copy.step == paused
    live.watch("abc")
    wait_for(lambda: live.progress.view is not None)
    shown, expected = live.progress.view, live_view(Pipeline.from_bytes(copy.data, "copy"), "abc", copy.step)
    assert shown is not None
    assert (shown.step, shown.answer, shown.right, shown.tokens) == (paused, expected.answer, "cba", expected.tokens)
    assert shown.probabilities == pytest.approx(expected.probabilities, abs=1e-6)
    for kind in ("encoder", "decoder", "cross"):
        assert (shown.weights[kind] == expected.weights[kind]).all()
        assert (shown.allowed[kind] == expected.allowed[kind]).all()
    live.watch("")
    wait_for(lambda: live.progress.unreadable is not None)
    assert live.progress.unreadable == ("", "There is nothing to read in your text; type 1 to 4 letters from a to z.")
    process = process_of(live)
    live.stop()
    assert live.join(SECONDS)
    assert process.returncode is not None
    assert ended.is_set()
    assert (live.progress.status, live.progress.step, live.can_resume) == ("stopped", paused, True)
    live.start()
    process = process_of(live)
    assert live.join(SECONDS)
    assert process.returncode == 0
    assert (live.progress.status, live.progress.step) == ("done", TINY.steps)
    training = TINY.training()
    assert list(live.progress.losses) == [step.loss for step in training]
    assert list(live.progress.rates) == [TINY.recipe.rate_at(step) for step in range(TINY.steps)]
    assert [step for step, _ in live.progress.checks] == [50, 60]
    # The last copy is the trained model, as a checkpoint file.
    copy = live.progress.copy
    assert copy is not None
    assert copy.step == TINY.steps
    pipeline = Pipeline.from_bytes(copy.data, "copy")
    assert same(weights(pipeline), weights(training))
    assert (pipeline.card.task, pipeline.card.longest, pipeline.card.recipe["longest"]) == ("reverse", 4, 4)
    assert pipeline.card.trained_on == TINY.steps * TINY.batch


@pytest.mark.slow
def test_a_crash_is_reported_and_a_process_ends_with_the_program_that_started_it(live: LiveTraining) -> None:
    live.settings = dataclasses.replace(TINY, steps=100_000)
    live.start()
    wait_for(lambda: live.progress.step >= 1)
    os.kill(process_of(live).pid, signal.SIGKILL)
    assert live.join(SECONDS)
    assert (live.progress.status, live.progress.problem, live.progress.exit_code) == ("failed", "crashed", -9)
    assert not live.can_resume  # no state was saved yet, so the training starts again
    live.start()
    wait_for(lambda: live.progress.status == "running")
    assert live.progress.problem is None
    process = process_of(live)
    assert process.stdin is not None
    process.stdin.close()  # as the system does when the program ends
    assert live.join(SECONDS)
    assert process.returncode == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_message_that_cannot_be_read_ends_the_process(live: LiveTraining, ended: threading.Event) -> None:
    live.settings = dataclasses.replace(TINY, steps=100_000)
    live.start()
    with messages_of(live) as messages:
        messages.write(b"nonsense\n")
    assert live.join(SECONDS)
    assert ended.is_set()  # so its place in the queue is free again
    assert (live.progress.status, live.progress.problem) == ("failed", "crashed")


@contextmanager
def worker(settings: LiveSettings) -> Iterator[tuple[Worker, IO[bytes], io.BytesIO]]:
    """A worker in this process, the stream to which its commands are written, and the stream of its messages."""
    ends = os.pipe()
    gone = threading.Event()
    with os.fdopen(ends[0], "rb") as commands, os.fdopen(ends[1], "wb") as asked:
        send(asked, "start", **settings.values())
        messages = io.BytesIO()
        yield Worker(commands, messages, gone.set), asked, messages
        asked.close()
        assert gone.wait(SECONDS)


def told(messages: io.BytesIO) -> list[Message]:
    messages.seek(0)
    return list(iter(lambda: receive(messages), None))


def test_the_time_of_a_training_is_limited() -> None:
    with worker(dataclasses.replace(TINY, minutes=0)) as (run, _, messages):
        run.run()
    assert [message.kind for message in told(messages)] == ["ready", "checkpoint", "checkpoint", "done"]
    assert told(messages)[-1].values["step"] == 0


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"learning_rate": 1e6}, "learning_rate is 1000000.0; allowed are 0 to 1."),
        ({"longest": 0}, "longest is 0; it must be at least 1."),
        ({"minutes": -1}, "minutes is -1; it must be at least 0."),
        ({"heads": 3}, "d_model is 64; it must be a multiple of heads, which is 3."),
        ({"task": "klingon"}, "There is no task called 'klingon'"),
    ],
)
def test_invalid_settings_are_refused_before_a_process_starts(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(HeadlightError) as caught:
        LiveSettings(**values)
    assert problem in str(caught.value)


def test_a_loss_that_is_not_a_number_ends_the_training() -> None:
    with worker(TINY) as (run, _, messages):
        run.training.model.output_projection.bias.data.fill_(math.nan)
        run.run()
    *_, last = told(messages)
    assert (last.kind, last.values) == ("diverged", {"step": 1})


def test_a_training_that_diverged_is_not_resumed(live: LiveTraining) -> None:
    live.start()
    process = process_of(live)
    with messages_of(live) as messages:
        send(messages, "state", b"state", step=0)
        send(messages, "diverged", step=1)
    wait_for(lambda: live.progress.status == "failed")
    process.kill()
    assert live.join(SECONDS)
    assert (live.progress.status, live.progress.problem, live.progress.step) == ("failed", "diverged", 1)
    assert not live.can_resume


def test_a_message_that_is_cut_off_is_read_as_the_end() -> None:
    stream = io.BytesIO()
    send(stream, "state", b"12345", step=3)
    for length in range(len(stream.getvalue())):
        assert receive(io.BytesIO(stream.getvalue()[:length])) is None
    assert receive(io.BytesIO(stream.getvalue())) == Message("state", {"step": 3}, b"12345")


def test_a_shortened_task_draws_short_sources_and_has_the_same_split() -> None:
    short, whole = TINY.make_task(), find_task("reverse")
    pairs = short.pairs("train", 1)
    lengths = [len(next(pairs).source) for _ in range(400)]
    assert set(lengths) == {1, 2, 3, 4}
    assert min(lengths.count(length) for length in range(1, 5)) > 60
    assert (short.longest, short.accepts, short.name) == (4, "1 to 4 letters from a to z", "reverse")
    assert [short.is_held_out(text) for text in ("a", "ab", "abc", "zz")] == [
        whole.is_held_out(t) for t in ("a", "ab", "abc", "zz")
    ]
    # A task with other forms of sources is not shortened.
    assert LiveSettings(task="addition", longest=2).make_task() is find_task("addition")


def test_a_view_is_the_same_after_to_bytes_and_from_bytes() -> None:
    pipeline = Pipeline.load("reverse")
    view = live_view(pipeline, "headlight", 7)
    again = LiveView.from_bytes(view.to_bytes())
    assert (again.step, again.text, again.answer, again.right) == (7, "headlight", "thgildaeh", "thgildaeh")
    assert again.written == (*"thgildaeh", "<eos>")
    assert min(again.probabilities) > 0.5
    trace = pipeline.trace("headlight")
    for kind in ("encoder", "decoder", "cross"):
        assert (again.weights[kind] == trace.attention(kind)[:, 0].numpy()).all()
        assert again.tokens[kind] == trace.tokens(kind)


def test_a_model_with_a_weight_that_is_not_finite_is_not_copied() -> None:
    with worker(TINY) as (live_worker, _, messages):
        live_worker.training.model.output_projection.weight.data[0, 0] = math.nan
        live_worker.tell_copy()
        assert messages.getvalue() == b""
