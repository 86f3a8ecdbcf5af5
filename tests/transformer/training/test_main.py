"""Tests of whole training runs and of the command line."""

import functools
import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.transformer.tiny import TINY, same, weights
from transformer.errors import CheckpointError
from transformer.network.config import TransformerConfig
from transformer.pipeline.catalogue import CHECKPOINTS
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import Pair, Task
from transformer.training import __main__ as training_module
from transformer.training.__main__ import Training, main, run
from transformer.training.recipe import RECIPES, Recipe


@pytest.fixture(autouse=True)
def _short_tests(monkeypatch: pytest.MonkeyPatch):
    """Test a finished model on a few pairs instead of hundreds."""
    few = functools.partial(training_module.card_measures, sentences=2)
    monkeypatch.setattr(training_module, "card_measures", few)
    monkeypatch.setattr(training_module, "held_out_pairs", five_held_out_pairs)
    monkeypatch.setitem(RECIPES, "reverse", TINY)


def five_held_out_pairs(task: Task, _: int) -> list[Pair]:
    return list(itertools.islice(task.pairs("held-out", "few"), 5))


def test_the_command_line_keeps_freed_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls: list[None] = []
    monkeypatch.setattr(training_module, "reuse_freed_memory", lambda: calls.append(None))
    with pytest.raises(SystemExit):
        main(["reverse", "--test", "--out", str(tmp_path)])
    assert len(calls) == 1


# --- the whole run -----------------------------------------------------------------------------------------------------


def train(tmp_path: Path, recipe: Recipe = TINY, resume: bool = False) -> None:
    run("reverse", recipe, tmp_path / "out", tmp_path / "runs", resume, "the command")


def test_a_run_leaves_a_tested_checkpoint_and_its_snapshots(finished: Training, tmp_path: Path):
    train(tmp_path, TINY.replace(snapshots=(0, 6)))
    pipeline = Pipeline.load(tmp_path / "out" / "reverse.safetensors")
    assert same(weights(pipeline), weights(finished))
    card = pipeline.card
    assert (card.task, card.command, card.trained_on, card.tested_on) == ("reverse", "the command", 48, 5)
    assert card.recipe["steps"] == 6
    assert [entry["step"] for entry in card.history] == [4, 6]
    assert card.measures
    snapshots = sorted((tmp_path / "out" / "snapshots" / "reverse").iterdir())
    assert [path.name for path in snapshots] == ["000000.safetensors", "000006.safetensors"]
    last = Pipeline.load(snapshots[-1])
    assert same(weights(last), {name: tensor.half().float() for name, tensor in weights(finished).items()})
    assert not list((tmp_path / "runs").glob("*"))


def interrupt_after(monkeypatch: pytest.MonkeyPatch, step: int, interrupt: Callable[[Training], None]) -> None:
    """Interrupt the training once, during this step."""
    learn, steps_to_interrupt = Training.learn, [step]

    def interrupted(self: Training, *batch: torch.Tensor) -> float:
        if steps_to_interrupt and self.step + 1 == steps_to_interrupt[0]:
            steps_to_interrupt.pop()
            interrupt(self)
        return learn(self, *batch)

    monkeypatch.setattr(Training, "learn", interrupted)


def by_exception(_: Training) -> None:
    raise KeyboardInterrupt


def by_signal(_: Training) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(("interrupt", "steps_done"), [(by_exception, 2), (by_signal, 3)])
def test_ctrl_c_leaves_a_state_from_which_resume_finishes(
    finished: Training, interrupt, steps_done: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    interrupt_after(monkeypatch, 3, interrupt)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path)
    assert signal.getsignal(signal.SIGINT) is handler
    assert not list((tmp_path / "out").iterdir())
    # After a real signal the current step is finished first, because half a step could be neither saved nor repeated.
    stopped = Training("reverse", TINY)
    stopped.load_state(tmp_path / "runs" / "reverse.state.safetensors")
    assert stopped.step == steps_done
    train(tmp_path, resume=True)
    assert same(weights(Pipeline.load(tmp_path / "out" / "reverse.safetensors")), weights(finished))
    assert not list((tmp_path / "runs").glob("*"))


def test_ctrl_c_during_the_final_test_loses_nothing(finished: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(training_module, "accuracy", lambda *_: by_exception(finished))
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path)
    train(tmp_path, resume=True)
    pipeline = Pipeline.load(tmp_path / "out" / "reverse.safetensors")
    assert same(weights(pipeline), weights(finished))
    assert pipeline.card.tested_on == 5


@pytest.mark.parametrize("name", ["out", "runs"])
def test_a_read_only_folder_is_refused_before_training(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / name).write_text("a file, not a folder")
    monkeypatch.setattr(Training, "learn", lambda *_: pytest.fail("it was trained"))
    with pytest.raises(CheckpointError, match=rf"^The folder .*{name} cannot be written to \(.*File exists: '.*{name}'\)\.$"):
        train(tmp_path)
    assert all(path.is_file() or not list(path.iterdir()) for path in tmp_path.iterdir())


def test_a_run_whose_checkpoint_cannot_be_written_can_be_resumed(finished: Training, tmp_path: Path):
    (tmp_path / "out" / "reverse.safetensors").mkdir(parents=True)
    with pytest.raises(CheckpointError, match=r"^The file 'reverse\.safetensors' cannot be written"):
        train(tmp_path)
    (tmp_path / "out" / "reverse.safetensors").rmdir()
    train(tmp_path, resume=True)
    assert same(weights(Pipeline.load(tmp_path / "out" / "reverse.safetensors")), weights(finished))
    assert not list((tmp_path / "runs").iterdir())


def test_a_snapshot_that_could_not_be_written_is_written_on_resume(tmp_path: Path):
    recipe, snapshots = (
        TINY.replace(snapshots=(0, 25, 30), steps=30, check_every=30),
        tmp_path / "out" / "snapshots" / "reverse",
    )
    (snapshots / "000025.safetensors").mkdir(parents=True)
    with pytest.raises(CheckpointError, match="000025"):
        train(tmp_path, recipe)
    (snapshots / "000025.safetensors").rmdir()
    train(tmp_path, recipe, resume=True)
    assert sorted(path.name for path in snapshots.iterdir()) == [f"{step:06d}.safetensors" for step in (0, 25, 30)]
    assert Pipeline.load(snapshots / "000025.safetensors").card.trained_on == 25 * 8


# --- the command line --------------------------------------------------------------------------------------------------


def command(tmp_path: Path, *arguments: str) -> int:
    return main([*arguments, "--out", str(tmp_path / "out"), "--runs", str(tmp_path / "runs")])


def test_the_command_trains_and_shows_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert command(tmp_path, "reverse", "--steps", "2", "--seed", "3") == 0
    pipeline = Pipeline.load(tmp_path / "out" / "reverse.safetensors")
    assert pipeline.card.command == "python -m transformer.training reverse --steps 2 --seed 3"
    assert (pipeline.card.recipe["steps"], pipeline.card.recipe["seed"]) == (2, 3)
    assert isinstance(pipeline.config, TransformerConfig)
    printed = capsys.readouterr().out
    assert "reverse: " in printed
    assert "0 of 5 held-out pairs exact (0.00%)" in printed
    assert "length " in printed
    assert "wrong: " in printed


def test_a_trial_without_a_folder_leaves_the_shipped_models_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    shipped = {file: file.stat().st_mtime_ns for file in CHECKPOINTS.rglob("reverse/*.safetensors")}
    assert main(["reverse", "--steps", "2"]) == 0
    assert Pipeline.load(Path("trained/reverse.safetensors")).card.recipe["steps"] == 2
    assert {file: file.stat().st_mtime_ns for file in CHECKPOINTS.rglob("reverse/*.safetensors")} == shipped
    assert shipped


def test_the_command_tests_again_without_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    command(tmp_path, "reverse", "--steps", "1")
    path = tmp_path / "out" / "reverse.safetensors"
    before = Pipeline.load(path)
    assert command(tmp_path, "reverse", "--test") == 0
    after = Pipeline.load(path)
    assert same(weights(before), weights(after))
    assert after.card == before.card
    assert "held-out pairs exact" in capsys.readouterr().out


def test_the_command_can_be_stopped_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, finished: Training):
    interrupt_after(monkeypatch, 2, by_signal)
    assert command(tmp_path, "reverse") == 130
    assert "--resume goes on from" in capsys.readouterr().out
    assert command(tmp_path, "reverse", "--resume") == 0
    assert same(weights(Pipeline.load(tmp_path / "out" / "reverse.safetensors")), weights(finished))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a model, or --all"),
        (["klingon"], "There is no recipe for 'klingon'; the models are english-french, "),
        (["reverse", "--resume"], "There is no file"),
        (["reverse", "--steps", "0"], "steps is 0; it must be at least 1"),
        (["reverse", "--steps", "many"], "invalid int value"),
        (["reverse", "--test"], "There is no file"),
    ],
)
def test_the_command_refuses_invalid_requests(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as caught:
        command(tmp_path, *arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
