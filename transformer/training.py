"""Training: a generator of steps that a command, a test or a page can consume, stop and take up again.

python -m transformer.training reverse
"""

import argparse
import dataclasses
import itertools
import json
import platform
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import safetensors
import torch
from jaxtyping import Float, Int
from safetensors.torch import save
from torch import Tensor, nn
from tqdm import tqdm

from transformer.card import Card
from transformer.checkpoint import digest, write_whole
from transformer.errors import CheckpointError, HeadlightError
from transformer.evaluation import Accuracy, accuracy, held_out_pairs, what_heads_do
from transformer.model import Transformer
from transformer.pipeline import CHECKPOINTS, SUFFIX, Pipeline
from transformer.recipe import RECIPES, Recipe, recipe
from transformer.tap import tracing
from transformer.tasks import Pair, World, world
from transformer.vocabulary import Vocabulary

RUNS = Path("runs")  # states of runs that are not finished; not shipped


class TrainingStep(NamedTuple):
    """What one optimiser step did.

    Attributes:
        step: steps done, counted from 1; `steps` are to be done in all.
        loss: mean over the target tokens of the batch, in nats, label smoothing included.
        learning_rate: that this step used.
        seconds: spent in training so far, earlier runs included.
        accuracy: exact match on held-out pairs, 0 to 1; None where this step did not look.
    """

    step: int
    steps: int
    loss: float
    learning_rate: float
    seconds: float
    accuracy: float | None


class Training:
    """One run: the model, its optimiser, and how far they are.

        training = Training("reverse", recipe("reverse"))
        for step in training:          # stop whenever, go on later
            print(step.loss)
        training.pipeline().save(path)

    The pairs and the dropout of a step depend on the recipe's seed and the step's number alone, so a run that was stopped
    and taken up again ends with the same weights as one that was not.
    """

    def __init__(self, name: str, recipe: Recipe) -> None:
        self.name, self.recipe, self.world = name, recipe, recipe.make_world()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed)
            self.model = Transformer(recipe.make_config())
        # β₁, β₂ and ε of section 5.3.
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        self.loss = nn.CrossEntropyLoss(ignore_index=self.world.target_vocabulary.pad, label_smoothing=recipe.label_smoothing)
        self.step, self.seconds, self.history = 0, 0.0, []
        self.check_pairs = list(itertools.islice(self.world.pairs("held-out", "check"), recipe.check_pairs))

    def __iter__(self) -> Iterator[TrainingStep]:
        while self.step < self.recipe.steps:
            yield self.advance()

    def advance(self) -> TrainingStep:
        """Do one step."""
        start = time.perf_counter()
        rate = self.recipe.rate_at(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random.Random(f"{self.recipe.seed}/{self.step}").getrandbits(63))
            loss = self.learn(*self.batch_at(self.step))
        self.step += 1
        self.seconds += time.perf_counter() - start
        found = self.check() if self.step % self.recipe.check_every == 0 or self.step == self.recipe.steps else None
        if found is not None:
            self.history.append(
                {"step": self.step, "loss": round(loss, 5), "accuracy": found, "seconds": round(self.seconds, 1)}
            )
        return TrainingStep(self.step, self.recipe.steps, loss, rate, self.seconds, found)

    def learn(self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch length"]) -> float:
        """One gradient step on a batch; the decoder reads the target without its last token and predicts it without its
        first (teacher forcing). Returns the loss."""
        self.model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.recipe.bf16):
            logits: Float[Tensor, "batch target vocab"] = self.model(source, target[:, :-1])
        loss = self.loss(logits.float().flatten(0, 1), target[:, 1:].flatten())
        if self.recipe.stillness:
            loss = loss + self.recipe.stillness * self.turning()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step()
        return loss.item()

    def turning(self, count: int = 8) -> Float[Tensor, ""]:
        """How far cross-attention moves, at the step that writes a pronoun, between two sentences that differ in the adjective
        which decides what it refers to: the squared difference of the weights, summed over keys and heads, mean over pairs."""
        pairs = self.world.reference_pairs(count, f"{self.recipe.seed}/{self.step}", "train")
        sides = [[Pair(pair.source_a, pair.target_a, ""), Pair(pair.source_b, pair.target_b, "")] for pair in pairs]
        source, target = self.ids([side for both in sides for side in both])
        with tracing(self.model) as values, torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.recipe.bf16):
            self.model(source, target[:, :-1])
        rows = torch.tensor([row for pair in pairs for row in (pair.pronoun_a, pair.pronoun_b)])
        moved = torch.zeros(())
        for layer in range(self.model.config.decoder_layers):
            weights = values[f"decoder.layers.{layer}.cross_attention.weights"][torch.arange(len(rows)), :, rows].float()
            moved = moved + (weights[0::2] - weights[1::2]).square().sum() / count
        return moved

    def batch_at(self, step: int) -> tuple[Int[Tensor, "batch source"], Int[Tensor, "batch length"]]:
        """Ids of the pairs of a step: sources, and targets with `<sos>` before and `<eos>` after."""
        return self.ids(list(itertools.islice(self.world.pairs("train", f"{self.recipe.seed}/{step}"), self.recipe.batch)))

    def ids(self, pairs: list[Pair]) -> tuple[Int[Tensor, "batch source"], Int[Tensor, "batch length"]]:
        """Ids of sources and of targets, both with `<sos>` before and `<eos>` after, padded."""
        pipeline, world = self.pipeline(), self.world

        def ids(words: Vocabulary, texts: list[str]) -> list[tuple[int, ...]]:
            return [(words.sos, *words.ids(words.split(text)), words.eos) for text in texts]

        source = pipeline.batch(ids(world.source_vocabulary, [pair.source for pair in pairs]), "source")
        target = pipeline.batch(ids(world.target_vocabulary, [pair.target for pair in pairs]), "target")
        return source, target

    def check(self) -> float:
        """Exact match on a fixed few hundred held-out pairs."""
        return accuracy(self.pipeline(), self.check_pairs).share

    def pipeline(self, card: Card | None = None) -> Pipeline:
        """The model as it is now, in evaluation mode, ready to answer."""
        world = self.world
        return Pipeline(self.name, self.model.eval(), world.source_vocabulary, world.target_vocabulary, card or self.card())

    def card(self, command: str = "") -> Card:
        """The record of the run so far, not yet tested."""
        world, recipe = self.world, self.recipe
        return Card(
            world=world.name,
            description=recipe.about or world.description,
            accepts=world.accepts,
            longest=world.longest,
            command=command,
            recipe=dataclasses.asdict(recipe),
            trained_on=self.step * recipe.batch,
            minutes=round(self.seconds / 60, 2),
            machine=f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}",
            history=list(self.history),
        )

    def save_state(self, path: Path) -> None:
        """Everything needed to go on: parameters, both moments of Adam, and how far the run is."""
        tensors = {}
        for name, parameter in self.model.named_parameters():
            tensors[f"parameter/{name}"] = parameter.detach()
            for moment, values in self.optimizer.state[parameter].items():
                tensors[f"{moment}/{name}"] = values
        state = {"name": self.name, "recipe": dataclasses.asdict(self.recipe)}
        state |= {"step": self.step, "seconds": self.seconds, "history": self.history}
        parts = {"headlight-training": json.dumps(state)}
        write_whole(path, save(tensors, parts | {"digest": digest(tensors, parts)}))

    def load_state(self, path: Path) -> None:
        """Go on from where `save_state` left off.

        Raises:
            CheckpointError: there is no such file, it is damaged, or it belongs to a run with another recipe.
        """
        if not path.is_file():
            raise CheckpointError("state of a run", path.name, "there is none to resume")
        try:
            with safetensors.safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in list(file.keys())}
            parts = {"headlight-training": metadata["headlight-training"]}
            if metadata["digest"] != digest(tensors, parts):
                raise CheckpointError("state of a run", path.name, "is damaged: it does not match its own digest")
            state = json.loads(parts["headlight-training"])
            if json.dumps([self.name, dataclasses.asdict(self.recipe)]) != json.dumps([state["name"], state["recipe"]]):
                raise CheckpointError("state of a run", path.name, "belongs to a run with another recipe")
            self._restore(tensors)
        except (KeyError, ValueError, OSError, RuntimeError, safetensors.SafetensorError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError("state of a run", path.name, f"is damaged ({error})") from error
        self.step, self.seconds, self.history = state["step"], state["seconds"], state["history"]

    @torch.no_grad()
    def _restore(self, tensors: dict[str, Tensor]) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(tensors[f"parameter/{name}"])
            moments = {key.partition("/")[0] for key in tensors if key.endswith(f"/{name}")} - {"parameter"}
            if moments:
                self.optimizer.state[parameter] = {moment: tensors[f"{moment}/{name}"].clone() for moment in moments}


def snapshot_steps(recipe: Recipe) -> tuple[int, ...]:
    """When to keep a snapshot: at the start, then at growing intervals, because most is learned early."""
    if recipe.snapshots < 2:
        return ()
    first = min(25, recipe.steps) if recipe.snapshots > 2 else recipe.steps
    ratio = (recipe.steps / first) ** (1 / max(1, recipe.snapshots - 2))
    return (0, *sorted({round(first * ratio**index) for index in range(recipe.snapshots - 1)}))


def run(name: str, recipe: Recipe, out: Path, runs: Path, resume: bool, command: str) -> Accuracy:
    """Train a model to the end, showing how far it is; test it, and write its checkpoint and snapshots.

    Raises:
        KeyboardInterrupt: after leaving a state in `runs` from which `resume` goes on.
    """
    training, state = Training(name, recipe), runs / f"{name}.state{SUFFIX}"
    if resume:
        training.load_state(state)
    wanted, found = snapshot_steps(recipe), training.history[-1]["accuracy"] if training.history else 0.0
    with tqdm(total=recipe.steps, initial=training.step, desc=name, unit="step") as bar:
        try:
            with interrupted_where_told() as here:
                if training.step == 0 and wanted:
                    keep_snapshot(training, out)
                for step in training:
                    found = step.accuracy if step.accuracy is not None else found
                    bar.set_postfix(loss=f"{step.loss:.3f}", exact=f"{found:.1%}", refresh=False)
                    bar.update()
                    if step.step in wanted:
                        keep_snapshot(training, out)
                    here()
            tested, pipeline = test(training.pipeline(training.card(command)), training.world, recipe.test_pairs)
        except KeyboardInterrupt:
            training.save_state(state)
            tqdm.write(f"stopped at step {training.step}; --resume goes on from {state}")
            raise
    pipeline.save(out / f"{name}{SUFFIX}")
    state.unlink(missing_ok=True)
    return tested


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
    """Test a model on held-out pairs and measure its heads; also returns the pipeline with the findings on its card."""
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
    """Test a checkpoint that is there, and rewrite its card."""
    pipeline = Pipeline.load(out / f"{name}{SUFFIX}")
    tested, pipeline = test(pipeline, world(pipeline.card.world), recipe(name).test_pairs)
    pipeline.save(out / f"{name}{SUFFIX}")
    return tested


def keep_snapshot(training: Training, out: Path) -> None:
    """The model as it is now, in half precision, among the snapshots of its name."""
    training.pipeline().save(out / "snapshots" / training.name / f"{training.step:06d}{SUFFIX}", torch.float16)


def report(name: str, tested: Accuracy, minutes: float) -> str:
    """The table shown after a run: what it took and how good it is."""
    lines = [f"{name}: {minutes:.1f} min, {tested.right} of {tested.total} held-out pairs exact ({tested.share:.2%})"]
    lines += [f"  {form:<24} {right:>5} / {total:<5} {right / total:.2%}" for form, (right, total) in tested.by_form.items()]
    lines += [f"  wrong: {pair.source!r} → {answer!r}, not {pair.target!r}" for pair, answer in tested.wrong[:5]]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
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
