"""`HuggingFacePipeline`: answers and traces of texts from a model of `transformers`, with the methods of `TextPipeline`."""

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.errors import InputError
from transformer.huggingface.generation_ids import NO_ID, GenerationIds
from transformer.huggingface.hf_limits import CONTINUATION_TOKENS
from transformer.huggingface.hf_network import NO_PAD, ModelConfig, Network
from transformer.huggingface.hf_vocabulary import PieceVocabulary
from transformer.huggingface.output import TOKENS, Output, best_span
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer, embedding_of
from transformer.network.tap import Edit, as_edits, tracing
from transformer.pipeline.agreement import Agreement, check_sides
from transformer.pipeline.answer import Answer, Source, Target, listed_texts, several
from transformer.pipeline.card import Card
from transformer.pipeline.decoding.generate import DecodingStep, generate, greedy, limited
from transformer.pipeline.decoding.logits_processors import LogitsProcessor
from transformer.pipeline.decoding.methods import Method
from transformer.pipeline.encoding import CHARACTERS_PER_TOKEN, NO_TEXT, TOO_MANY_CHARACTERS, Encoding, padded
from transformer.pipeline.protocol import OutputKind, TextPipeline
from transformer.text.tokenizer import a_text
from transformer.tracing.paths import SIDES, Side
from transformer.tracing.readout import Readout, readout_of
from transformer.tracing.trace import Activation, Trace

Rows = list[tuple[int, ...]]
NO_HEAD = "This model has no output layer: its result is a vector for each token, and it writes no answer."
NO_QUESTION = "This model finds the answer to a question in a text: write the question, {separator}, and the text."
LONGEST_SPAN = 30  # tokens of an answer that is found in a text
OUTSIDE = "O"  # the label of a token that is part of no name, in most sets of labels
NO_ANSWER = "An encoder alone fills in {mask}; your text has none. Write {mask} in the place of a word."


class HuggingFacePipeline(TextPipeline):
    """A model of Hugging Face that answers and traces texts. It keeps no state between calls, so any number of threads can
    share it.

    A model with an encoder and a decoder answers as Headlight's own models do. A decoder alone continues a text: its source is
    the beginning of the text, its target is the continuation, and the target of a trace is both, one after the other. An
    encoder alone fills in the mask tokens of its source, and has no target. `open_model` builds the pipeline.

    Attributes:
        name: name of the folder.
        network: the model with its taps, the named points at which its tensors are recorded or changed.
        trained: always True, because the files do not say whether a model was trained.
    """

    trained = True

    def __init__(self, name: str, network: Network | Transformer, tokenizer: Any, generation_ids: GenerationIds) -> None:
        self.name, self.tokenizer, self._generation_ids = name, tokenizer, generation_ids
        self.network: Any = network
        config, sos = network.config, generation_ids.start if self.crossed else None
        eos = generation_ids.end if generation_ids.end != NO_ID and "decoder" in self.stacks else None
        lock = Lock()
        self.source_vocabulary = PieceVocabulary(tokenizer, lock, config.source_vocab, "source", config.source_pad, sos, eos)
        self.target_vocabulary = (
            PieceVocabulary(tokenizer, lock, config.target_vocab, "target", config.target_pad, sos, eos)
            if self.crossed
            else self.source_vocabulary
        )

    # --- what it is ----------------------------------------------------------------------------------------------------------

    @property
    def config(self) -> ModelConfig | TransformerConfig:
        """The sizes of the model."""
        return self.network.config

    @property
    def stacks(self) -> tuple[str, ...]:
        """The names of the model's stacks: `encoder`, `decoder`, or both."""
        return tuple(self.network.stacks)

    @property
    def crossed(self) -> bool:
        """Whether the model has an encoder and a decoder."""
        return len(self.stacks) == 2

    @property
    def model(self) -> Transformer | None:
        """The network if it is Headlight's own `Transformer`; None for a network of `transformers`, because Headlight's code
        cannot repeat its operations one by one."""
        return self.network if isinstance(self.network, Transformer) else None

    @property
    def readout(self) -> Readout | None:
        """How the logits of the decoder are computed from its residual stream. None if there is no decoder, or if the readout
        does not give the model's logits."""
        return readout_of(self.model) if self.model is not None else self.network.readout

    @property
    def original(self) -> Any:
        """The model of `transformers`, with its configuration."""
        return self.network.model

    @property
    def missing(self) -> tuple[str, ...]:
        """Paths of tensors that other models of this family have and this one does not."""
        return self.network.missing

    @property
    def card(self) -> Card:
        """The record of the model's training. Only `longest` is filled in, because nothing is known about the training."""
        return Card(task="", description="", accepts="", longest=self.longest("source"), command="")

    @property
    def output(self) -> Output:
        """Which logits the model computes from the vectors after its last layer, if any, and the names of the labels."""
        return getattr(self.network, "output", TOKENS)

    @property
    def output_kind(self) -> OutputKind:
        """What the model computes from its last vectors: logits of `tokens`, of one `label` for the text, of `labels` for each
        token, or of the start and end of a `span`; or no logits (`vectors`)."""
        return self.output.kind

    @property
    def separator(self) -> str:
        """The token between a question and the text that answers it; empty for a model that answers no questions."""
        return (self.tokenizer.sep_token or "") if self.output.kind == "span" else ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels of a classifier; empty for any other model."""
        return self.output.labels

    @property
    def mask_token(self) -> str:
        """The token that stands for a word which the model fills in; empty for a model that does not fill in words."""
        return (self.tokenizer.mask_token or "") if self.stacks == ("encoder",) and self.output.kind == "tokens" else ""

    def token_table(self, side: Side) -> Float[Tensor, "vocab d_model"]:
        """The embedding table of a side (`source` or `target`). Do not write to it. Raises `InputError` for any other side."""
        self.vocabulary(side)
        module = self.original
        if side == "target" and self.crossed:
            module = module.get_decoder()
        return module.get_input_embeddings().weight.detach()

    def position_table(self, side: Side) -> Float[Tensor, "position d_model"] | None:
        """The position vectors that are added to the token vectors of a side (`source` or `target`), one for each position that
        the model reads; None if no vectors are added. Do not write to it. Raises `InputError` for any other side."""
        self.vocabulary(side)
        if self.model is not None:
            return embedding_of(self.model, side).positions(self.config.max_len).detach()
        return self.network.position_table(side)

    @property
    def note(self) -> str:
        """How the network differs from Headlight's `Transformer`, in a sentence or two; may be empty."""
        return self.network.family.note

    def __repr__(self) -> str:
        return f"<HuggingFacePipeline {self.name!r}, {self.parameters:,} parameters>"

    @property
    def parameters(self) -> int:
        """The number of parameters; a parameter that is used in two places is counted once."""
        return sum(parameter.numel() for parameter in self.original.parameters())

    @property
    def nbytes(self) -> int:
        """Memory in bytes of the weights and of the tables that are not trained."""
        return sum(tensor.nbytes for tensor in [*self.original.parameters(), *self.original.buffers()])

    def vocabulary(self, side: Side) -> PieceVocabulary:
        """The vocabulary of a side. Raises `InputError` for anything but `source` and `target`."""
        if not isinstance(side, str) or side not in SIDES:
            raise InputError("side is {side!r}; allowed are source and target.", side=side)
        return self.source_vocabulary if side == "source" else self.target_vocabulary

    # --- encoding ------------------------------------------------------------------------------------------------------------

    def longest(self, side: Side) -> int:
        """The most tokens of a text on a side (`source` or `target`), including special tokens: `config.max_len`, or one less
        for a decoder, because the token that it writes next needs a position too."""
        self.vocabulary(side)
        return self.config.max_len - (side == "target" or self.stacks == ("decoder",))

    def encode(self, text: str, side: Side = "source") -> Encoding:
        """A text as tokens and ids, with the special tokens that the model needs.

        Raises:
            InputError: the value is not a text; a source has no tokens; the text has more than `longest(side)` tokens, or more
                than about 100 characters for each of these; the rules of the tokenizer fail on it; or an encoder alone gets a
                target.
        """
        vocabulary, most = self.vocabulary(side), self.longest(side)
        if side == "target" and self.stacks == ("encoder",):
            raise InputError("An encoder alone has no target.")
        if len(a_text(text)) > CHARACTERS_PER_TOKEN * (most + 1):
            raise InputError(TOO_MANY_CHARACTERS, count=len(text), most=CHARACTERS_PER_TOKEN * (most + 1))
        # The continuation of a text has no special tokens of its own.
        pieces = vocabulary.split(text, special=not (side == "target" and self.stacks == ("decoder",)))
        ids = pieces.ids
        if side == "target" and self.crossed:
            if ids and ids[-1] == self._generation_ids.end:
                ids = ids[:-1]
            if ids[:1] != [self._generation_ids.start]:  # some tokenizers add it themselves
                ids = [self._generation_ids.start, *ids]
        if side == "source" and self.stacks == ("decoder",) and len(ids) > 1 and ids[-1] == self._generation_ids.end:
            ids = ids[:-1]  # the text will be continued, so it does not end here
        special = set(vocabulary.specials)
        is_typed = any(index not in special for index in ids)
        # A special token such as `<mask>` may also be typed.
        if side == "source" and not (is_typed or vocabulary.split(text, special=False).ids):
            raise InputError("There is nothing to read in your text; type a few words.")
        if len(ids) > most:
            raise InputError("Your text has {count} tokens; this model reads up to {most}.", count=len(ids), most=most)
        tokens = vocabulary.tokens_of(ids)
        typed = tuple(token for token, index in zip(tokens, ids, strict=True) if index not in special)
        return Encoding(tokens, tuple(ids), pieces.unknown, typed, side, vocabulary.words_of(ids))

    def batch(self, rows: Sequence[Sequence[int]], side: Side) -> Int[Tensor, "batch length"]:
        """Rows of ids as one tensor; shorter rows are padded at the end.

        Raises:
            InputError: there are no rows; a row is empty; or a row is not a list of ids of the vocabulary.
        """
        return padded(rows, self.vocabulary(side))

    # --- answering -----------------------------------------------------------------------------------------------------------

    def answers(self, sources: Sequence[Source], edits: Sequence[Edit] = (), max_new_tokens: int | None = None) -> list[Answer]:
        """The greedy outputs for several texts. The output of an encoder alone is its text with the masks filled in. The output
        of a classifier is its most probable label, or the labels of the tokens. The output of a model that answers questions is
        a part of the text.

        Args:
            sources: texts, or encodings of them from `encode`.
            edits: interventions applied while the outputs are computed.
            max_new_tokens: the most tokens that a decoder writes; at most, and by default, twice the number of ids of the
                longest source plus 8, or `CONTINUATION_TOKENS` (20) for a decoder alone.

        Raises:
            InputError: the model cannot read a text, or has no output layer; `sources` is not a list of at least one text; an
                encoder alone gets a text without a mask token; or a model that answers questions gets a text without a
                question.
            ConfigError: `max_new_tokens` is not a whole number from 1.
            PathError: an edit does not fit the model.
        """
        encodings, edits = self._encodings(listed_texts(sources), "source"), as_edits(edits)
        rows = [encoding.ids for encoding in encodings]
        if self.output.kind != "tokens":
            return self._decided(rows, edits)
        if self.stacks == ("encoder",):
            return self._filled(rows, edits)
        if self.stacks == ("decoder",):
            return self._continued(rows, edits, max_new_tokens)
        ids = self.batch(rows, "source")
        generated = greedy(
            self.network,
            ids,
            self._generation_ids.start,
            self._generation_ids.end,
            max(limited(map(self._max_new_tokens, rows), max_new_tokens)),
            self._suppressed,
            edits,
            self._generation_ids.forced,
        )
        return [self._answer(row, ended) for row, ended in zip(generated.ids, generated.ended, strict=True)]

    def generate(
        self,
        source: Source,
        method: Method | None = None,
        logits_processors: Sequence[LogitsProcessor] = (),
        forced: Mapping[int, int] | None = None,
        edits: Sequence[Edit] = (),
        cached: bool = True,
    ) -> Iterator[DecodingStep]:
        """The steps in which the model writes an answer, one token in each step. A step is computed when the iterator reaches
        it. `Pipeline.generate` explains the arguments; other errors are those of
        `transformer.pipeline.decoding.generate.generate`.

        Raises:
            InputError: the model writes no text, because it is an encoder alone or has no language head; or it cannot read the
                source.
        """
        if self.output.kind != "tokens":
            raise InputError("This model has no language head, so it writes no text.")
        if self.stacks == ("encoder",):
            raise InputError("An encoder alone writes no answer; `answers` fills in its masks.")
        (encoding,) = self._encodings([source], "source")
        ids, max_new_tokens = self.batch([encoding.ids], "source"), self._max_new_tokens(encoding.ids)
        given, prompt = (ids, None) if self.crossed else (None, ids)
        forced = {**self._generation_ids.forced, **(forced or {})} if forced is None or isinstance(forced, Mapping) else forced
        return generate(
            self.network,
            given,
            self._generation_ids.start,
            self._generation_ids.end,
            max_new_tokens,
            method,
            logits_processors,
            forced,
            self._suppressed,
            edits,
            cached=cached,
            prompt=prompt,
        )

    def _decided(self, rows: Rows, edits: Sequence[Edit]) -> list[Answer]:
        """The answers of a model without a language head: labels, or a part of each text."""
        if self.output.kind == "vectors":
            raise InputError(NO_HEAD)
        side = "source" if "encoder" in self.stacks else "target"
        ids = self.batch(rows, side)
        with torch.inference_mode(), tracing(self.network, edits, keep=False):
            logits = self.network(*((ids, None) if side == "source" else (None, ids)))
        if self.output.kind == "label":
            return [self._label(values) for values in logits]
        of_text = self._span if self.output.kind == "span" else self._token_labels
        return [of_text(row, values) for row, values in zip(rows, logits, strict=True)]

    def _label(self, logits: Float[Tensor, " label"]) -> Answer:
        if len(self.labels) == 1:  # the output is a number, not a choice
            return Answer(f"{self.labels[0]}: {logits.item():.3f}", self.labels, True)
        best = int(logits.argmax())
        chosen = [best]
        if self.output.independent:
            chosen = (logits > 0).nonzero().flatten().tolist()  # a probability above a half
        names = tuple(self.labels[index] for index in chosen)
        return Answer(", ".join(names), names, True, tuple(chosen))

    def _token_labels(self, row: tuple[int, ...], logits: Float[Tensor, "position label"]) -> Answer:
        best, specials = logits.argmax(-1).tolist()[: len(row)], set(self.source_vocabulary.specials)
        labels = tuple(self.labels[index] for index in best)
        pieces = zip(self.source_vocabulary.tokens_of(row), row, labels, strict=True)
        named = [f"{piece}: {label}" for piece, index, label in pieces if index not in specials and label != OUTSIDE]
        return Answer(", ".join(named), labels, True, tuple(best))

    def _span(self, row: tuple[int, ...], logits: Float[Tensor, "bound source"]) -> Answer:
        separator, specials = self.output.separator, set(self.source_vocabulary.specials)
        start = row.index(separator) + 1 if separator in row else len(row)
        allowed = torch.tensor([index >= start and id_ not in specials for index, id_ in enumerate(row)])
        if not allowed.any():
            raise InputError(NO_QUESTION, separator=self.tokenizer.sep_token or "a separator")
        first, last = best_span(logits[:, : len(row)], allowed, LONGEST_SPAN)
        ids = row[first : last + 1]
        return Answer(self.source_vocabulary.text(ids), self.source_vocabulary.tokens_of(ids), True, ids)

    def _filled(self, rows: Rows, edits: Sequence[Edit]) -> list[Answer]:
        mask = self.tokenizer.mask_token_id
        for row in rows:
            if mask is None or mask not in row:
                raise InputError(NO_ANSWER, mask=self.tokenizer.mask_token or "a mask token")
        source = self.batch(rows, "source")
        with torch.inference_mode(), tracing(self.network, edits, keep=False):
            logits = self.network(source, None)
        best = logits.argmax(-1).tolist()
        answers = []
        for row, predicted in zip(rows, best, strict=True):
            filled = [new if index == mask else index for index, new in zip(row, predicted, strict=False)]
            generated = tuple(new for index, new in zip(row, predicted, strict=False) if index == mask)
            tokens = self.source_vocabulary.tokens_of(generated)
            answers.append(Answer(self.source_vocabulary.text(filled), tokens, True, generated))
        return answers

    def _continued(self, rows: Rows, edits: Sequence[Edit], max_new_tokens: int | None) -> list[Answer]:
        """The continuations that a decoder alone writes. Texts of equal length are one batch. Texts of different lengths are
        continued one after another, because padding would stand between a text and its continuation."""
        same = len({len(row) for row in rows}) == 1
        if not same and any(getattr(edit, "items", None) is not None for edit in edits):
            raise InputError("Edits with `items` need texts with the same number of tokens.")
        answers = []
        for part in [rows] if same else [[row] for row in rows]:
            generated = greedy(
                self.network,
                None,
                self._generation_ids.start,
                self._generation_ids.end,
                max(limited(map(self._max_new_tokens, part), max_new_tokens)),
                self._suppressed,
                edits,
                self._generation_ids.forced,
                self.batch(part, "source"),
            )
            answers += [self._answer(row, ended) for row, ended in zip(generated.ids, generated.ended, strict=True)]
        return answers

    def _answer(self, ids: Sequence[int], ended: bool) -> Answer:
        vocabulary = self.target_vocabulary
        return Answer(vocabulary.text(ids), vocabulary.tokens_of(ids), ended, tuple(ids))

    def _max_new_tokens(self, row: Sequence[int]) -> int:
        """The most tokens of an answer to a source with these ids."""
        return 2 * len(row) + 8 if self.crossed else CONTINUATION_TOKENS

    @property
    def _suppressed(self) -> tuple[int, ...]:
        """Ids that the model must not write: padding."""
        pad = self.config.target_pad
        return () if pad in (NO_PAD, self._generation_ids.end) else (pad,)

    # --- tracing -------------------------------------------------------------------------------------------------------------

    def trace(
        self, source: Source | Sequence[Source], target: Target | Sequence[Target] = None, edits: Sequence[Edit] = ()
    ) -> Trace:
        """A trace of one forward pass: every tensor in it.

        Args:
            source: a text, or several for a batch; shorter ones are padded at the end. Each may also be an encoding from
                `encode`.
            target: the decoder's input: a text, an encoding of it with the side `target`, or an answer; or a list with one of
                these for each source. If it is None, the input is the model's own answer, or an empty text if the model has no
                language head. For a decoder alone, the target is the continuation of the source, and "" traces the source
                alone. An encoder alone has no target.
            edits: interventions applied while the answer is written and while it is traced.

        Raises:
            InputError: the model cannot read a text; the numbers of sources and of targets differ; or an encoder alone gets a
                target.
            PathError: an edit does not fit the model.
        """
        edits, sources = as_edits(edits), self._encodings(several(source), "source")
        targets: list[Any] = [None] * len(sources) if target is None else several(target)
        if len(targets) != len(sources):
            raise InputError(
                "There are {sources} sources and {targets} targets; each source needs one target.",
                sources=len(sources),
                targets=len(targets),
            )
        if not sources:
            raise InputError(NO_TEXT)
        rows = [encoding.ids for encoding in sources]
        if self.stacks == ("encoder",):
            if any(given is not None for given in targets):
                raise InputError("An encoder alone has no target.")
            return self._traced(self.batch(rows, "source"), None, edits)
        if self.output.kind != "tokens":  # the model writes no answer that the decoder could read
            targets = ["" if given is None else given for given in targets]
        if any(given is None for given in targets):
            own = self.answers(sources, edits)
            targets = [own[index] if given is None else given for index, given in enumerate(targets)]
        following = [encoding.ids for encoding in self._encodings(targets, "target")]
        if self.crossed:
            return self._traced(self.batch(rows, "source"), self.batch(following, "target"), edits)
        joined = [(*row, *more) for row, more in zip(rows, following, strict=True)]
        most = self.config.max_len
        if max(map(len, joined)) > most:
            count = max(map(len, joined))
            raise InputError("Your text has {count} tokens; this model reads up to {most}.", count=count, most=most)
        return self._traced(None, self.batch(joined, "target"), edits)

    def check(self, trace: Trace) -> Agreement:
        """Compare the logits of an unedited trace with the logits that `transformers` computes from the same weights, without
        taps and with its own attention (`eager`), and return how well they agree. This takes one forward pass.

        Raises:
            InputError: the value is not a trace, or it is a trace of a model with other stacks or another vocabulary.
        """
        check_sides(trace, self.stacks)
        for vocabulary, rows in ((self.source_vocabulary, trace.source_ids), (self.target_vocabulary, trace.target_ids)):
            for row in rows:
                vocabulary.tokens_of(row)
        source, target = (torch.tensor(ids) if ids else None for ids in (trace.source_ids, trace.target_ids))
        logits = self.network.eager_logits(source, target)
        return Agreement.of(
            logits, trace[f"{self.stacks[-1]}.output"].values if self.output.kind == "vectors" else trace.logits
        )

    def _traced(self, source: Tensor | None, target: Tensor | None, edits: Sequence[Edit]) -> Trace:
        with torch.inference_mode(), tracing(self.network, edits) as values:
            self.network(source, target)
        steps = {path: Activation(path, self.network.taps[path].axes, stored) for path, stored in values.stored.items()}
        if target is not None:
            mask = Activation("target_mask", ("batch", "1", "target", "target"), self.network.target_mask(target))
            steps = {mask.path: mask, **steps}
        source_ids, target_ids = (() if ids is None else tuple(map(tuple, ids.tolist())) for ids in (source, target))
        return Trace(
            self.config,
            steps,
            source_ids,
            target_ids,
            tuple(map(self.source_vocabulary.tokens_of, source_ids)),
            tuple(map(self.target_vocabulary.tokens_of, target_ids)),
            values.masks,
            tuple(map(self.source_vocabulary.words_of, source_ids)),
            tuple(map(self.target_vocabulary.words_of, target_ids)),
        )

    def _encodings(self, texts: Sequence[Any], side: Side) -> list[Encoding]:
        return [self._encoding(text, side) for text in texts]

    def _encoding(self, text: Any, side: Side) -> Encoding:
        vocabulary = self.vocabulary(side)
        if isinstance(text, Answer) and side == "target":
            ids = ((self._generation_ids.start,) if self.crossed else ()) + text.ids
            text = Encoding(vocabulary.tokens_of(ids), ids, (), text.tokens, side)
        if not isinstance(text, Encoding):
            return self.encode(a_text(text), side)
        if text.side != side or vocabulary.tokens_of(text.ids) != text.tokens:
            raise InputError("{text!r} was read as another side or by another model; read the text again.", text=text)
        return text
