"""Training: repeatable to the bit, stopped and taken up again as if nothing had been."""

import functools
import itertools
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from transformer import training as training_module
from transformer.config import TransformerConfig
from transformer.errors import CheckpointError
from transformer.pipeline import Pipeline
from transformer.recipe import RECIPES, Recipe
from transformer.tasks import Pair, World
from transformer.training import Training, main, run, snapshot_steps

TINY = Recipe(
    world="reverse",
    steps=6,
    batch=8,
    warmup=2,
    check_every=4,
    check_pairs=3,
    test_pairs=1,
    config=tuple({"d_model": 16, "heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1, "max_len": 32}.items()),
)


@pytest.fixture(autouse=True)
def _short_tests(monkeypatch: pytest.MonkeyPatch):
    """A finished model is tested on hundreds of pairs; here a few will do."""
    few = functools.partial(training_module.what_heads_do, sentences=2)
    monkeypatch.setattr(training_module, "what_heads_do", few)
    monkeypatch.setattr(training_module, "held_out_pairs", five_held_out_pairs)
    monkeypatch.setitem(RECIPES, "reverse", TINY)


def five_held_out_pairs(world: World, _: int) -> list[Pair]:
    return list(itertools.islice(world.pairs("held-out", "few"), 5))


def weights(training: Training | Pipeline) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in training.model.state_dict().items()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(tensor, other[name]) for name, tensor in one.items())


@pytest.fixture(scope="module")
def finished() -> Training:
    """The tiny run, done without a break. Do not train it on."""
    training = Training("reverse", TINY)
    training.steps = list(training)
    return training


# --- one run -----------------------------------------------------------------------------------------------------------


def test_the_same_recipe_gives_the_same_weights(finished: Training):
    again = Training("reverse", TINY)
    torch.manual_seed(99)  # what others draw in between must not matter
    losses = []
    for step in again:
        losses.append(step.loss)
        torch.rand(3)
    assert same(weights(again), weights(finished))
    assert losses == [step.loss for step in finished.steps]


def test_training_draws_from_nobody_elses_random_numbers():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    next(iter(Training("reverse", TINY)))
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("change", [{"seed": 1}, {"learning_rate": 2e-3}, {"batch": 9}, {"label_smoothing": 0.2}])
def test_another_recipe_gives_other_weights(finished: Training, change: dict[str, object]):
    other = Training("reverse", TINY.replace(**change))
    list(other)
    assert not same(weights(other), weights(finished))


def test_each_step_says_what_it_did(finished: Training):
    steps = finished.steps
    assert [step.step for step in steps] == [1, 2, 3, 4, 5, 6]
    assert {step.steps for step in steps} == {6}
    assert [step.learning_rate for step in steps] == [TINY.rate_at(step) for step in range(6)]
    assert all(0 < step.loss < 10 for step in steps)
    # It looks at held-out pairs every fourth step, and at the end.
    assert [step.step for step in steps if step.accuracy is not None] == [4, 6]
    assert [entry["step"] for entry in finished.history] == [4, 6]
    assert [step.seconds for step in steps] == sorted(step.seconds for step in steps)


def test_it_learns():
    training = Training("reverse", TINY.replace(steps=40, batch=32, learning_rate=5e-3, warmup=5, check_every=40))
    losses = [step.loss for step in training]
    assert sum(losses[-10:]) < 0.95 * sum(losses[:10])


def test_every_parameter_is_trained(finished: Training):
    before = weights(Training("reverse", TINY))
    after = weights(finished)
    assert not [name for name in before if torch.equal(before[name], after[name])]


def test_the_gradient_is_clipped(monkeypatch: pytest.MonkeyPatch):
    training, norms = Training("reverse", TINY.replace(clip=0.01)), []
    step = training.optimizer.step

    def looking() -> None:
        norms.append(torch.cat([parameter.grad.flatten() for parameter in training.model.parameters()]).norm().item())
        step()

    monkeypatch.setattr(training.optimizer, "step", looking)
    list(training)
    assert len(norms) == 6
    assert all(norm == pytest.approx(0.01, rel=1e-3) for norm in norms)


def test_padding_is_not_learned_from():
    training = Training("reverse", TINY.replace(bf16=False, config=(*TINY.config, ("dropout", 0.0))))
    source, target = training.batch_at(0)
    state = {name: tensor.clone() for name, tensor in training.model.state_dict().items()}
    loss = training.learn(source, target)
    training.model.load_state_dict(state)
    longer = torch.nn.functional.pad(target, (0, 3), value=0)
    assert training.learn(source, longer) == pytest.approx(loss, abs=1e-5)


# --- what it learns from -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_no_pair_of_a_training_batch_is_held_out(seed: int):
    training = Training("reverse", TINY.replace(seed=seed, batch=64))
    words, world = training.world.source_vocabulary, training.world
    seen = set()
    for step in range(15):
        source, target = training.batch_at(step)
        for asked, answered in zip(source.tolist(), target.tolist(), strict=True):
            text = words.text(words.tokens_of(asked))
            assert not world.is_held_out(text)
            assert words.text(words.tokens_of(answered)) == world.solve(text)
            seen.add(text)
    assert len(seen) > 700
    assert all(world.is_held_out(pair.source) for pair in training.check_pairs)


def test_a_batch_has_sos_before_and_eos_after():
    training = Training("reverse", TINY)
    for rows in training.batch_at(3):
        assert (rows[:, 0] == 1).all()
        assert (rows == 2).sum(1).tolist() == [1] * len(rows)
        lengths = (rows != 0).sum(1)
        assert all(row[length - 1] == 2 and (row[length:] == 0).all() for row, length in zip(rows, lengths, strict=True))


def test_making_a_batch_leaves_the_model_in_the_mode_it_is_in(finished: Training):
    for training in (True, False):
        finished.model.train(training)
        finished.batch_at(3)
        assert finished.model.training == training


def test_the_batch_of_a_step_depends_on_seed_and_step_alone():
    one, other = Training("reverse", TINY), Training("reverse", TINY)
    list(itertools.islice(one, 2))
    assert all(torch.equal(a, b) for a, b in zip(one.batch_at(5), other.batch_at(5), strict=True))
    assert not torch.equal(one.batch_at(5)[0], one.batch_at(4)[0])


# --- stopped and taken up again ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [0, 3, 4])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(finished: Training, stop: int, tmp_path: Path):
    first = Training("reverse", TINY)
    list(itertools.islice(first, stop))
    first.save_state(tmp_path / "state")
    second = Training("reverse", TINY)
    second.load_state(tmp_path / "state")
    assert second.step == stop
    steps = list(second)
    assert [(step.step, step.loss) for step in steps] == [(step.step, step.loss) for step in finished.steps[stop:]]
    assert same(weights(second), weights(finished))
    assert [{**entry, "seconds": 0} for entry in second.history] == [{**entry, "seconds": 0} for entry in finished.history]
    assert second.seconds > first.seconds


def test_a_state_of_another_recipe_or_name_is_refused(tmp_path: Path):
    training = Training("reverse", TINY)
    training.save_state(tmp_path / "state")
    for other in (Training("reverse", TINY.replace(seed=1)), Training("copy", TINY)):
        with pytest.raises(CheckpointError, match="belongs to a run with another recipe"):
            other.load_state(tmp_path / "state")


def test_there_must_be_a_state(tmp_path: Path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(CheckpointError, match="there is none to resume"):
            Training("reverse", TINY).load_state(path)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "state"
    training = Training("reverse", TINY)
    training.advance()
    training.save_state(path)
    return path


@pytest.mark.parametrize("share", [0.0, 0.0001, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_state_is_refused(state: Path, tmp_path: Path, share: float):
    data = state.read_bytes()
    (tmp_path / "state").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(CheckpointError, match="is damaged"):
        Training("reverse", TINY).load_state(tmp_path / "state")


def test_a_changed_byte_is_found(state: Path, tmp_path: Path):
    data = state.read_bytes()
    training = Training("reverse", TINY)
    before = weights(training)
    for position in range(0, len(data) - 1, len(data) // 60):
        changed = bytearray(data)
        changed[position] ^= 0x10
        (tmp_path / "state").write_bytes(changed)
        with pytest.raises(CheckpointError):
            training.load_state(tmp_path / "state")
    assert training.step == 0
    assert same(weights(training), before)


@pytest.mark.parametrize(
    "metadata",
    [None, {}, {"headlight-training": "garbage"}, {"headlight-training": "[]"}, {"headlight-training": "{}", "digest": "0"}],
)
def test_a_foreign_file_is_refused(metadata: dict[str, str] | None, state: Path, tmp_path: Path):
    save_file(load_file(state), tmp_path / "state", metadata)
    with pytest.raises(CheckpointError, match="is damaged"):
        Training("reverse", TINY).load_state(tmp_path / "state")


# --- snapshots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 2, 25, 26, 100, 4000, 12_000])
@pytest.mark.parametrize("snapshots", [2, 3, 5, 10])
def test_snapshots_come_at_the_start_at_growing_intervals_and_at_the_end(steps: int, snapshots: int):
    found = snapshot_steps(TINY.replace(steps=steps, snapshots=snapshots))
    assert found[0] == 0
    assert found[-1] == steps
    assert len(found) <= snapshots
    assert list(found) == sorted(set(found))
    if steps >= 4000:
        gaps = [after - before for before, after in itertools.pairwise(found[1:])]
        assert gaps == sorted(gaps)
        assert len(found) == snapshots


@pytest.mark.parametrize("snapshots", [0, 1])
def test_few_enough_snapshots_are_none(snapshots: int):
    assert snapshot_steps(TINY.replace(snapshots=snapshots)) == ()


# --- the whole run -----------------------------------------------------------------------------------------------------


def train(tmp_path: Path, recipe: Recipe = TINY, resume: bool = False) -> None:
    run("reverse", recipe, tmp_path / "out", tmp_path / "runs", resume, "the command")


def test_a_run_leaves_a_tested_checkpoint_and_its_snapshots(finished: Training, tmp_path: Path):
    train(tmp_path, TINY.replace(snapshots=3))
    pipeline = Pipeline.load(tmp_path / "out" / "reverse.safetensors")
    assert same(weights(pipeline), weights(finished))
    card = pipeline.card
    assert (card.world, card.command, card.trained_on, card.tested_on) == ("reverse", "the command", 48, 5)
    assert card.recipe["steps"] == 6
    assert [entry["step"] for entry in card.history] == [4, 6]
    assert card.measures
    snapshots = sorted((tmp_path / "out" / "snapshots" / "reverse").iterdir())
    assert [path.name for path in snapshots] == ["000000.safetensors", "000006.safetensors"]
    last = Pipeline.load(snapshots[-1])
    assert same(weights(last), {name: tensor.half().float() for name, tensor in weights(finished).items()})
    assert not list((tmp_path / "runs").glob("*"))


def interrupt_after(monkeypatch: pytest.MonkeyPatch, step: int, interrupt: Callable[[Training], None]) -> None:
    """Interrupt once, while that step is being done."""
    advance, todo = Training.learn, [step]

    def interrupted(self: Training, *batch: torch.Tensor) -> float:
        if todo and self.step + 1 == todo[0]:
            todo.pop()
            interrupt(self)
        return advance(self, *batch)

    monkeypatch.setattr(Training, "learn", interrupted)


def by_exception(_: Training) -> None:
    raise KeyboardInterrupt


def by_signal(_: Training) -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(("interrupt", "kept"), [(by_exception, 2), (by_signal, 3)])
def test_ctrl_c_leaves_a_state_from_which_resume_finishes(
    finished: Training, interrupt, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    interrupt_after(monkeypatch, 3, interrupt)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path)
    assert signal.getsignal(signal.SIGINT) is handler
    assert not (tmp_path / "out").exists()
    # By a real signal the step is finished first: half of one could be neither kept nor repeated.
    stopped = Training("reverse", TINY)
    stopped.load_state(tmp_path / "runs" / "reverse.state.safetensors")
    assert stopped.step == kept
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
        (["klingon"], "model = 'klingon': recipes are there for"),
        (["reverse", "--resume"], "there is none to resume"),
        (["reverse", "--steps", "0"], "steps = 0: must be at least 1"),
        (["reverse", "--steps", "many"], "invalid int value"),
        (["reverse", "--test"], "there is no such file"),
    ],
)
def test_what_the_command_refuses(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        command(tmp_path, *arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
