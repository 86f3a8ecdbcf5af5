"""A training in a process of its own: watched, paused, stopped, resumed to the same losses, and honest when it crashes."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import torch

from transformer.pipeline.pipeline import Pipeline
from transformer.training.live import LiveTraining
from transformer.training.live_view import LiveView, live_view
from transformer.training.settings import LiveSettings
from transformer.worlds import world

TINY = LiveSettings(d_model=16, heads=2, layers=1, d_ff=16, batch=8, steps=60, warmup=5, longest=4)
LONG = LiveSettings(**{**TINY.values(), "steps": 100_000})
SECONDS = 120.0  # a process can take long to start on a busy machine


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def start() -> Iterator[Callable[[LiveSettings], LiveTraining]]:
    """Starts trainings, and ends them after the test."""
    started: list[LiveTraining] = []

    def begin(settings: LiveSettings) -> LiveTraining:
        training = LiveTraining(settings, niceness=0)
        started.append(training)
        training.start()
        return training

    yield begin
    for training in started:
        training.stop()
        assert training.join(SECONDS)


def test_a_stopped_training_resumes_to_the_losses_of_an_uninterrupted_one(
    start: Callable[[LiveSettings], LiveTraining],
) -> None:
    expected = [step.loss for step in TINY.training()]
    ended = threading.Event()
    live = LiveTraining(TINY, ended.set, niceness=0)
    live.start()
    wait_for(lambda: live.progress.step >= 3 or live.progress.status == "done")
    live.pause()
    wait_for(lambda: live.progress.status in ("paused", "done"))
    paused = live.progress.step
    live.stop()
    assert live.join(SECONDS)
    assert ended.is_set()
    assert live.progress.status == "stopped"
    assert live.can_resume
    assert 3 <= live.progress.step == paused < TINY.steps
    live.start()
    assert live.join(SECONDS)
    assert live.progress.status == "done"
    assert list(live.progress.losses) == expected
    assert list(live.progress.rates) == [TINY.recipe.rate_at(step) for step in range(TINY.steps)]
    assert [step for step, _ in live.progress.checks] == [50, 60]
    # The last copy is the trained model, as a file that anybody can load.
    training = TINY.training()
    list(training)
    copy = live.progress.copy
    assert copy is not None
    assert copy.step == TINY.steps
    pipeline = Pipeline.from_bytes(copy.data, "copy")
    for name, tensor in training.model.state_dict().items():
        assert torch.equal(pipeline.model.state_dict()[name], tensor)
    assert (pipeline.card.world, pipeline.card.longest, pipeline.card.recipe["longest"]) == ("reverse", 4, 4)
    assert pipeline.card.trained_on == 60 * 8


def test_it_can_be_watched_and_copied_at_a_step_and_stops_in_two_seconds(start: Callable[[LiveSettings], LiveTraining]) -> None:
    live = start(LONG)
    wait_for(lambda: live.progress.step >= 2)
    live.pause()
    wait_for(lambda: live.progress.status == "paused")
    copy = live.copy()
    assert copy is not None
    assert copy.step == live.progress.step
    live.watch("abc")
    wait_for(lambda: live.progress.view is not None)
    shown, expected = live.progress.view, live_view(Pipeline.from_bytes(copy.data, "copy"), "abc", copy.step)
    assert shown is not None
    assert (shown.answer, shown.right, shown.tokens) == (expected.answer, "cba", expected.tokens)
    assert shown.probabilities == pytest.approx(expected.probabilities, abs=1e-6)
    for kind in ("encoder", "decoder", "cross"):
        assert (shown.weights[kind] == expected.weights[kind]).all()
        assert (shown.allowed[kind] == expected.allowed[kind]).all()
    live.watch("")
    wait_for(lambda: live.progress.unreadable is not None)
    assert live.progress.unreadable == ("", "There is nothing to read in your text; type 1 to 4 letters from a to z.")
    live.go()
    wait_for(lambda: live.progress.step > copy.step)
    process = live._process
    assert process is not None
    asked = time.monotonic()
    live.stop()
    assert live.join(SECONDS)
    assert time.monotonic() - asked < 2.5
    assert process.returncode is not None
    assert not [thread for thread in threading.enumerate() if thread is live._thread]


def test_a_crash_is_said_and_the_run_resumes_from_its_last_state(start: Callable[[LiveSettings], LiveTraining]) -> None:
    live = start(LONG)
    wait_for(lambda: live.progress.step >= 1)
    process = live._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    assert live.join(SECONDS)
    assert (live.progress.status, live.progress.problem, live.progress.exit_code) == ("failed", "crashed", -9)
    assert not live.can_resume  # there was no state yet
    live.start()  # so it begins anew
    wait_for(lambda: live.progress.status == "running")
    assert live.progress.problem is None


def test_a_training_that_diverges_says_so(start: Callable[[LiveSettings], LiveTraining]) -> None:
    settings = LiveSettings(**{**TINY.values(), "learning_rate": 1.0, "warmup": 0, "pre_norm": False, "steps": 2000})
    run, diverged = settings.training(), 0
    for step in run:
        if step.loss != step.loss:
            diverged = step.step
            break
    if not diverged:
        pytest.skip("this run does not diverge on this machine")
    live = start(settings)
    assert live.join(SECONDS)
    assert (live.progress.status, live.progress.problem, live.progress.step) == ("failed", "diverged", diverged)
    assert not live.can_resume


def test_the_process_ends_when_the_program_that_started_it_goes(start: Callable[[LiveSettings], LiveTraining]) -> None:
    live = start(LONG)
    wait_for(lambda: live.progress.step >= 1)
    process = live._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert live.join(SECONDS)
    assert live.progress.problem == "crashed"


def test_the_time_of_a_training_is_limited() -> None:
    live = LiveTraining(LiveSettings(**{**LONG.values(), "minutes": 0}), niceness=0)
    live.start()
    assert live.join(SECONDS)
    assert (live.progress.status, live.progress.step) == ("done", 0)


def test_a_shortened_world_draws_short_sources_of_the_same_split() -> None:
    short, whole = TINY.make_world(), world("reverse")
    pairs = short.pairs("train", 1)
    lengths = [len(next(pairs).source) for _ in range(400)]
    assert set(lengths) == {1, 2, 3, 4}
    assert min(lengths.count(length) for length in range(1, 5)) > 60
    assert (short.longest, short.accepts, short.name) == (4, "1 to 4 letters from a to z", "reverse")
    assert [short.is_held_out(text) for text in ("a", "ab", "abc", "zz")] == [
        whole.is_held_out(t) for t in ("a", "ab", "abc", "zz")
    ]
    # A world whose sources have forms of their own is left as it is.
    assert LiveSettings(world="addition", longest=2).make_world() is world("addition")


def test_a_view_survives_its_bytes() -> None:
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
