"""`generate`: an answer one step at a time, with the distributions, partial answers and tensors of each step. `greedy`: only
the ids of an answer."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.errors import InputError
from transformer.network.config import NetworkConfig
from transformer.network.masks import Mask
from transformer.network.tap import Edit, Recording, Scope, Tap, as_edits
from transformer.pipeline.decoding.cached_edits import fits_cache
from transformer.pipeline.decoding.logits_processors import LogitsProcessor, as_logits_processors
from transformer.pipeline.decoding.methods import Beam, Greedy, Hypothesis, Method
from transformer.text.vocabulary import known_ids
from transformer.tracing.paths import Kind, check_index
from transformer.validation import checked, within

# Names of the first two stages; the others are logits processors.
OWN, ALLOWED = "own", "allowed"


@runtime_checkable
class Network(Protocol):
    """A network that can write answers: a `Transformer`, or another network with the same methods. `taps` has the named points
    of the network at which a tensor can be read or changed: path → tap."""

    @property
    def config(self) -> NetworkConfig:
        """The sizes of the network."""
        ...

    taps: dict[str, Tap]

    def __call__(self, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"] | None) -> Tensor:
        """Logits for the token after each target position, [batch, target, vocab]. A side that the network lacks is None:
        `source` without an encoder, `target` without a decoder."""
        ...

    def encode(self, source: Int[Tensor, "batch source"]) -> tuple[Any, Mask]:
        """The memory, which is the encoder's output, and the mask of the source keys that may be attended to."""
        ...

    def decode(
        self,
        target: Int[Tensor, "batch target"],
        memory: Any,
        mask: Mask | None,
        cache: Any = None,
        rows: int | None = None,
    ) -> Tensor:
        """Logits for the token after each target position, [batch, position, vocab]; with a `cache`, only for the positions
        that it does not have yet; with `rows`, only for the last `rows` positions. `memory` and `mask` are what `encode`
        returned, or None for a decoder alone."""
        ...

    def check_ids(self, side: str, ids: object) -> None:
        """Raise an InputError if the network cannot read these ids on a side, `source` or `target`."""
        ...

    def new_cache(self) -> Any:
        """An empty key–value cache for `decode`, with `length` and `select` as in `transformer.network.cache.KeyValueCache`;
        None if the network cannot use a cache."""
        ...


class Stage(NamedTuple):
    """One distribution of the next token. A decoding step has the model's own distribution, and another after each change.

    Attributes:
        by: the origin of the distribution: `own`, the model; `allowed`, the exclusion of tokens that must not be written; or a
            logits processor.
        logits: −∞ for tokens that were excluded.
    """

    by: str | LogitsProcessor
    logits: Float[Tensor, "row vocab"]

    @property
    def probabilities(self) -> Float[Tensor, "row vocab"]:
        """Softmax of the logits: each row sums to 1."""
        return self.logits.softmax(-1)


@dataclass(frozen=True, eq=False)
class DecodingStep:
    """One decoding step: the decoder reads the tokens written so far, and the next token is chosen.

    Attributes:
        index: index of the step, counted from 0.
        input_ids: the decoder's input in this step, with a row for each hypothesis (partial answer) that is continued. It
            starts with `<sos>`, or with the prompt.
        stages: the distributions of the next token. The first is the model's own; the token is chosen from the last.
        hypotheses: the hypotheses made in this step. Greedy decoding and sampling make one for each row that has not ended.
            Beam search makes several, the best first, some of which it drops at once.
        kept: the `Hypothesis.number` of each hypothesis that is in the search after this step.
        forced: whether the caller forced the token of this step.
        room: whether the answer may still get a token. If it is False, the answer already has `max_new_tokens` tokens, and a
            token of this step other than `<eos>` is not part of the answer.
        values: path → tensor, for every tensor of the forward pass that can be traced. In the decoder's self-attention, keys
            are all positions. Queries are all positions without a cache; with a cache, only those that no earlier step has
            read. Empty if the step was not traced.
    """

    index: int
    input_ids: Int[Tensor, "row length"]
    stages: tuple[Stage, ...]
    hypotheses: tuple[Hypothesis, ...]
    kept: tuple[int, ...]
    forced: bool
    room: bool
    values: Recording

    @property
    def masks(self) -> Mapping[str, Tensor]:
        """Path of an attention → the mask that it used: True where a query may attend to a key."""
        return self.values.masks

    @property
    def own(self) -> Stage:
        """The model's own distribution of the next token, before tokens are excluded and logits processors applied."""
        return self.stages[0]

    @cached_property
    def log_probabilities(self) -> Float[Tensor, "row vocab"]:
        """Log-softmax of the model's own logits, in nats."""
        return self.own.logits.log_softmax(-1)

    def attention(self, kind: str, row: int = 0) -> Float[Tensor, "layer head key"]:
        """The attention weights of the last position of `input_ids`, in every layer and head.

        Args:
            kind: `decoder` for the decoder's self-attention, `cross` for cross-attention.
            row: the row of `input_ids`, counted from 0.

        Raises:
            InputError: `kind` is another value, the step did not use this attention, or it was not traced.
            PathError: there is no such row.
        """
        kind = Kind.of(kind)
        paths: list[str] = []
        while (path := f"{kind.stack}.layers.{len(paths)}.{kind.sublayer}.weights") in self.values:
            paths.append(path)
        if not paths or kind.queries != "target":
            raise InputError("This step has no {kind} attention.", kind=str(kind))
        check_index("row", row, len(self.input_ids))
        return torch.stack([self.values[path][row, :, -1] for path in paths])


class GeneratedIds(NamedTuple):
    """The token ids that greedy decoding wrote for a batch.

    Attributes:
        ids: for each batch item, the written ids, without `<sos>` and `<eos>`.
        ended: for each batch item, True if it ended with `<eos>`, False if it was stopped at the limit.
        log_probabilities: for each batch item, the log-probability in nats of each written id, and of `<eos>` if it ended.
    """

    ids: list[list[int]]
    ended: list[bool]
    log_probabilities: list[list[float]]


def generate(
    model: Network,
    source: Int[Tensor, "batch source"] | None,
    sos: int,
    eos: int,
    max_new_tokens: int,
    method: Method | None = None,
    logits_processors: Sequence[LogitsProcessor] = (),
    forced: Mapping[int, int] | None = None,
    suppress: Sequence[int] = (),
    edits: Sequence[Edit] = (),
    traced: bool = True,
    cached: bool = True,
    prompt: Int[Tensor, "batch length"] | None = None,
) -> Iterator[DecodingStep]:
    """An iterator over the steps of an answer, or of the answers to a batch. Each step is computed when the iterator reaches
    it. The encoder runs once, in the call itself.

    Args:
        model: the model, in evaluation mode.
        source: ids of the sources, padded to one length; one row for beam search. None for a decoder alone.
        sos, eos: ids of the tokens that start and end an answer, in the target vocabulary.
        max_new_tokens: the most tokens to generate; never more than `max_len` minus the length of the prompt.
        method: chooses the tokens; greedy decoding by default.
        logits_processors: changes of the distribution, in this order, before a token is chosen from it.
        forced: step, counted from 0 → id of the token that is written in this step, whatever its probability.
        suppress: ids that must not be written unless forced.
        edits: changes of tensors, made in every step (`transformer.tracing.interventions`).
        traced: whether each step keeps its tensors in `DecodingStep.values`.
        cached: whether keys and values of earlier positions are cached. If an edit does not allow this (`fits_cache`), every
            step reads all positions anyway. The distributions are the same with and without a cache.
        prompt: the ids that the decoder reads before it writes, without padding; `sos` alone by default. Required if there
            is no source.

    Raises:
        InputError: `model` is not a network; an id of the source, of the prompt or in `suppress`, or `sos`, is not in the
            vocabulary; `suppress` has the whole vocabulary; there is neither a source nor a prompt, or they have different
            numbers of rows; a forced step or token is not a whole number in its range; `method`, `forced` or an item of
            `logits_processors` has another type; or beam search gets several sources, or edits of single batch `items`.
        ConfigError: `max_new_tokens` is not a whole number, or `traced` or `cached` is not True or False.
        PathError: an edit does not fit the model. The call raises all errors, except those that only a step can find, such
            as an edit whose values have another shape than the decoder's tensor: that step raises them.
    """
    if not isinstance(model, Network):
        raise InputError("The model must be a Transformer, not {model!r}.", model=model)
    if forced is not None and not isinstance(forced, Mapping):
        raise InputError("Forced tokens are a mapping from step to token id, not {forced!r}.", forced=forced)
    if method is not None and not isinstance(method, Method):
        raise InputError("The method is {method!r}; it must be Greedy(), Sample(…) or Beam(…).", method=method)
    for name, value in (("traced", traced), ("cached", cached)):
        checked(name, value, bool)
    method, forced, logits_processors, edits = (
        method or Greedy(),
        _forced(forced or {}, model.config.target_vocab),
        as_logits_processors(logits_processors),
        as_edits(edits),
    )
    if isinstance(method, Beam) and any(getattr(edit, "items", None) is not None for edit in edits):
        raise InputError("Beam search takes edits without `items`: all rows of its batch are of one text.")
    scope = Scope(model, edits, keep=traced)
    suppressed = known_ids(suppress, model.config.target_vocab)
    if len({*suppressed}) == model.config.target_vocab:
        raise InputError("All tokens of the vocabulary are suppressed; at least one must be allowed.")
    excluded = torch.tensor(suppressed, dtype=torch.long)
    if source is None and prompt is None:
        raise InputError("Without a source, the decoder needs a prompt: the ids that it reads before it writes.")
    if source is not None:
        model.check_ids("source", source)
    start = torch.full((0 if source is None else len(source), 1), sos) if prompt is None else prompt
    model.check_ids("target", start)
    if source is not None and len(source) != len(start):
        template = "There are {sources} sources and {prompts} prompts; each source needs one prompt."
        raise InputError(template, sources=len(source), prompts=len(start))
    most = checked("max_new_tokens", max_new_tokens, int)
    max_new_tokens, pad = min(most, model.config.max_len - start.shape[1]), model.config.target_pad
    # If padded queries are masked with a finite number, a written `<pad>` attends to all tokens equally, also to later ones.
    pad_looks_ahead = model.config.target_padding == "queries" and model.config.mask_fill > -math.inf
    search = method.start(len(start), eos, pad, max_new_tokens)
    cache = model.new_cache() if cached and fits_cache(model, edits) else None
    # The scope is entered only for the computation, because a context that a generator leaves open also applies to its caller.
    # Without tracing and edits no scope is entered, so that taps do not search it.
    watched = scope.entered if traced or edits else nullcontext
    with torch.inference_mode(), watched():
        encoded = (None, None) if source is None else model.encode(source)

    # Traces and edits need the logits of every position. Without either, only the last position is read, because the logits of
    # a long prompt take long.
    rows = None if traced or edits else 1

    def steps() -> Iterator[DecodingStep]:
        (memory, mask), target, kv_cache = encoded, start, cache
        for index in range(max_new_tokens + 1):
            with torch.inference_mode(), watched():
                logits = model.decode(target, memory, mask, kv_cache, rows)[:, -1]
                stages, own = _stages(logits, excluded, logits_processors), logits.log_softmax(-1)
                if suppressed and index not in forced:  # a forced token may be one that the model must not generate
                    own = own.index_fill(-1, excluded, -math.inf)
                choice = search.choose(own, stages[-1].logits, index, forced.get(index))
            values = scope.values.copy() if traced else Recording()
            yield DecodingStep(index, target, stages, choice.made, choice.kept, index in forced, index < max_new_tokens, values)
            if choice.finished and (not choice.rows or index >= max(forced, default=0)):
                return
            if pad_looks_ahead and any(made.token == pad for made in choice.made):
                kv_cache = None  # from here on, each new token changes the tensors of earlier positions
            if choice.rows is not None:
                target = target[choice.rows]
                if memory is not None and mask is not None:
                    memory, mask = memory[:1].expand(len(choice.rows), -1, -1), mask.first()
                if kv_cache:
                    kv_cache.select(choice.rows)
            target = torch.cat([target, torch.tensor(choice.tokens)[:, None]], dim=1)

    return steps()


def limited(limits: Iterable[int], max_new_tokens: int | None) -> list[int]:
    """The limit on the tokens of each answer of a batch: its own limit, or `max_new_tokens` if that is less.

    Args:
        limits: for each text, the most tokens that its answer may have.
        max_new_tokens: the limit of the caller for all answers; None for no such limit.

    Raises:
        ConfigError: `max_new_tokens` is not a whole number from 1.
    """
    if max_new_tokens is None:
        return [*limits]
    most = checked("max_new_tokens", max_new_tokens, int)
    within("max_new_tokens", most, 1)
    return [min(limit, most) for limit in limits]


def greedy(
    model: Network,
    source: Int[Tensor, "batch source"] | None,
    sos: int,
    eos: int,
    max_new_tokens: int,
    suppress: Sequence[int] = (),
    edits: Sequence[Edit] = (),
    forced: Mapping[int, int] | None = None,
    prompt: Int[Tensor, "batch length"] | None = None,
) -> GeneratedIds:
    """The token ids that greedy decoding writes: the most probable token is appended to the decoder's input until that token is
    `<eos>`, or the answer has `max_new_tokens` tokens. `suppress` are ids that must not be written unless `forced` (step, from
    0 → id); `prompt` is what the decoder reads first, by default `sos`. `generate` explains the other arguments and the
    errors."""
    steps = generate(
        model, source, sos, eos, max_new_tokens, forced=forced, suppress=suppress, edits=edits, traced=False, prompt=prompt
    )
    ids: list[list[int]] = []
    ended: list[bool] = []
    log_probabilities: list[list[float]] = []
    for step in steps:
        if not ids:
            ids, log_probabilities = [[] for _ in step.input_ids], [[] for _ in step.input_ids]
            ended = [False] * len(step.input_ids)
        for hypothesis in step.hypotheses:
            if hypothesis.ended:
                ended[hypothesis.row] = True
            elif step.room:
                ids[hypothesis.row].append(hypothesis.token)
            else:
                continue
            log_probabilities[hypothesis.row].append(hypothesis.log_probability)
    return GeneratedIds(ids, ended, log_probabilities)


def _forced(forced: Mapping[int, int], vocab: int) -> dict[int, int]:
    for index, token in forced.items():
        whole = all(isinstance(value, Integral) and not isinstance(value, bool) for value in (index, token))
        if not whole or index < 0 or not 0 <= token < vocab:
            template = "The token {token!r} cannot be forced at step {index!r}; allowed are ids 0 to {most}, at steps from 0."
            raise InputError(template, token=token, index=index, most=vocab - 1)
    return {int(index): int(token) for index, token in forced.items()}


def _stages(
    logits: Float[Tensor, "row vocab"], excluded: Int[Tensor, " token"], logits_processors: Sequence[LogitsProcessor]
) -> tuple[Stage, ...]:
    stages = [Stage(OWN, logits)]
    if len(excluded):
        stages.append(Stage(ALLOWED, logits.index_fill(-1, excluded, -math.inf)))
    for processor in logits_processors:
        stages.append(Stage(processor, processor.apply(stages[-1].logits)))
    return tuple(stages)
