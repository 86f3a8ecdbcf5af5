"""`Pipeline`: answers and traces of texts, from a model, its two vocabularies and its card."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.errors import InputError
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer, embedding_of
from transformer.network.tap import Edit, as_edits
from transformer.pipeline.agreement import Agreement, check_sides
from transformer.pipeline.answer import Answer, Source, Target, listed_texts, several, with_copies
from transformer.pipeline.card import Card
from transformer.pipeline.catalogue import available, model_file, snapshots
from transformer.pipeline.checkpoint import (
    Checkpoint,
    checkpoint_bytes,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
)
from transformer.pipeline.decoding.answers import greedy, limited
from transformer.pipeline.decoding.generate import DecodingStep, generate
from transformer.pipeline.decoding.logits_processors import LogitsProcessor
from transformer.pipeline.decoding.methods import Method
from transformer.pipeline.encoding import Encoding, encode, padded
from transformer.pipeline.protocol import TextPipeline
from transformer.text.vocabulary import UNK, Vocabulary, a_text
from transformer.tracing.paths import Side
from transformer.tracing.readout import Readout, readout_of
from transformer.tracing.trace import Trace, run_traced

MAX_UNTRAINED_TOKENS = 12  # most tokens in an untrained model's answer: it has not learned to stop
UNKNOWN_SIGN = "□"  # as a typed text, it is one token that is in no vocabulary


@dataclass(frozen=True, eq=False)
class Pipeline(TextPipeline):
    """Answers and traces of one model. It keeps no state between calls, so any number of threads can share it.

    Attributes:
        trained: False for a model with random weights (`transformer.pipeline.untrained`). Such a model reads at most
            `card.longest` tokens. It writes as many tokens as it reads, at most `MAX_UNTRAINED_TOKENS`, and no special ones.
    """

    name: str
    model: Transformer
    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    card: Card
    trained: bool = True

    def __repr__(self) -> str:
        return f"<Pipeline {self.name!r}, {self.parameters:,} parameters>"

    @classmethod
    def load(cls, name: str | Path) -> "Pipeline":
        """The pipeline of a stored model.

        Args:
            name: the name of a shipped model, such as `reverse`; a snapshot of its training, such as `reverse@000316`; or the
                `Path` of any checkpoint.

        Raises:
            InputError: no shipped model has that name, or there is no snapshot after that step.
            CheckpointError: the file is missing, damaged, or not one of ours.
        """
        if isinstance(name, Path):
            return cls(name.stem, *load_checkpoint(name))
        return cls(name, *load_checkpoint(model_file(name)))

    @staticmethod
    def available() -> dict[str, str]:
        """The shipped models, as name → description (`transformer.pipeline.catalogue.available`)."""
        return available()

    @staticmethod
    def snapshots(name: str) -> tuple[int, ...]:
        """The steps after which snapshots of a shipped model were saved, in order; empty if there are none. Step 0 has the
        weights from before the training.

            Pipeline.load(snapshot_name("reverse", 316))
        """
        return snapshots(name)

    def save(self, path: str | Path, dtype: torch.dtype = torch.float32) -> None:
        """Write a checkpoint that `load` reads back, its parameters stored as `dtype`. Raises as `save_checkpoint`."""
        save_checkpoint(path, Checkpoint(self.model, self.source_vocabulary, self.target_vocabulary, self.card), dtype)

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Pipeline":
        """The pipeline, with this name, of the model in the contents of a checkpoint file. Raises `CheckpointError` as
        `load`."""
        return cls(name, *read_checkpoint(data, name))

    def to_bytes(self, dtype: torch.dtype = torch.float32) -> bytes:
        """The contents of the file that `save` writes; its parameters are stored as `dtype`. Raises as `checkpoint_bytes`."""
        return checkpoint_bytes(Checkpoint(self.model, self.source_vocabulary, self.target_vocabulary, self.card), dtype)

    @property
    def config(self) -> TransformerConfig:
        """The configuration of the model."""
        return self.model.config

    @property
    def stacks(self) -> tuple[str, ...]:
        """The names of the model's stacks: `encoder` and `decoder`."""
        return ("encoder", "decoder")

    @property
    def missing(self) -> tuple[str, ...]:
        """Paths of tensors that cannot be traced: empty, because all can be."""
        return ()

    @property
    def readout(self) -> Readout:
        """How logits are computed from the residual stream: the last norm, the output layer and where they read."""
        return readout_of(self.model)

    @property
    def network(self) -> Transformer:
        """The same as `model`; every pipeline has its network under this name (`transformer.pipeline.protocol`)."""
        return self.model

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def note(self) -> str:
        """How the network differs from our own: empty, because it is our own."""
        return ""

    @property
    def mask_token(self) -> str:
        """The token that stands for a word which the model fills in: empty, because this model writes answers."""
        return ""

    def token_table(self, side: Side) -> Float[Tensor, "vocab d_model"]:
        """The embedding table of a side. Do not write to it. Raises `InputError` as `vocabulary`."""
        self.vocabulary(side)
        return embedding_of(self.model, side).table.weight.detach()

    def position_table(self, side: Side) -> Float[Tensor, "position d_model"]:
        """The position vectors that are added to the token vectors of a side, for all `max_len` positions. Do not write to it.
        Raises `InputError` as `vocabulary`."""
        self.vocabulary(side)
        return embedding_of(self.model, side).positions(self.config.max_len).detach()

    def vocabulary(self, side: Side) -> Vocabulary:
        """The vocabulary of a side.

        Raises:
            InputError: `side` is neither `source` nor `target`.
        """
        if not isinstance(side, str) or side not in ("source", "target"):
            raise InputError("side is {side!r}; allowed are source and target.", side=side)
        return self.source_vocabulary if side == "source" else self.target_vocabulary

    @property
    def nbytes(self) -> int:
        """Memory in bytes of the weights and of the tables that are not trained."""
        return sum(tensor.nbytes for tensor in [*self.model.parameters(), *self.model.buffers()])

    def longest(self, side: Side) -> int:
        """The most tokens a typed text may have: `max_len` minus those for `<sos>` and, in a source, `<eos>`; for an untrained
        model at most `card.longest`."""
        framed = self.vocabulary(side).framed
        frame = (2 if side == "source" else 1) * framed
        most = max(0, self.config.max_len - frame)
        return most if self.trained else min(most, self.card.longest)

    def encode(self, text: str, side: Side = "source") -> Encoding:
        """A text as tokens and ids.

        Raises:
            InputError: the value is not a text; it has no tokens, unless it is a target that starts with `<sos>`; or it has
                more than `longest(side)` tokens.
        """
        return encode(text, side, self.vocabulary(side), self.longest(side), self.card.accepts)

    def answers(self, sources: Sequence[Source], edits: Sequence[Edit] = (), max_new_tokens: int | None = None) -> list[Answer]:
        """The greedy outputs for several texts, computed in one batch.

        Args:
            sources: texts, or encodings of them from `encode`.
            edits: interventions applied while the answers are written.
            max_new_tokens: the most tokens of each output; at most, and by default, twice the number of ids of its source plus
                8. An untrained model writes fewer (see `trained`).

        Raises:
            InputError: the model cannot read a text, or `sources` is not a list of at least one text.
            ConfigError: `max_new_tokens` is not a whole number from 1.
            PathError: an edit does not fit the model.
        """
        encodings = self._encodings(listed_texts(sources), "source")
        answers = self._answers([encoding.ids for encoding in encodings], as_edits(edits), max_new_tokens)
        return [self._with_copies(*both) for both in zip(encodings, answers, strict=True)]

    def generate(
        self,
        source: Source,
        method: Method | None = None,
        logits_processors: Sequence[LogitsProcessor] = (),
        forced: Mapping[int, int] | None = None,
        edits: Sequence[Edit] = (),
        cached: bool = True,
    ) -> Iterator[DecodingStep]:
        """The steps of an answer, each computed when the iterator reaches it. The answer has at most as many tokens as
        `answers` allows by default. Raises `InputError` for a source that the model cannot read; other arguments and errors
        are those of `transformer.pipeline.decoding.generate.generate`.

            generation = Generation.of(pipeline.generate("the cat sleeps .", Beam(width=3)))
        """
        (encoding,), vocabulary = self._encodings([source], "source"), self.target_vocabulary
        ids, max_new_tokens = self.batch([encoding.ids], "source"), self._max_new_tokens(encoding.ids)
        suppress = self._suppressed
        return generate(
            self.model,
            ids,
            vocabulary.sos,
            vocabulary.eos,
            max_new_tokens,
            method,
            logits_processors,
            forced,
            suppress,
            edits,
            cached=cached,
        )

    def as_target(self, answer: Answer) -> str:
        """The text to type as a target so that the decoder reads this answer. `trace` also accepts the answer itself.

        Raises:
            InputError: the value is not an answer.
        """
        if not isinstance(answer, Answer):
            raise InputError("An answer must be one that `answers` gave, not {answer!r}.", answer=answer)
        vocabulary = self.target_vocabulary
        if not vocabulary.framed:
            return vocabulary.text((vocabulary.tokens[vocabulary.sos], *answer.tokens))
        if vocabulary.ids(vocabulary.split(answer.text)) == vocabulary.ids(answer.tokens):
            return answer.text
        return vocabulary.text(UNKNOWN_SIGN if token == UNK else token for token in answer.tokens)  # `<unk>` cannot be typed

    def trace(
        self, source: Source | Sequence[Source], target: Target | Sequence[Target] = None, edits: Sequence[Edit] = ()
    ) -> Trace:
        """A trace of one forward pass: every tensor in it.

        To show an answer and its trace, encode and answer once:

            encoding = pipeline.encode(text)
            answer = pipeline.answers([encoding], edits)[0]
            trace = pipeline.trace(encoding, answer, edits)

        Args:
            source: a text, or several for a batch; shorter ones are padded at the end. Each may also be an encoding.
            target: the decoder's input (teacher forcing): a text, an encoding of it as a target, or an answer. If it is None,
                the input is the model's own greedy answer.
            edits: interventions applied while the answer is written and while it is traced.

        Raises:
            InputError: the model cannot read a text, or the numbers of sources and of targets differ.
            PathError: an edit does not fit the model.
        """
        edits, sources = as_edits(edits), several(source)
        sources = self._encodings(sources, "source")
        targets = [None] * len(sources) if target is None else several(target)
        if len(targets) != len(sources):
            raise InputError(
                "There are {sources} sources and {targets} targets; each source needs one target.",
                sources=len(sources),
                targets=len(targets),
            )
        source_rows = [encoding.ids for encoding in sources]
        # The whole batch is answered even if only one target is missing, because edits refer to texts by their index in the
        # batch.
        own = self._answers(source_rows, edits) if any(given is None for given in targets) else []
        targets = [own[item] if given is None else given for item, given in enumerate(targets)]
        target_rows = [encoding.ids for encoding in self._encodings(targets, "target")]
        source_ids, target_ids = self.batch(source_rows, "source"), self.batch(target_rows, "target")
        return run_traced(
            self.model,
            source_ids,
            target_ids,
            edits,
            tuple(self.source_vocabulary.tokens_of(row) for row in source_ids.tolist()),
            tuple(self.target_vocabulary.tokens_of(row) for row in target_ids.tolist()),
            self._words("source", source_ids),
            self._words("target", target_ids),
        )

    def check(self, trace: Trace) -> Agreement:
        """The comparison of the logits of an unedited trace with the logits of the model without tracing. This takes one
        forward pass.

        Raises:
            InputError: the value is not a trace, or it is a trace of a model with other stacks or another vocabulary.
        """
        check_sides(trace, self.stacks)
        source, target = self.batch(trace.source_ids, "source"), self.batch(trace.target_ids, "target")
        with torch.inference_mode():
            return Agreement.of(self.model(source, target), trace.logits)

    def batch(self, rows: Sequence[Sequence[int]], side: Side) -> Int[Tensor, "batch length"]:
        """Rows of ids as one tensor; shorter rows are padded with `<pad>` at the end.

        Raises:
            InputError: there are no rows; a row is empty; or a row is not a list of ids of the vocabulary.
        """
        return padded(rows, self.vocabulary(side))

    def _encodings(self, texts: Sequence[Any], side: Side) -> list[Encoding]:
        """The encoding of each text. Encodings of this side are returned unchanged. If there are several texts, an error gives
        the number of the text, counted from 1."""
        encodings = []
        for number, text in enumerate(texts, 1):
            try:
                encodings.append(self._encoding(text, side))
            except InputError as error:
                if len(texts) == 1:
                    raise
                if side == "source":
                    raise InputError("Text {number} cannot be read. {problem}", number=number, problem=error) from None
                raise InputError("Target {number} cannot be read. {problem}", number=number, problem=error) from None
        return encodings

    def _words(self, side: Side, ids: Int[Tensor, "batch length"]) -> tuple[tuple[int | None, ...], ...]:
        """For each text, the index of the word of each token, as in `Encoding.words`; no rows if every token is a word."""
        rows = tuple(map(self.vocabulary(side).words_of, ids.tolist()))
        return rows if any(rows) else ()

    def _encoding(self, text: Any, side: Side) -> Encoding:
        vocabulary = self.vocabulary(side)
        if isinstance(text, Answer) and side == "target":
            tokens = (vocabulary.tokens[vocabulary.sos], *text.tokens)
            ids = vocabulary.ids(tokens)
            text = Encoding(tokens, tuple(ids), (), text.tokens, side, vocabulary.words_of(ids))
        if not isinstance(text, Encoding):
            return self.encode(a_text(text), side)
        if text.side != side or vocabulary.tokens_of(text.ids) != text.tokens:
            raise InputError("{text!r} was read as another side or by another model; read the text again.", text=text)
        return text

    def _with_copies(self, encoding: Encoding, answer: Answer) -> Answer:
        """The answer, with unknown words of the source copied (`with_copies`) if the model is trained."""
        return with_copies(encoding, answer, self.source_vocabulary, self.target_vocabulary) if self.trained else answer

    def _answers(self, rows: Sequence[Sequence[int]], edits: Sequence[Edit], max_new_tokens: int | None = None) -> list[Answer]:
        vocabulary, limits = self.target_vocabulary, limited(map(self._max_new_tokens, rows), max_new_tokens)
        ids = self.batch(rows, "source")
        generated = greedy(self.model, ids, vocabulary.sos, vocabulary.eos, max(limits), self._suppressed, edits)
        answers = []
        for row, ended, chances, limit in zip(*generated, limits, strict=True):
            # A batch has the limit of its longest source, so the answer to a shorter source can exceed its own limit. Such an
            # answer is cut as if it were written alone.
            tokens, ended = vocabulary.tokens_of(row[:limit]), ended and len(row) <= limit
            chances = tuple(chances[: len(tokens) + ended])
            answers.append(Answer(vocabulary.text(tokens), tokens, ended, log_probabilities=chances))
        return answers

    def _max_new_tokens(self, row: Sequence[int]) -> int:
        """The most tokens of an answer to a source with the ids `row`. Correct answers are shorter; the limit is for a model
        that never writes `<eos>`."""
        return 2 * len(row) + 8 if self.trained else min(len(row) - 2 * self.target_vocabulary.framed, MAX_UNTRAINED_TOKENS)

    @property
    def _suppressed(self) -> Sequence[int]:
        """Ids that the model must not write."""
        return () if self.trained else self.target_vocabulary.specials
