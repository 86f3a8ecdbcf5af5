"""Training the shipped models again: whole runs, from the command line.

    python -m transformer.training reverse

With `--help` it says what else it can do.
"""

import argparse
import dataclasses
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from tqdm import tqdm

from transformer.errors import CheckpointError, HeadlightError
from transformer.pipeline.pipeline import CHECKPOINTS, SUFFIX, Pipeline
from transformer.training.evaluation import Accuracy, accuracy, held_out_pairs, what_heads_do
from transformer.training.recipe import RECIPES, Recipe, recipe
from transformer.training.run import Training, TrainingStep
from transformer.worlds import World, world

__all__ = ["Training", "TrainingStep", "main", "run", "snapshot_steps"]

RUNS = Path("runs")  # states of runs that are not finished; not shipped


def snapshot_steps(recipe: Recipe) -> tuple[int, ...]:
    """When to keep a snapshot: at the start, then at growing intervals, because most is learned early."""
    if recipe.snapshots < 2:
        return ()
    first = min(25, recipe.steps) if recipe.snapshots > 2 else recipe.steps
    ratio = (recipe.steps / first) ** (1 / max(1, recipe.snapshots - 2))
    return (0, *sorted({round(first * ratio**index) for index in range(recipe.snapshots - 1)}))


def run(name: str, recipe: Recipe, out: Path, runs: Path, resume: bool, command: str) -> Accuracy:
    """Train a model to the end, showing how far it is; test it, and write its checkpoint and snapshots.

    Args:
        name, recipe: of the model.
        out: folder for the checkpoint, and for its snapshots in `snapshots/`; made where there is none.
        runs: folder for the state of a run that was stopped; made where there is none.
        resume: go on from that state instead of starting anew.
        command: with which it is trained, for the model's card.

    Raises:
        CheckpointError: a folder that cannot be written to, found before training starts; there is no state to resume, or none
            that fits the recipe; a file that cannot be written, after leaving a state in `runs` from which `resume` goes on.
        KeyboardInterrupt: after leaving such a state.
    """
    for folder in (out, runs):
        check_writable(folder)
    training, state = Training(name, recipe), runs / f"{name}.state{SUFFIX}"
    if resume:
        training.load_state(state)
    wanted, found = snapshot_steps(recipe), training.history[-1]["accuracy"] if training.history else 0.0
    with tqdm(total=recipe.steps, initial=training.step, desc=name, unit="step") as bar:
        try:
            with interrupted_where_told() as here:
                if training.step in wanted:  # the first; or, taken up again, one that could not be written
                    keep_snapshot(training, out)
                for step in training:
                    found = step.accuracy if step.accuracy is not None else found
                    bar.set_postfix(loss=f"{step.loss:.3f}", exact=f"{found:.1%}", refresh=False)
                    bar.update()
                    if step.step in wanted:
                        keep_snapshot(training, out)
                    here()
            tested, pipeline = test(training.pipeline(training.card(command)), training.world, recipe.test_pairs)
            pipeline.save(out / f"{name}{SUFFIX}")
        except (KeyboardInterrupt, CheckpointError):
            training.save_state(state)
            tqdm.write(f"stopped at step {training.step}; --resume goes on from {state}")
            raise
    state.unlink(missing_ok=True)
    return tested


def check_writable(folder: Path) -> None:
    """Make a folder where there is none, and see whether a file can be put there.

    Raises:
        CheckpointError: it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CheckpointError(
            "The folder {folder} cannot be written to ({error}).", folder=str(folder), error=str(error)
        ) from error


@contextmanager
def interrupted_where_told() -> Iterator[Callable[[], None]]:
    """Within this context, Ctrl-C takes effect only where the function it gives is called.

    Anywhere else it could strike between the update of one parameter and the next: a step that can be neither kept nor
    repeated, so that a resumed run would end with other weights.
    """
    asked: list[int] = []

    def here() -> None:
        if asked:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield here
    finally:
        signal.signal(signal.SIGINT, before)


def test(pipeline: Pipeline, world: World, per_form: int) -> tuple[Accuracy, Pipeline]:
    """Test a model on held-out pairs, up to `per_form` of each form, and measure its heads; also returns the pipeline with the
    findings on its card."""
    tested = accuracy(pipeline, held_out_pairs(world, per_form))
    card = dataclasses.replace(
        pipeline.card,
        tested_on=tested.total,
        accuracy=tested.share,
        accuracy_by_form=tested.share_by_form,
        measures=what_heads_do(pipeline, world),
    )
    return tested, dataclasses.replace(pipeline, card=card)


def test_again(name: str, out: Path) -> Accuracy:
    """Test a checkpoint that is there, and rewrite its card.

    Raises:
        HeadlightError: there is no such checkpoint, or no recipe of that name.
    """
    pipeline = Pipeline.load(out / f"{name}{SUFFIX}")
    tested, pipeline = test(pipeline, world(pipeline.card.world), recipe(name).test_pairs)
    pipeline.save(out / f"{name}{SUFFIX}")
    return tested


def keep_snapshot(training: Training, out: Path) -> None:
    """The model as it is now, in half precision, among the snapshots of its name."""
    training.pipeline().save(out / "snapshots" / training.name / f"{training.step:06d}{SUFFIX}", torch.float16)


def report(name: str, tested: Accuracy, minutes: float) -> str:
    """The table shown after a run: what it took, in minutes, and how good it is."""
    lines = [f"{name}: {minutes:.1f} min, {tested.right} of {tested.total} held-out pairs exact ({tested.share:.2%})"]
    lines += [f"  {form:<24} {right:>5} / {total:<5} {right / total:.2%}" for form, (right, total) in tested.by_form.items()]
    lines += [f"  wrong: {pair.source!r} → {answer!r}, not {pair.target!r}" for pair, answer in tested.wrong[:5]]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 0, or 130 after Ctrl-C; leaves with 2 and a message where what was asked cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m transformer.training", description="Train a shipped model again.")
    parser.add_argument("model", nargs="*", metavar="MODEL", help=f"one or more of {', '.join(RECIPES)}")
    parser.add_argument("--all", action="store_true", help="every model, one after the other")
    parser.add_argument("--steps", type=int, help="other than the recipe's, for a trial")
    parser.add_argument("--seed", type=int, help="other than the recipe's")
    parser.add_argument("--resume", action="store_true", help="go on from where Ctrl-C stopped")
    parser.add_argument("--test", action="store_true", help="do not train: test the checkpoint again, and rewrite its card")
    parser.add_argument("--out", type=Path, default=CHECKPOINTS, help="folder for the checkpoint")
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder for the state of a stopped run")
    given = parser.parse_args(arguments)
    changes = {name: getattr(given, name) for name in ("steps", "seed") if getattr(given, name) is not None}
    names = list(RECIPES) if given.all else given.model
    if not names:
        parser.error("name a model, or --all")
    taken: list[str] = []
    for name in names:
        command = " ".join(["python -m transformer.training", name, *(f"--{key} {value}" for key, value in changes.items())])
        start = time.perf_counter()
        try:
            if given.test:
                tested = test_again(name, given.out)
            else:
                tested = run(name, recipe(name).replace(**changes), given.out, given.runs, given.resume, command)
        except HeadlightError as error:
            parser.error(str(error))
        except KeyboardInterrupt:
            return 130
        minutes = (time.perf_counter() - start) / 60
        print(report(name, tested, minutes))
        taken.append(f"{name:<24} {minutes:>6.1f} min {tested.share:>9.2%} exact")
    if len(taken) > 1:
        print("\n".join(["", "what each took:", *taken]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
