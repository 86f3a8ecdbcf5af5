"""Tests of whole training runs and of the command line."""

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
import torch

from tests.transformer.tiny import TINY, same, weights
from transformer.errors import CheckpointError
from transformer.network.config import TransformerConfig
from transformer.pipeline.catalogue import CHECKPOINTS
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import find_task
from transformer.training.__main__ import Training, main, run
from transformer.training.evaluation import held_out_pairs
from transformer.training.recipe import RECIPES, Recipe

TESTED_ON = len(held_out_pairs(find_task("reverse"), TINY.test_pairs))
# Prints the share of the memory of freed blocks that the process keeps after the command.
KEPT = """
import contextlib, resource, sys
from transformer.training.__main__ import main

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

with contextlib.suppress(SystemExit):
    main(["reverse", "--test", "--out", sys.argv[1]])
before = resident()
blocks = [b"x" * (1 << 19) for _ in range(128)]
del blocks
print((resident() - before) / (64 << 20))
"""


@pytest.mark.slow
def test_the_command_line_keeps_freed_memory(tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", KEPT, tmp_path], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 0.9


def of_tiny(kind: type[Recipe]) -> Recipe:
    """The recipe `TINY` as an object of a class derived from `Recipe`."""
    return kind(**{field.name: getattr(TINY, field.name) for field in dataclasses.fields(TINY)})


class Unused(Recipe):
    """A recipe with which nothing must be trained."""

    def rate_at(self, step: int) -> float:
        raise AssertionError("it was trained")


class InterruptedInStep(Recipe):
    """A recipe whose training is interrupted during its third step."""

    def rate_at(self, step: int) -> float:
        if step == 2:
            raise KeyboardInterrupt
        return super().rate_at(step)


class InterruptedBySignal(Recipe):
    """The same, by the signal that Ctrl-C sends."""

    def rate_at(self, step: int) -> float:
        if step == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return super().rate_at(step)


class InterruptedInTest(Recipe):
    """A recipe whose training is interrupted in the final test, before its results are written to the trained model."""

    stores: ClassVar[list[None]] = []

    @property
    def stored_as(self) -> torch.dtype:
        self.stores.append(None)
        if len(self.stores) == 2:  # the first time, the trained model is written
            raise KeyboardInterrupt
        return super().stored_as


# --- the whole run -----------------------------------------------------------------------------------------------------


def train(tmp_path: Path, recipe: Recipe = TINY, resume: bool = False) -> None:
    run("reverse", recipe, tmp_path / "out", tmp_path / "runs", resume, "the command")


@pytest.mark.slow
def test_a_run_leaves_a_tested_checkpoint_and_its_snapshots(finished: Training, tmp_path: Path):
    train(tmp_path, TINY.replace(snapshots=(0, 6)))
    pipeline = Pipeline.load(tmp_path / "out" / "reverse.safetensors")
    assert same(weights(pipeline), weights(finished))
    card = pipeline.card
    assert (card.task, card.command, card.trained_on, card.tested_on) == ("reverse", "the command", 48, TESTED_ON)
    assert card.recipe["steps"] == 6
    assert [entry["step"] for entry in card.history] == [4, 6]
    assert card.measures
    snapshots = sorted((tmp_path / "out" / "snapshots" / "reverse").iterdir())
    assert [path.name for path in snapshots] == ["000000.safetensors", "000006.safetensors"]
    last = Pipeline.load(snapshots[-1])
    assert same(weights(last), {name: tensor.half().float() for name, tensor in weights(finished).items()})
    assert not list((tmp_path / "runs").glob("*"))


@pytest.mark.slow
@pytest.mark.parametrize(("interrupted", "steps_done"), [(InterruptedInStep, 2), (InterruptedBySignal, 3)])
def test_ctrl_c_leaves_a_state_from_which_resume_finishes(
    finished: Training, interrupted: type[Recipe], steps_done: int, tmp_path: Path
):
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, of_tiny(interrupted))
    assert signal.getsignal(signal.SIGINT) is handler
    assert not list((tmp_path / "out").iterdir())
    # After a real signal the current step is finished first, because half a step could be neither saved nor repeated.
    stopped = Training("reverse", TINY)
    stopped.load_state(tmp_path / "runs" / "reverse.state.safetensors")
    assert stopped.step == steps_done
    train(tmp_path, resume=True)
    assert same(weights(Pipeline.load(tmp_path / "out" / "reverse.safetensors")), weights(finished))
    assert not list((tmp_path / "runs").glob("*"))


@pytest.mark.slow
def test_ctrl_c_during_the_final_test_loses_nothing(finished: Training, tmp_path: Path):
    InterruptedInTest.stores.clear()
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, of_tiny(InterruptedInTest))
    assert Pipeline.load(tmp_path / "out" / "reverse.safetensors").card.tested_on == 0
    train(tmp_path, resume=True)
    pipeline = Pipeline.load(tmp_path / "out" / "reverse.safetensors")
    assert same(weights(pipeline), weights(finished))
    assert pipeline.card.tested_on == TESTED_ON


@pytest.mark.parametrize("name", ["out", "runs"])
def test_a_read_only_folder_is_refused_before_training(name: str, tmp_path: Path):
    (tmp_path / name).write_text("a file, not a folder")
    with pytest.raises(CheckpointError, match=rf"^The folder .*{name} cannot be written to \(.*File exists: '.*{name}'\)\.$"):
        train(tmp_path, of_tiny(Unused))
    assert all(path.is_file() or not list(path.iterdir()) for path in tmp_path.iterdir())


@pytest.mark.slow
def test_a_run_whose_checkpoint_cannot_be_written_can_be_resumed(finished: Training, tmp_path: Path):
    (tmp_path / "out" / "reverse.safetensors").mkdir(parents=True)
    with pytest.raises(CheckpointError, match=r"^The file 'reverse\.safetensors' cannot be written"):
        train(tmp_path)
    (tmp_path / "out" / "reverse.safetensors").rmdir()
    train(tmp_path, resume=True)
    assert same(weights(Pipeline.load(tmp_path / "out" / "reverse.safetensors")), weights(finished))
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.slow
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


def command(tmp_path: Path, *arguments: str, recipe: Recipe = TINY) -> int:
    folders = ["--out", str(tmp_path / "out"), "--runs", str(tmp_path / "runs")]
    return main([*arguments, *folders], {**RECIPES, "reverse": recipe})


@pytest.mark.slow
def test_the_command_trains_and_shows_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert command(tmp_path, "reverse", "--steps", "2", "--seed", "3") == 0
    pipeline = Pipeline.load(tmp_path / "out" / "reverse.safetensors")
    assert pipeline.card.command == "python -m transformer.training reverse --steps 2 --seed 3"
    assert (pipeline.card.recipe["steps"], pipeline.card.recipe["seed"]) == (2, 3)
    assert isinstance(pipeline.config, TransformerConfig)
    printed = capsys.readouterr().out
    assert "reverse: " in printed
    assert f"0 of {TESTED_ON} held-out pairs exact (0.00%)" in printed
    assert "length " in printed
    assert "wrong: " in printed


@pytest.mark.slow
def test_a_trial_without_a_folder_leaves_the_shipped_models_as_they_are(tmp_path: Path):
    shipped = {file: file.stat().st_mtime_ns for file in CHECKPOINTS.rglob("reverse/*.safetensors")}
    with contextlib.chdir(tmp_path):
        assert main(["reverse", "--steps", "2"], {"reverse": TINY}) == 0
    assert Pipeline.load(tmp_path / "trained" / "reverse.safetensors").card.recipe["steps"] == 2
    assert {file: file.stat().st_mtime_ns for file in CHECKPOINTS.rglob("reverse/*.safetensors")} == shipped
    assert shipped


@pytest.mark.slow
def test_the_command_tests_again_without_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    command(tmp_path, "reverse", "--steps", "1")
    path = tmp_path / "out" / "reverse.safetensors"
    before = Pipeline.load(path)
    assert command(tmp_path, "reverse", "--test") == 0
    after = Pipeline.load(path)
    assert same(weights(before), weights(after))
    assert after.card == before.card
    assert "held-out pairs exact" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_can_be_stopped_and_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str], finished: Training):
    assert command(tmp_path, "reverse", recipe=of_tiny(InterruptedBySignal)) == 130
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
