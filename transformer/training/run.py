"""`Training`: one training run, an iterator of steps that its user can stop at any step and resume."""

import dataclasses
import itertools
import json
import platform
import random
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from safetensors.torch import save
from torch import Tensor, nn

from transformer.errors import CheckpointError, ConfigError
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.pipeline.card import Card, fits
from transformer.pipeline.checkpoint import as_path, check_tensors, digest, opened, read_safetensors, write_whole
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import Pair, Task
from transformer.text.vocabulary import Vocabulary
from transformer.tracing.interventions import silence
from transformer.tracing.paths import Kind
from transformer.tracing.phrases import interventions
from transformer.training.adam import Adam, Moments
from transformer.training.as_typed import as_typed
from transformer.training.evaluation import accuracy
from transformer.training.recipe import Recipe

TINY = 1e-6  # added to an attention weight, so that its logarithm is finite
_GENERATOR = threading.Lock()


@contextmanager
def seeded(seed: int) -> Generator[None]:
    """A context in which PyTorch's random generator starts from `seed`; afterwards its former state is restored.

    Dropout can only use this generator, which all threads share, so only one thread at a time can be in this context. A thread
    that uses the generator outside the context still changes the random numbers inside it.
    """
    with _GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def has_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16. Without them PyTorch converts the numbers, and a step takes 6 × as
    long as in float32 on one thread, and much longer on two."""
    return any(present for name, present in torch.cpu.get_capabilities().items() if name.endswith("bf16"))


class TrainingStep(NamedTuple):
    """The result of one optimiser step.

    Attributes:
        step, steps: number of this step, counted from 1, and number of steps of the whole run.
        loss: mean over the target tokens of the batch, in nats, with label smoothing, plus the penalties of the recipe.
        learning_rate: learning rate of this step.
        seconds: time spent in training steps so far, including the time before the run was resumed.
        accuracy: share of exact answers on held-out pairs, 0 to 1; None after a step without a check.
    """

    step: int
    steps: int
    loss: float
    learning_rate: float
    seconds: float
    accuracy: float | None


class References(NamedTuple):
    """A batch of sentences in which a pronoun refers to a noun before it, with their translations.

    Attributes:
        source, target: token ids of each sentence and of its translation.
        rows: for each sentence, the target position, counted from 0, whose logits predict the pronoun.
        nouns: for each sentence, the position in the source of the noun that the pronoun refers to; `<sos>` has position 0.
    """

    source: Int[Tensor, "sentences source"]
    target: Int[Tensor, "sentences length"]
    rows: Int[Tensor, " sentences"]
    nouns: Int[Tensor, " sentences"]


class Training:
    """One training run: the model, its optimiser, and its progress. Iterating over it does the steps.

        training = Training("reverse", recipe("reverse"))
        for step in training:          # stop at any step, resume later
            print(step.loss)
        training.pipeline().save(path)

    The pairs and the dropout of a step depend only on the recipe's seed and the step's number, so a resumed run ends with the
    same weights as an uninterrupted one. The same holds for runs in several threads, because only one of them takes a step at a
    time (`seeded`).

    Args:
        name, recipe: name and recipe of the model.
        task: a task that samples the pairs instead of the recipe's task: one with the same vocabularies
            (`shortened.shortened`), or the pairs of a file (`corpus.Corpus`). None for the recipe's task.

    Attributes:
        name, recipe, task: name and recipe of the model, and the task that samples the pairs.
        model, optimizer, loss: the network, Adam, and the cross-entropy that is minimised. The model is in training mode after
            a step, in evaluation mode after a check.
        step: optimiser steps done.
        seconds: time spent in these steps, including the time before the run was resumed.
        history: `step`, `loss` (as in `TrainingStep`), `accuracy` (on held-out pairs) and `seconds` of each check.
        check_pairs: the held-out pairs on which each check is done.
        pool: (index of the pool of pairs that was sampled last, counted from 0; its batches), or (−1, []) before any pool. A
            pool has the pairs of `recipe.pool` steps.

    Raises:
        InputError: there is no task called `recipe.task`, or no model called `recipe.start` to start from.
        ConfigError: the model cannot be built; or the model to start from has another configuration.
    """

    def __init__(self, name: str, recipe: Recipe, task: Task | None = None) -> None:
        self.name, self.recipe, self.task = name, recipe, task or recipe.make_task()
        with seeded(recipe.seed):
            self.model = Transformer(recipe.make_config(self.task))
        if recipe.start:
            self.model.load_state_dict(self._start().state_dict())
        self.optimizer = Adam(self.model.parameters())
        self.loss = nn.CrossEntropyLoss(ignore_index=self.task.target_vocabulary.pad, label_smoothing=recipe.label_smoothing)
        self.step, self.seconds, self.history = 0, 0.0, []
        self.pool: tuple[int, list[list[Pair]]] = (-1, [])
        self.check_pairs = list(itertools.islice(self.task.pairs("held-out", "check"), recipe.check_pairs))

    def __iter__(self) -> Iterator[TrainingStep]:
        while self.step < self.recipe.steps:
            yield self.advance()

    def advance(self) -> TrainingStep:
        """Do one optimiser step, and return its result. Every `recipe.check_every` steps and after the last step, the model is
        also checked on held-out pairs."""
        start = time.perf_counter()
        rate = self.recipe.rate_at(self.step)
        with seeded(random.Random(f"{self.recipe.seed}/{self.step}").getrandbits(63)):
            loss = self.learn(*self.batch_at(self.step), rate)
        self.step += 1
        self.seconds += time.perf_counter() - start
        exact = self.check() if self.step % self.recipe.check_every == 0 or self.step == self.recipe.steps else None
        if exact is not None:
            self.history.append(
                {"step": self.step, "loss": round(loss, 5), "accuracy": exact, "seconds": round(self.seconds, 1)}
            )
        return TrainingStep(self.step, self.recipe.steps, loss, rate, self.seconds, exact)

    def _start(self) -> Transformer:
        """The model whose weights are the initial ones. Raises ConfigError if it has another configuration."""
        start = Pipeline.load(self.recipe.start).model
        if start.config != self.model.config:
            message = "The recipe starts from {start!r}, which has another configuration: {theirs} instead of {ours}."
            raise ConfigError(message, start=self.recipe.start, theirs=start.config, ours=self.model.config)
        return start

    def learn(self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch length"], learning_rate: float) -> float:
        """Do one gradient step on a batch of ids, and return the loss as in `TrainingStep`. The decoder reads the target
        without its last token and predicts the target without its first token (teacher forcing)."""
        self.model.train()
        with self.edited(), self.autocast():
            logits: Float[Tensor, "batch target vocab"] = self.model(source, target[:, :-1])
        loss = self.loss(logits.float().flatten(0, 1), target[:, 1:].flatten())
        if self.recipe.stillness:
            loss = loss + self.recipe.stillness * self.reference_shift()
        if self.recipe.turning and self.step >= self.recipe.turning_from:
            loss = loss + self.recipe.turning * self.looking_elsewhere()
        if self.recipe.decisive:
            loss = loss + self.recipe.decisive * self.known_without_head()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        self.optimizer.step(learning_rate)
        return loss.item()

    def reference_shift(self, count: int = 8) -> Float[Tensor, ""]:
        """A penalty (`Recipe.stillness`): how far cross-attention shifts between two sentences that differ only in an
        adjective, which decides what a pronoun refers to. It is the squared difference of the weights of the query that
        predicts the pronoun, summed over layers, heads and keys; mean over `count` pairs of sentences."""
        source, target, rows, _ = self.references(count)
        self.model.eval()  # dropout would change the weights as well
        with tracing(self.model) as values, self.autocast():
            self.model(source, target[:, :-1])
        total = torch.zeros(())
        for layer in range(self.model.config.decoder_layers):
            weights = values[str(Kind.CROSS.path(layer) / "weights")][torch.arange(len(rows)), :, rows].float()
            total = total + (weights[0::2] - weights[1::2]).square().sum() / count
        return total

    def looking_elsewhere(self, count: int = 4) -> Float[Tensor, ""]:
        """A penalty (`Recipe.turning`): how little the recipe's `turning_head` attends to the noun that a pronoun refers to. It
        is the negative logarithm of the weight on the noun, of the query that predicts the pronoun; mean over the sentences of
        `count` pairs."""
        source, target, rows, nouns = self.references(count)
        recipe, items = self.recipe, torch.arange(len(rows))
        self.model.eval()  # dropout would change the weights as well
        with tracing(self.model) as values, self.autocast():
            self.model(source, target[:, :-1])
        weights = values[str(Kind.CROSS.path(recipe.turning_layer - 1) / "weights")]
        return -weights[items, recipe.turning_head - 1, rows, nouns].float().add(TINY).log().mean()

    def known_without_head(self, count: int = 4) -> Float[Tensor, ""]:
        """A penalty (`Recipe.decisive`): how well the model still predicts the gender of a pronoun while the attention weights
        of the recipe's `turning_head` are set to 0. It is the squared difference between the log-probabilities of the right and
        of the other pronoun, in nats²; mean over the sentences of `count` pairs."""
        source, target, rows, _ = self.references(count)
        recipe, items = self.recipe, torch.arange(len(rows))
        head = silence(Kind.CROSS, recipe.turning_layer - 1, (recipe.turning_head - 1,))
        self.model.eval()  # dropout would change the probabilities as well
        with tracing(self.model, [head], keep=False), self.autocast():
            logits: Float[Tensor, "batch target vocab"] = self.model(source, target[:, :-1])
        # Position `row` of the logits predicts the token after that position of the decoder's input, which starts with <sos>.
        pronouns = target[items, rows + 1]
        other_pronouns = pronouns.view(-1, 2).flip(1).flatten()
        log_probabilities = logits[items, rows].float().log_softmax(-1)
        return (log_probabilities[items, pronouns] - log_probabilities[items, other_pronouns]).square().mean()

    def references(self, count: int) -> References:
        """The sentences of `count` pairs, sampled from the training split for the present step. The two sentences of a pair
        differ in what a pronoun refers to, and are neighbouring rows."""
        pairs = self.task.reference_pairs(count, f"{self.recipe.seed}/{self.step}", "train")
        sides = [[Pair(pair.source_a, pair.target_a, ""), Pair(pair.source_b, pair.target_b, "")] for pair in pairs]
        rows = torch.tensor([row for pair in pairs for row in (pair.pronoun_a, pair.pronoun_b)])
        nouns = torch.tensor([noun + 1 for pair in pairs for noun in (pair.noun_1, pair.noun_2)])  # `<sos>` stands before
        return References(*self.ids([side for both in sides for side in both]), rows, nouns)

    def edited(self) -> AbstractContextManager[object]:
        """A context in which the model computes with `recipe.edit`, a change of the forward pass, if the recipe has an edit."""
        if not self.recipe.edit:
            return nullcontext()
        return tracing(self.model, interventions(self.recipe.edit, self.model.config), keep=False)

    def autocast(self) -> torch.autocast:
        """A context in which the forward pass computes in bfloat16, if `recipe.bf16` is True and the processor has bfloat16."""
        return torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.recipe.bf16 and has_bfloat16())

    def batch_at(self, step: int) -> tuple[Int[Tensor, "batch source"], Int[Tensor, "batch length"]]:
        """The batch of step `step`, counted from 0: ids of its sources and of its targets, as `ids` returns them."""
        pool, place = divmod(step, self.recipe.pool)
        if self.pool[0] != pool:
            self.pool = (pool, self.batches(pool))
        pairs = self.pool[1][place]
        return self.ids(pairs if len(pairs) == self.recipe.batch else self.hardest(pairs))

    def batches(self, pool: int) -> list[list[Pair]]:
        """The batches of the pool with the index `pool`, counted from 0, one for each of its `recipe.pool` steps: pairs of
        similar length share a batch, and the batches are in random order. From step `recipe.hard_from`, a share of the pairs,
        `recipe.as_typed`, is shown as people type them; and if `recipe.hard` is not 0, batches are `recipe.hard` times as
        large, and `hardest` chooses from each."""
        recipe = self.recipe
        late = pool * recipe.pool >= recipe.hard_from
        choice = recipe.hard if late else 0
        seed, size = f"{recipe.seed}/{pool}", recipe.batch * max(1, choice)
        pairs = list(itertools.islice(self.task.pairs("train", seed), size * self.recipe.pool))
        if late and recipe.as_typed:
            rng = random.Random(f"{seed}/as typed")
            pairs = [self.as_typed(pair, rng) for pair in pairs]
        if self.recipe.pool > 1:
            pairs.sort(key=lambda pair: len(self.task.source_vocabulary.split(pair.source)))
        batches = [pairs[start : start + size] for start in range(0, len(pairs), size)]
        random.Random(f"{seed}/order").shuffle(batches)
        return batches

    def as_typed(self, pair: Pair, rng: random.Random) -> Pair:
        """A random variant of a pair, as people may type it (`transformer.training.as_typed`); the pair itself if a side of the
        variant has more than `task.longest` tokens."""
        typed = as_typed(pair, self.recipe.as_typed, rng)
        sides = zip((self.task.source_vocabulary, self.task.target_vocabulary), typed[:2], strict=True)
        return typed if all(len(words.split(side)) <= self.task.longest for words, side in sides) else pair

    @torch.no_grad()
    def hardest(self, pairs: list[Pair]) -> list[Pair]:
        """A batch chosen from `pairs`: as many pairs as `recipe.batch` says. One half is taken at even intervals, so that the
        model forgets nothing. The other half are the hardest pairs: those in which a target token has the lowest probability
        under teacher forcing (hard example mining: Shrivastava et al. 2016)."""
        size = self.recipe.batch
        evenly = set(range(0, len(pairs), -(-2 * len(pairs) // size)))
        source, target = self.ids(pairs)
        self.model.eval()  # dropout would change the choice
        logits: Float[Tensor, "batch target vocab"] = self.model(source, target[:, :-1])
        words = self.task.target_vocabulary
        losses = nn.functional.cross_entropy(logits.mT, target[:, 1:], ignore_index=words.pad, reduction="none").amax(-1)
        by_loss = [index for index in losses.argsort(descending=True).tolist() if index not in evenly]
        return [pairs[index] for index in sorted({*evenly, *by_loss[: size - len(evenly)]})]

    def ids(self, pairs: list[Pair]) -> tuple[Int[Tensor, "batch source"], Int[Tensor, "batch length"]]:
        """Token ids of the sources and of the targets of pairs, both with `<sos>` before and `<eos>` after, padded."""

        def padded(words: Vocabulary, texts: list[str]) -> Int[Tensor, "batch length"]:
            rows = [torch.tensor([words.sos, *words.ids(words.split(text)), words.eos]) for text in texts]
            return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=words.pad)

        source = padded(self.task.source_vocabulary, [pair.source for pair in pairs])
        return source, padded(self.task.target_vocabulary, [pair.target for pair in pairs])

    def check(self) -> float:
        """The share of `check_pairs`, 0 to 1, that the model answers exactly by greedy decoding."""
        return accuracy(self.pipeline(), self.check_pairs).share

    def pipeline(self, card: Card | None = None) -> Pipeline:
        """A pipeline of the current model, which is put into evaluation mode, to answer texts with it. Its record of the
        training is `card`, or by default that of the run so far."""
        task = self.task
        return Pipeline(self.name, self.model.eval(), task.source_vocabulary, task.target_vocabulary, card or self.card())

    def card(self, command: str = "") -> Card:
        """The card (the record of the training) for the run so far, without the result of a test. `command` is the command line
        that trains the model, or empty."""
        task, recipe = self.task, self.recipe
        return Card(
            task=task.name,
            description=recipe.description,
            accepts=task.accepts,
            longest=task.longest,
            command=command,
            recipe=dataclasses.asdict(recipe),
            trained_on=self.step * recipe.batch,
            minutes=round(self.seconds / 60, 2),
            machine=f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}",
            history=list(self.history),
        )

    def save_state(self, path: str | Path) -> None:
        """Write a file with all that a resumed run needs: parameters, the state of Adam, and the progress.

        Raises:
            CheckpointError: the file cannot be written.
        """
        write_whole(as_path(path), self.state())

    def state(self) -> bytes:
        """The contents of the file that `save_state` writes."""
        tensors = {}
        for name, parameter in self.model.named_parameters():
            tensors[f"parameter/{name}"] = parameter.detach().contiguous()
            for moment, values in self.optimizer.moments[parameter]._asdict().items():
                tensors[f"{moment}/{name}"] = values
        state = {"name": self.name, "recipe": dataclasses.asdict(self.recipe), "data": self.task.data}
        state |= {"step": self.step, "seconds": self.seconds, "history": self.history}
        parts = {"headlight-training": json.dumps(state)}
        return save(tensors, parts | {"digest": digest(tensors, parts)})

    def load_state(self, path: str | Path) -> None:
        """Continue from the state in a file that `save_state` wrote. If the file is refused, nothing changes.

        Raises:
            CheckpointError: the file is missing, is damaged, or belongs to a run with another name, recipe or file of pairs.
        """
        path = as_path(path)
        name = path.name
        with opened(path, name) as file:
            metadata = file.metadata() or {}
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a mapping)
        self._resume(metadata, tensors, name)

    def resume(self, state: bytes, name: str = "state") -> None:
        """Continue from `state`, the bytes that the method `state` returned. Raises `CheckpointError` as `load_state` does; its
        messages call the state `name`."""
        self._resume(*read_safetensors(state, name), name)

    def _resume(self, metadata: dict[str, str], tensors: dict[str, Tensor], name: str) -> None:
        try:
            parts = {"headlight-training": metadata["headlight-training"]}
            if metadata["digest"] != digest(tensors, parts):
                raise CheckpointError("The training state {name!r} is damaged: it does not match its own digest.", name=name)
            state = json.loads(parts["headlight-training"])
            step, seconds, history = state["step"], state["seconds"], state["history"]
            if json.dumps([self.name, dataclasses.asdict(self.recipe)]) != json.dumps([state["name"], state["recipe"]]):
                raise CheckpointError("The training state {name!r} belongs to a run with another recipe.", name=name)
            if state.get("data", "") != self.task.data:
                message = (
                    "The training state {name!r} belongs to a run on other sentence pairs, or does not say on which; "
                    "resume it with the file that it was started with."
                )
                raise CheckpointError(message, name=name)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, CheckpointError):
                raise
            message = "The training state {name!r} is damaged: it has no readable record of the run ({error})."
            raise CheckpointError(message, name=name, error=str(error)) from error
        if not (fits(step, int, self.recipe.steps) and fits(seconds, float) and fits(history, list[dict[str, int | float]])):
            raise CheckpointError("The training state {name!r} is damaged: its step, seconds or history is invalid.", name=name)
        shapes = {
            f"{part}/{parameter}": tuple(values.shape)
            for part in ("parameter", *Moments._fields)
            for parameter, values in self.model.named_parameters()
        }
        check_tensors(tensors, shapes, name)
        self._restore(tensors)
        self.optimizer.number = step
        self.step, self.seconds, self.history = step, seconds, history

    @torch.no_grad()
    def _restore(self, tensors: dict[str, Tensor]) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(tensors[f"parameter/{name}"])
            for moment, values in self.optimizer.moments[parameter]._asdict().items():
                values.copy_(tensors[f"{moment}/{name}"])
