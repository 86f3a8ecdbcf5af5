"""From text to a trace: a model, its two vocabularies, and the card that says where they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from transformer.card import Card
from transformer.checkpoint import Checkpoint, load_checkpoint, read_card, save_checkpoint
from transformer.config import TransformerConfig
from transformer.decoding import greedy
from transformer.errors import InputError
from transformer.model import Transformer
from transformer.tap import Edit, tracing
from transformer.trace import Trace, run_traced
from transformer.vocabulary import Unknown, Vocabulary

CHECKPOINTS = Path(__file__).parent.parent / "assets" / "checkpoints"
SUFFIX = ".safetensors"
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
    """Everything needed to go from a text to a trace, with no state of its own: one serves any number of threads."""

    name: str
    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    card: Card

    @classmethod
    def load(cls, name: str | Path) -> "Pipeline":
        """A shipped model by its name, or any checkpoint by its path.

        Raises:
            InputError: no shipped model has that name.
            CheckpointError: the file is missing, damaged or foreign.
        """
        if isinstance(name, Path):
            return cls(name.stem, *load_checkpoint(name))
        if name not in cls.available():
            raise InputError("model", name, f"shipped are {', '.join(cls.available()) or 'none'}")
        return cls(name, *load_checkpoint(CHECKPOINTS / f"{name}{SUFFIX}"))

    @staticmethod
    def available() -> dict[str, str]:
        """The shipped models: name → one line of what it does."""
        return {path.stem: read_card(path).description for path in sorted(CHECKPOINTS.glob(f"*{SUFFIX}"))}

    def save(self, path: Path, dtype: torch.dtype = torch.float32) -> None:
        """Write a checkpoint that `load` reads back, its parameters stored as `dtype`."""
        save_checkpoint(path, Checkpoint(self.model, self.source_vocabulary, self.target_vocabulary, self.card), dtype)

    @property
    def config(self) -> TransformerConfig:
        return self.model.config

    def vocabulary(self, side: Side) -> Vocabulary:
        return self.source_vocabulary if side == "source" else self.target_vocabulary

    def longest(self, side: Side) -> int:
        """The most tokens a person may type: `max_len` less `<sos>` and, in a source, `<eos>`."""
        return self.config.max_len - (2 if side == "source" else 1)

    def read(self, text: str, side: Side = "source") -> Reading:
        """A text as ids.

        Raises:
            InputError: nothing to read in it, or more tokens than the model has positions for.
        """
        vocabulary = self.vocabulary(side)
        tokens, unit = vocabulary.split(text), vocabulary.tokenizer.unit
        if not tokens and side == "source":
            raise InputError(f"{side} text", text, f"there is nothing to read; type {self.card.accepts}")
        if len(tokens) > self.longest(side):
            allowed = f"has {len(tokens)} {unit}s; this model reads up to {self.longest(side)} (max_len {self.config.max_len})"
            raise InputError(f"{side} text", text, allowed)
        ids = [vocabulary.sos, *vocabulary.ids(tokens), *([vocabulary.eos] if side == "source" else [])]
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
        rows, vocabulary = [self.read(source).ids for source in sources], self.target_vocabulary
        # Room for any true answer, and an end to the babble of a model that never learned to stop.
        limits = [2 * len(row) + 8 for row in rows]
        ids = self.batch(rows, "source")
        with tracing(self.model, edits, keep=False):
            written = greedy(self.model, ids, vocabulary.sos, vocabulary.eos, max(limits))
        answers = []
        for row, ended, limit in zip(written.ids, written.ended, limits, strict=True):
            # What it wrote beyond its own limit is owed to a longer neighbour: alone, it would have been stopped.
            tokens = vocabulary.tokens_of(row[:limit])
            answers.append(Answer(vocabulary.text(tokens), tokens, ended and len(row) <= limit))
        return answers

    def trace(
        self,
        source: str | Sequence[str],
        target: str | Sequence[str] | None = None,
        edits: Sequence[Edit] = (),
    ) -> Trace:
        """One forward pass, everything in it.

        Args:
            source: a text, or several for a batch; shorter ones are padded at the end.
            target: what the decoder reads (teacher forcing); by default the model's own greedy answer.
            edits: interventions, in force while the answer is written and while it is traced.

        Raises:
            InputError: a text the model cannot read, or a batch whose sides differ in number.
            PathError: an edit that does not fit the model.
        """
        sources = [source] if isinstance(source, str) else list(source)
        readings = [self.read(text) for text in sources]
        if target is None:
            rows = [
                (self.target_vocabulary.sos, *self.target_vocabulary.ids(answer.tokens))
                for answer in self.answers(sources, edits)
            ]
        else:
            rows = [self.read(text, "target").ids for text in ([target] if isinstance(target, str) else target)]
        if len(rows) != len(readings):
            raise InputError("batch", (len(readings), len(rows)), "source and target must have the same number of texts")
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
