"""From text to a trace: a model, its two vocabularies, and the card that says where they come from."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.errors import CheckpointError, InputError
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.network.tap import Edit, as_edits, tracing
from transformer.pipeline.card import Card
from transformer.pipeline.checkpoint import Checkpoint, load_checkpoint, read_card, save_checkpoint
from transformer.pipeline.decoding import greedy
from transformer.text.vocabulary import Unknown, Vocabulary
from transformer.tracing.trace import Trace, run_traced

CHECKPOINTS = Path(__file__).parents[2] / "assets" / "checkpoints"
SUFFIX = ".safetensors"
# The most tokens that an untrained model writes.
BABBLE = 12
LOG = logging.getLogger("headlight")
Side = Literal["source", "target"]


class Reading(NamedTuple):
    """A text as a model reads it.

    Attributes:
        tokens: what stands on the axes: `<sos>`, the tokens with `<unk>` for those it does not know, and for a source
            `<eos>`. A target is the decoder's input, which has no `<eos>`: that is what the last position must predict.
        ids: of those tokens.
        unknown: the tokens it does not know, with the nearest it does.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    unknown: tuple[Unknown, ...]


class Answer(NamedTuple):
    """What a model wrote.

    Attributes:
        text: as a person would write it.
        tokens: what it wrote, without `<sos>` and `<eos>`.
        ended: False if it had to be stopped.
    """

    text: str
    tokens: tuple[str, ...]
    ended: bool


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Everything needed to go from a text to a trace, with no state of its own: one serves any number of threads.

    Attributes:
        trained: False for a model with random weights (`transformer.pipeline.untrained`). It reads at most
            `card.longest` tokens, and writes as many as it reads, `BABBLE` at most, none of them special: it has not learned
            when to stop.
    """

    name: str
    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    card: Card
    trained: bool = True

    @classmethod
    def load(cls, name: str | Path) -> "Pipeline":
        """A shipped model by its name, or any checkpoint by its path.

        Raises:
            InputError: no shipped model has that name.
            CheckpointError: the file is missing, damaged or foreign.
        """
        if isinstance(name, Path):
            return cls(name.stem, *load_checkpoint(name))
        if not isinstance(name, str) or name not in cls.available():
            shipped = ", ".join(cls.available()) or "none"
            raise InputError("model", name, f"shipped are {shipped}; any other file is given as a Path")
        return cls(name, *load_checkpoint(CHECKPOINTS / f"{name}{SUFFIX}"))

    @staticmethod
    def available() -> dict[str, str]:
        """The shipped models: name → one line of what it does. A file that is cut off, is not one of ours or has no card is
        left out, and the log says so: one bad download must not take the others with it. `load` finds out whether the
        contents are sound."""
        found = {}
        for path in sorted(CHECKPOINTS.glob(f"*{SUFFIX}")):
            try:
                found[path.stem] = read_card(path).description
            except CheckpointError as error:
                LOG.warning("a shipped model is left out: %s", error)
        return found

    def save(self, path: str | Path, dtype: torch.dtype = torch.float32) -> None:
        """Write a checkpoint that `load` reads back, its parameters stored as `dtype`."""
        save_checkpoint(path, Checkpoint(self.model, self.source_vocabulary, self.target_vocabulary, self.card), dtype)

    @property
    def config(self) -> TransformerConfig:
        """Of the model."""
        return self.model.config

    def vocabulary(self, side: Side) -> Vocabulary:
        """The vocabulary of a side.

        Raises:
            InputError: there is no such side.
        """
        if side not in ("source", "target"):
            raise InputError("side", side, "allowed are source and target")
        return self.source_vocabulary if side == "source" else self.target_vocabulary

    @cached_property
    def nbytes(self) -> int:
        """Bytes of memory of the weights, and of the tables that are not trained."""
        return sum(tensor.nbytes for tensor in [*self.model.parameters(), *self.model.buffers()])

    def longest(self, side: Side) -> int:
        """The most tokens a person may type: `max_len` less `<sos>` and, in a source, `<eos>`."""
        frame = (2 if side == "source" else 1) * self.vocabulary(side).framed
        most = max(0, self.config.max_len - frame)
        return most if self.trained else min(most, self.card.longest)

    def read(self, text: str, side: Side = "source") -> Reading:
        """A text as ids.

        Raises:
            InputError: no text, nothing to read in it, or more tokens than the model has positions for.
        """
        vocabulary = self.vocabulary(side)
        if not isinstance(text, str):
            raise InputError(f"{side} text", text, "must be text")
        tokens = vocabulary.split(text)
        # No words are in the vocabulary of an untrained model whose texts had none that can be seen.
        if not (tokens and vocabulary.words) and (side == "source" or not vocabulary.framed):
            raise InputError(f"{side} text", text, f"there is nothing to read; type {self.card.accepts}")
        if len(tokens) > self.longest(side):
            why = f" (max_len {self.config.max_len})" if self.trained else ""
            found = vocabulary.tokenizer.counted(len(tokens))
            raise InputError(f"{side} text", text, f"has {found}; this model reads up to {self.longest(side)}{why}")
        ids = vocabulary.ids(tokens)
        if vocabulary.framed:
            ids = [vocabulary.sos, *ids, *([vocabulary.eos] if side == "source" else [])]
        return Reading(vocabulary.tokens_of(ids), tuple(ids), vocabulary.unknown(tokens))

    def answer(self, source: str, edits: Sequence[Edit] = ()) -> str:
        """The greedy output for a text, as text.

        Raises:
            InputError: a text the model cannot read.
            PathError: an edit that does not fit the model.
        """
        return self.answers([source], edits)[0].text

    def answers(self, sources: Sequence[str], edits: Sequence[Edit] = ()) -> list[Answer]:
        """The greedy output for each of several texts, in one batch. Raises as `answer`."""
        if isinstance(sources, str):
            raise InputError("source texts", sources, "must be a list of texts; `answer` takes one")
        rows, vocabulary = [self.read(source).ids for source in sources], self.target_vocabulary
        # Room for any true answer, and an end to the babble of a model that never learned to stop.
        limits = [2 * len(row) + 8 if self.trained else min(len(row) - 2 * vocabulary.framed, BABBLE) for row in rows]
        never = () if self.trained else vocabulary.specials
        ids = self.batch(rows, "source")
        with tracing(self.model, edits, keep=False):
            written = greedy(self.model, ids, vocabulary.sos, vocabulary.eos, max(limits), never)
        answers = []
        for row, ended, limit in zip(written.ids, written.ended, limits, strict=True):
            # What it wrote beyond its own limit is owed to a longer neighbour: alone, it would have been stopped.
            tokens = vocabulary.tokens_of(row[:limit])
            answers.append(Answer(vocabulary.text(tokens), tokens, ended and len(row) <= limit))
        return answers

    def as_target(self, answer: Answer) -> str:
        """The text to give as target for the decoder to read this answer."""
        vocabulary = self.target_vocabulary
        return answer.text if vocabulary.framed else vocabulary.text((vocabulary.tokens[vocabulary.sos], *answer.tokens))

    def trace(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str | None] | None = None,
        edits: Sequence[Edit] = (),
    ) -> Trace:
        """One forward pass, everything in it.

        Args:
            source: a text, or several for a batch; shorter ones are padded at the end.
            target: what the decoder reads (teacher forcing); the model's own greedy answer where it is None.
            edits: interventions, in force while the answer is written and while it is traced.

        Raises:
            InputError: a text the model cannot read, or a batch whose sides differ in number.
            PathError: an edit that does not fit the model.
        """
        edits = as_edits(edits)
        sources = _several("source", source)
        readings = [self.read(text) for text in sources]
        targets = [None] * len(sources) if target is None else _several("target", target)
        if len(targets) != len(sources):
            raise InputError("batch", (len(sources), len(targets)), "source and target must have the same number of texts")
        # All of them, though some be given: edits say which texts they mean by their places in the batch.
        own = self.answers(sources, edits) if None in targets else []
        vocabulary = self.target_vocabulary
        rows = [
            (vocabulary.sos, *vocabulary.ids(own[item].tokens)) if given is None else self.read(given, "target").ids
            for item, given in enumerate(targets)
        ]
        source_ids, target_ids = self.batch([r.ids for r in readings], "source"), self.batch(rows, "target")
        return run_traced(
            self.model,
            source_ids,
            target_ids,
            edits,
            tuple(self.source_vocabulary.tokens_of(row) for row in source_ids.tolist()),
            tuple(self.target_vocabulary.tokens_of(row) for row in target_ids.tolist()),
        )

    def batch(self, rows: Sequence[Sequence[int]], side: Side) -> Int[Tensor, "batch length"]:
        """Rows of ids as one tensor, shorter ones filled up with `<pad>` at the end.

        Raises:
            InputError: no rows.
        """
        if not rows:
            raise InputError(f"{side} batch", 0, "at least one text is needed")
        length, pad = max(map(len, rows)), self.vocabulary(side).pad
        return torch.tensor([[*row, *[pad] * (length - len(row))] for row in rows])


def _several(side: Side, given: object) -> list[Any]:
    """A text alone, or several, as a list.

    Raises:
        InputError: it is neither.
    """
    if isinstance(given, str):
        return [given]
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputError(f"{side} text", given, "must be a text, or a list of texts")
    return list(given)
