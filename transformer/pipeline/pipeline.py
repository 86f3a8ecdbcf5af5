"""`Pipeline`: a Transformer with its two vocabularies, which answers texts and records every tensor of a forward pass."""

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
from transformer.pipeline.decoding.generate import DecodingStep, generate, greedy, limited
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
    """A model with its vocabularies, which answers texts, and traces them: records every tensor of a forward pass. It keeps no
    state between calls, so any number of threads can share it.

    Attributes:
        card: the record of the training.
        trained: False for a model with random weights (`transformer.pipeline.untrained`). Such a model reads at most
            `card.longest` tokens. It writes as many tokens as it reads, at most 12, and no special tokens.
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
            name: the name of a model that comes with Headlight, such as `reverse`; the name of a snapshot of its training, such
                as `reverse@000316`, the model after 316 steps; or the `Path` of any checkpoint file.

        Raises:
            InputError: there is no model or snapshot of that name.
            CheckpointError: the file is missing, damaged, or not a checkpoint that Headlight wrote.
        """
        if isinstance(name, Path):
            return cls(name.stem, *load_checkpoint(name))
        return cls(name, *load_checkpoint(model_file(name)))

    @staticmethod
    def available() -> dict[str, str]:
        """The models that come with Headlight: name → description in one line."""
        return available()

    @staticmethod
    def snapshots(name: str) -> tuple[int, ...]:
        """The numbers of training steps after which a snapshot of a shipped model was saved, in order; empty if there are no
        snapshots. The snapshot of step 0 has the initial weights.

            Pipeline.load("reverse@000316")        # the model after step 316
        """
        return snapshots(name)

    def save(self, path: str | Path, dtype: torch.dtype = torch.float32) -> None:
        """Write a checkpoint file, which `load` reads back. The parameters are stored as `dtype`: a floating-point type,
        `torch.int8` or `torch.int4`. Raises `CheckpointError` for another type, if the file cannot be written, or if `load`
        would refuse it."""
        save_checkpoint(path, Checkpoint(self.model, self.source_vocabulary, self.target_vocabulary, self.card), dtype)

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> "Pipeline":
        """A pipeline called `name`, of the model in `data`: the contents of a checkpoint file. Raises `CheckpointError` if they
        are damaged, or Headlight did not write them."""
        return cls(name, *read_checkpoint(data, name))

    def to_bytes(self, dtype: torch.dtype = torch.float32) -> bytes:
        """The contents of the checkpoint file that `save` would write. Raises `CheckpointError` if `dtype` is not a type that
        `save` allows, or a parameter is not finite as `dtype`."""
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
        """The paths of tensors that a trace of this model lacks: always empty. Models of Hugging Face may lack some."""
        return ()

    @property
    def readout(self) -> Readout:
        """The parts that compute logits from the decoder's residual stream, such as the last norm and the output layer."""
        return readout_of(self.model)

    @property
    def network(self) -> Transformer:
        """The network: the same object as `model`. A pipeline of a Hugging Face model may have it only under this name."""
        return self.model

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    @property
    def note(self) -> str:
        """How the network differs from the Transformer of this project: always empty, because it is that Transformer."""
        return ""

    @property
    def mask_token(self) -> str:
        """The token, such as `[MASK]`, that a masked language model replaces: always empty, because this model writes
        answers."""
        return ""

    def token_table(self, side: Side) -> Float[Tensor, "vocab d_model"]:
        """The token embeddings of a side, `source` or `target`, not copied, so do not write to them. Raises `InputError` for
        any other side."""
        self.vocabulary(side)
        return embedding_of(self.model, side).table.weight.detach()

    def position_table(self, side: Side) -> Float[Tensor, "position d_model"]:
        """The position vectors that are added to the token vectors of a side, `source` or `target`, for all `max_len`
        positions. Do not write to them. Raises `InputError` for any other side."""
        self.vocabulary(side)
        return embedding_of(self.model, side).positions(self.config.max_len).detach()

    def vocabulary(self, side: Side) -> Vocabulary:
        """The vocabulary of a side, `source` or `target`.

        Raises:
            InputError: `side` is another value.
        """
        if not isinstance(side, str) or side not in ("source", "target"):
            raise InputError("side is {side!r}; allowed are source and target.", side=side)
        return self.source_vocabulary if side == "source" else self.target_vocabulary

    @property
    def nbytes(self) -> int:
        """Memory in bytes of the parameters and of the buffers, such as tables of sinusoidal positions."""
        return sum(tensor.nbytes for tensor in [*self.model.parameters(), *self.model.buffers()])

    def longest(self, side: Side) -> int:
        """The most tokens that a text of a side, `source` or `target`, may have: `max_len`, minus the tokens that are added to
        the text (`<sos>`, and `<eos>` in a source); for an untrained model at most `card.longest`."""
        framed = self.vocabulary(side).framed
        frame = (2 if side == "source" else 1) * framed
        most = max(0, self.config.max_len - frame)
        return most if self.trained else min(most, self.card.longest)

    def encode(self, text: str, side: Side = "source") -> Encoding:
        """The tokens and ids that the model reads for a text of a side, `source` or `target`.

        Raises:
            InputError: `text` is not a string; it has more than `longest(side)` tokens; it has no tokens (allowed in a target,
                if `<sos>` is added to it); or it has a token that is not an id, although the model's tokens are ids.
        """
        return encode(text, side, self.vocabulary(side), self.longest(side), self.card.accepts)

    def answers(self, sources: Sequence[Source], edits: Sequence[Edit] = (), max_new_tokens: int | None = None) -> list[Answer]:
        """The model's answers to several texts, by greedy decoding in one batch.

        Args:
            sources: texts, or encodings of them from `encode`.
            edits: changes of tensors, made while the answers are written (`transformer.tracing.interventions`).
            max_new_tokens: the most tokens of each answer. By default, and at most, this is twice the number of ids of its
                source, plus 8. An untrained model writes fewer (see `trained`).

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
        """An iterator over the steps of an answer; each step is computed when the iterator reaches it. The answer has at most
        as many tokens as `answers` allows by default.

            generation = Generation.of(pipeline.generate("the cat sleeps .", Beam(width=3)))

        Args:
            source: a text, or its encoding from `encode`.
            method: how tokens are chosen; None for greedy decoding.
            logits_processors: changes of the distribution, in this order, before a token is chosen from it.
            forced: step, counted from 0 → id of the token that is written in this step.
            edits: changes of tensors, made in every step.
            cached: whether keys and values of earlier positions are cached.

        Raises:
            InputError: the model cannot read the source. Other errors are those of `decoding.generate.generate`.
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
        """The text that, typed as a target, gives the decoder the tokens of an answer. `trace` also accepts the answer itself.

        Raises:
            InputError: `answer` is not an Answer.
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
        """Run the model once, and return a trace: every tensor of the forward pass.

        To show an answer and its trace, encode and answer once:

            encoding = pipeline.encode(text)
            answer = pipeline.answers([encoding], edits)[0]
            trace = pipeline.trace(encoding, answer, edits)

        Args:
            source: a text or its encoding, or several for a batch; shorter ones are padded at the end.
            target: the decoder's input (teacher forcing), one for each source: a text, its encoding as a target, or an answer.
                None stands for the model's own greedy answer.
            edits: changes of tensors, made while an answer is written and in the traced pass.

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
            InputError: `trace` is not a Trace, or its model has other stacks or vocabularies.
        """
        check_sides(trace, self.stacks)
        source, target = self.batch(trace.source_ids, "source"), self.batch(trace.target_ids, "target")
        with torch.inference_mode():
            return Agreement.of(self.model(source, target), trace.logits)

    def batch(self, rows: Sequence[Sequence[int]], side: Side) -> Int[Tensor, "batch length"]:
        """Rows of ids as one tensor; shorter rows are padded at the end. `side` is `source` or `target`.

        Raises:
            InputError: there are no rows; a row is empty; or a row is not a list of ids of this side's vocabulary.
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
        """For each text, the index of the word of each token, as in `Encoding.words`; an empty tuple if every token is a
        word."""
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
