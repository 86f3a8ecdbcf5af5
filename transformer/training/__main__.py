"""The command line that trains the shipped models.

    python -m transformer.training reverse

`--help` lists every option.
"""

import argparse
import dataclasses
import itertools
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

from transformer.errors import CheckpointError, HeadlightError
from transformer.pipeline.catalogue import CHECKPOINTS, SUFFIX
from transformer.pipeline.pipeline import Pipeline
from transformer.pipeline.snapshots import saved_steps, snapshot_file
from transformer.process import reuse_freed_memory
from transformer.tasks import Task, find_task
from transformer.text.subwords import Subwords
from transformer.training.corpus import Corpus, open_corpus
from transformer.training.evaluation import Accuracy, accuracy, card_measures, head_measures, held_out_pairs, strongest_heads
from transformer.training.recipe import RECIPES, Recipe, recipe
from transformer.training.run import Training, TrainingStep

__all__ = ["Training", "TrainingStep", "main", "run"]

# Not the folder of the shipped models: a trial would replace the model that the app and its lessons show.
OUT = Path("trained")
SENTENCES = 100  # number of sentences on which the heads of a translator are measured
RUNS = Path("runs")  # states of unfinished runs; not shipped


def run(name: str, recipe: Recipe, out: Path, runs: Path, resume: bool, command: str, corpus: Corpus | None = None) -> Accuracy:
    """Train a model to the end, write its checkpoint and snapshots, and return its test result.

    Args:
        name, recipe: name and recipe of the model.
        out: folder for the checkpoint, and for its snapshots in `snapshots/`; created if missing.
        runs: folder for the state of a stopped run; created if missing.
        resume: continue from the state in `runs` instead of starting again.
        command: the command line of the run, for the card (the record of the training) in the checkpoint.
        corpus: the pairs of a file to learn from; None for a recipe whose task makes its pairs by a rule.

    Raises:
        CheckpointError: a folder cannot be written to (checked before training starts); there is no state to resume, or it
            belongs to another recipe or other pairs; or a file cannot be written. In the last case a state is saved in `runs`
            first, from which `resume` continues.
        KeyboardInterrupt: Ctrl-C was pressed. A state is saved in `runs` first.
    """
    for folder in (out, runs):
        check_writable(folder)
    training, state = Training(name, recipe, corpus), runs / f"{name}.state{SUFFIX}"
    if resume:
        training.load_state(state)
    snapshots, exact = recipe.snapshots, training.history[-1]["accuracy"] if training.history else 0.0
    with tqdm(total=recipe.steps, initial=training.step, desc=name, unit="step") as bar:
        try:
            with deferred_interrupt() as raise_if_interrupted:
                if training.step in snapshots:  # step 0, or a snapshot that the stopped run could not write
                    save_snapshot(training, out)
                for step in training:
                    exact = step.accuracy if step.accuracy is not None else exact
                    bar.set_postfix(loss=f"{step.loss:.3f}", exact=f"{exact:.1%}", refresh=False)
                    bar.update()
                    if step.step in snapshots:
                        save_snapshot(training, out)
                    if corpus is not None and step.accuracy is not None:
                        training.save_state(state)  # such a run takes hours, and the machine may stop without Ctrl-C
                    raise_if_interrupted()
            training.pipeline(training.card(command)).save(out / f"{name}{SUFFIX}", recipe.stored_as)
            tested = test_again(name, recipe, out, corpus)
        except (KeyboardInterrupt, CheckpointError):
            training.save_state(state)
            tqdm.write(f"stopped at step {training.step}; --resume goes on from {state}")
            raise
    state.unlink(missing_ok=True)
    return tested


def check_writable(folder: Path) -> None:
    """Create a folder if it is missing, and check that a file can be written to it.

    Raises:
        CheckpointError: the folder cannot be created or written to.
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
def deferred_interrupt() -> Generator[Callable[[], None]]:
    """A context in which Ctrl-C does not interrupt at once. It yields a function that raises `KeyboardInterrupt` if Ctrl-C was
    pressed in the context.

    Outside the context, Ctrl-C could interrupt an optimiser step between two parameters. Such a half step can be neither saved
    nor repeated, so a resumed run would end with other weights.
    """
    signals: list[int] = []

    def raise_if_interrupted() -> None:
        if signals:
            raise KeyboardInterrupt

    former_handler = signal.signal(signal.SIGINT, lambda number, _: signals.append(number))
    try:
        yield raise_if_interrupted
    finally:
        signal.signal(signal.SIGINT, former_handler)


def test(pipeline: Pipeline, task: Task, per_form: int) -> tuple[Accuracy, Pipeline]:
    """Test a model on held-out pairs. Returns its accuracy, and a pipeline whose `card` (record of the training) has the
    accuracy and the measurements of the heads. `per_form` is the number of pairs in each group, as in `held_out_pairs`."""
    tested = accuracy(pipeline, held_out_pairs(task, per_form))
    card = dataclasses.replace(
        pipeline.card,
        tested_on=tested.total,
        accuracy=tested.share,
        accuracy_by_form=tested.share_by_form,
        measures=card_measures(pipeline, task),
    )
    return tested, dataclasses.replace(pipeline, card=card)


def test_translator(pipeline: Pipeline, corpus: Corpus, out: Path) -> tuple[Accuracy, Pipeline]:
    """Test a translator on the held-out sentences of its corpus. Returns its accuracy, and a pipeline whose `card` (record of
    the training) has all measurements. The heads of its snapshots, which are read from the folder `out`, are measured too."""
    # These modules are imported only here, because they need packages that nothing else needs.
    from transformer.training.alignment import alignment_measures
    from transformer.training.translation import exact, translated, translation_measures

    with tqdm(total=len(corpus.held_out), desc="test", unit="sentence") as bar:
        done = translated(pipeline, corpus.held_out, lambda count: bar.update(count - bar.n))
    tested = exact(done.greedy, corpus.held_out)
    snapshots = {step: Pipeline.load(snapshot_file(out, pipeline.name, step)) for step in saved_steps(out, pipeline.name)}
    pairs = list(itertools.islice(corpus.pairs("held-out", "heads"), SENTENCES))
    measures = {
        "strongest": strongest_heads(head_measures(pipeline, corpus, pairs)),
        **translation_measures(done, corpus.held_out),
        **alignment_measures(pipeline, corpus, snapshots),
    }
    card = dataclasses.replace(
        pipeline.card,
        tested_on=tested.total,
        accuracy=tested.share,
        accuracy_by_form=tested.share_by_form,
        measures=measures,
    )
    return tested, dataclasses.replace(pipeline, card=card)


def test_again(name: str, recipe: Recipe, out: Path, corpus: Corpus | None) -> Accuracy:
    """Test the checkpoint `name` in the folder `out`, rewrite its card (the record of the training), and return its accuracy.
    With a corpus, the model is tested as a translator of the corpus's sentences.

    Raises:
        HeadlightError: there is no such checkpoint, or it cannot be written.
    """
    pipeline = Pipeline.load(out / f"{name}{SUFFIX}")
    if corpus is not None:
        tested, pipeline = test_translator(pipeline, corpus, out)
    else:
        tested, pipeline = test(pipeline, find_task(pipeline.card.task), recipe.test_pairs)
    pipeline.save(out / f"{name}{SUFFIX}", recipe.stored_as)
    return tested


def save_snapshot(training: Training, out: Path) -> None:
    """Save the current model as a snapshot: a checkpoint in `snapshots/` in the folder `out`, named by model and step."""
    path = out / "snapshots" / training.name / f"{training.step:06d}{SUFFIX}"
    training.pipeline().save(path, training.recipe.snapshots_stored_as)


def report(name: str, tested: Accuracy, minutes: float) -> str:
    """The text printed after a run of the model `name`: minutes, exact answers in each group of pairs, and up to five wrong
    answers."""
    lines = [f"{name}: {minutes:.1f} min, {tested.right} of {tested.total} held-out pairs exact ({tested.share:.2%})"]
    lines += [f"  {form:<24} {right:>5} / {total:<5} {right / total:.2%}" for form, (right, total) in tested.by_form.items()]
    lines += [f"  wrong: {pair.source!r} → {answer!r}, not {pair.target!r}" for pair, answer in tested.wrong[:5]]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None, recipes: Mapping[str, Recipe] = RECIPES) -> int:
    """Run the command `python -m transformer.training`, and return the exit status: 0, or 130 after Ctrl-C. An invalid request
    exits with status 2 and a message.

    Args:
        arguments: the arguments of the command; None for those that the process was started with.
        recipes: name → recipe of each model that can be trained.
    """
    parser = argparse.ArgumentParser(prog="python -m transformer.training", description="Train a shipped model again.")
    parser.add_argument("model", nargs="*", metavar="MODEL", help=f"one or more of {', '.join(recipes)}")
    parser.add_argument("--all", action="store_true", help="every model that needs no --data, one after the other")
    parser.add_argument("--steps", type=int, help="other than the recipe's, for a trial")
    parser.add_argument("--seed", type=int, help="other than the recipe's")
    parser.add_argument("--resume", action="store_true", help="go on from where Ctrl-C stopped")
    parser.add_argument("--test", action="store_true", help="do not train: test a checkpoint again, and rewrite its card")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("pairs.tsv"),
        help="the file of sentence pairs that everyday learns from, English–French by manythings.org/anki (%(default)s)",
    )
    where = f"folder for the checkpoint ({OUT}; with --test, that of the shipped models)"
    parser.add_argument("--out", type=Path, help=where)
    parser.add_argument("--runs", type=Path, default=RUNS, help="folder for the state of a stopped run")
    options = parser.parse_args(arguments)
    changes = {name: getattr(options, name) for name in ("steps", "seed") if getattr(options, name) is not None}
    out = options.out or (CHECKPOINTS if options.test else OUT)
    names = [name for name, each in recipes.items() if not each.pieces] if options.all else options.model
    if not names:
        parser.error("name a model, or --all")
    reuse_freed_memory()
    summary: list[str] = []
    for name in names:
        command = " ".join(["python -m transformer.training", name, *(f"--{key} {value}" for key, value in changes.items())])
        start = time.perf_counter()
        try:
            chosen = recipe(name, recipes).replace(**changes)
            corpus = None
            if chosen.pieces:
                stored = Pipeline.load(out / f"{name}{SUFFIX}").source_vocabulary if options.test else None
                pieces = stored if isinstance(stored, Subwords) else chosen.pieces
                corpus = open_corpus(name, options.data, pieces)
            if options.test:
                tested = test_again(name, chosen, out, corpus)
            else:
                tested = run(name, chosen, out, options.runs, options.resume, command, corpus)
        except HeadlightError as error:
            parser.error(str(error))
        except KeyboardInterrupt:
            return 130
        minutes = (time.perf_counter() - start) / 60
        print(report(name, tested, minutes))
        summary.append(f"{name:<24} {minutes:>6.1f} min {tested.share:>9.2%} exact")
    if len(summary) > 1:
        print("\n".join(["", "all models:", *summary]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
