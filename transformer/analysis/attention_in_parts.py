"""The attention weights of a long text, layer by layer, within a limit of memory.

A trace keeps every tensor: with 12 layers of 12 heads, the weights alone of 2,000 tokens are 144 × 2,000² × 4 bytes = 2.3 GB.
Here a forward pass keeps only the weights of a few layers, and the model runs once for each group of layers.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.checks import check_text_pipeline
from transformer.analysis.importance import head_counts
from transformer.errors import InputError
from transformer.network.tap import Recording, tracing
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.paths import Kind
from transformer.tracing.trace import as_array
from transformer.validation import as_list, checked, within

MEGABYTE = 1_000_000
# How many tensors of equal size exist at once while a part of the model runs. The tests compare the computed memory with the
# measured memory. In an attention: its scores before and after scaling and masking, and its weights. In a feed-forward network:
# its hidden layer, and the tensors that the activation computes. After the last layer: logits and probabilities.
SCORES, HIDDEN, LOGITS = 5, 8, 3
# How many tensors exist during the whole pass: masks, and vectors of the residual stream.
MASKS, STREAMS = 4, 12
TOO_LITTLE = (
    "The attention of {tokens} tokens needs {needed} MB, for one layer at a time; megabytes is {megabytes}. Allow more, or "
    "give a shorter text."
)


class AttentionPart(NamedTuple):
    """The attention weights of one layer.

    Attributes:
        kind: the kind of attention: `encoder`, `decoder` or `cross`.
        layer: number of the layer, counted from 0.
        weights: the weights of all heads; read-only.
    """

    kind: str
    layer: int
    weights: Float[np.ndarray, "head query key"]


class _Text(NamedTuple):
    """The token ids that a network reads, [1, length]; None for a side that does not run."""

    source: Tensor | None
    target: Tensor | None

    def length(self, side: str) -> int:
        """The number of tokens of a side, `source` or `target`; 0 for a side that does not run."""
        ids = self.source if side == "source" else self.target
        return 0 if ids is None else ids.shape[1]


def attention_in_parts(
    pipeline: TextPipeline,
    source: str,
    target: str | None = None,
    kinds: Sequence[str] | None = None,
    megabytes: int | float = 1_000,
) -> Iterator[AttentionPart]:
    """Yield the attention weights of a text, one layer at a time. They equal the weights that `pipeline.trace` records.

        for kind, layer, weights in attention_in_parts(pipeline, text, kinds=["encoder"], megabytes=500):
            print(kind, layer, weights.shape)

    `megabytes` limits the memory of a forward pass and of the weights that the pass keeps. The model itself and the weights
    that the caller keeps need memory in addition. The lower the limit, the more often the model runs. A text may have up to
    `pipeline.longest(side)` tokens; for models of Hugging Face, the environment variables `HEADLIGHT_MODEL_TOKENS` and
    `HEADLIGHT_TRACE_MEGABYTES` raise this maximum.

    Args:
        pipeline: a model with its tokenizer: one of this library, or a Hugging Face model.
        source: the text that the encoder reads. A model with only a decoder reads source and target as one text.
        target: the text that the decoder reads. A model with encoder and decoder needs it, unless `kinds` is `["encoder"]`.
        kinds: kinds of attention: `encoder`, `decoder` or `cross`; None for all kinds that the model has.
        megabytes: the limit, in units of a million bytes.

    Raises:
        InputError: the limit is too small even for one layer at a time (the message says how much is needed), an argument has a
            wrong type, the model cannot read a text or lacks a kind of attention, the target is missing, or there is a target
            for a model with only an encoder.
        ConfigError: `megabytes` is not a number of at least 0.
    """
    check_text_pipeline(pipeline)
    chosen = _kinds(pipeline, kinds)
    megabytes = checked("megabytes", megabytes, float)
    within("megabytes", megabytes, 0)
    text = _encoded(pipeline, source, target, chosen)
    places = [(kind, layer) for kind in chosen for layer in range(head_counts(pipeline.network)[kind][0])]
    room = megabytes * MEGABYTE - _pass_bytes(pipeline, text)
    largest = max(_layer_bytes(pipeline, text, kind) for kind in chosen)
    if room < largest:
        needed = -(-int(megabytes * MEGABYTE - room + largest) // MEGABYTE)
        tokens = max(text.length("source"), text.length("target"))
        raise InputError(TOO_LITTLE, tokens=tokens, needed=needed, megabytes=megabytes)
    return _parts(pipeline, text, places, int(room // largest))


def _parts(pipeline: TextPipeline, text: _Text, places: Sequence[tuple[str, int]], size: int) -> Iterator[AttentionPart]:
    """Yield the weights of each layer in `places`, a list of (kind, layer). The model runs once for each `size` layers."""
    for start in range(0, len(places), size):
        group = {place: str(Kind.of(place[0]).path(place[1]) / "weights") for place in places[start : start + size]}
        stored = _recorded(pipeline, text, [*group.values()]).stored
        for (kind, layer), path in group.items():
            weights = stored.pop(path)
            assert isinstance(weights, Tensor)
            part = AttentionPart(kind, layer, as_array(weights[0]))
            del weights  # so that the caller alone keeps them
            yield part
            del part


@torch.inference_mode()
def _recorded(pipeline: TextPipeline, text: _Text, paths: Sequence[str]) -> Recording:
    """Run the model, and return the tensors at `paths`. If the target is missing, only the encoder runs."""
    network = pipeline.network
    with tracing(network, keep=paths) as values:
        if text.target is None and text.source is not None and "decoder" in pipeline.stacks:
            network.encode(text.source)
        else:
            network(text.source, text.target)
    return values


def _kinds(pipeline: TextPipeline, kinds: Sequence[str] | None) -> tuple[str, ...]:
    """The chosen kinds of attention, each once."""
    existing = [*head_counts(pipeline.network)]
    if kinds is None:
        return tuple(existing)
    listed = None if isinstance(kinds, str) else as_list(kinds)
    if not listed:
        raise InputError("kinds must be a list of kinds of attention, such as ['encoder'], not {kinds!r}.", kinds=kinds)
    chosen = tuple(dict.fromkeys(str(Kind.of(kind)) for kind in listed))
    for kind in chosen:
        if kind not in existing:
            raise InputError("This model has no {kind} attention; it has {kinds}.", kind=kind, kinds=", ".join(existing))
    return chosen


def _encoded(pipeline: TextPipeline, source: str, target: str | None, kinds: Sequence[str]) -> _Text:
    """The token ids of the text, for the sides that the chosen kinds of attention need."""
    ids = pipeline.encode(source, "source").ids
    if pipeline.stacks == ("decoder",):
        joined = ids if target is None else (*ids, *pipeline.encode(target, "target").ids)
        if len(joined) > pipeline.config.max_len:
            template = "Your text has {count} tokens; this model reads up to {most}."
            raise InputError(template, count=len(joined), most=pipeline.config.max_len)
        return _Text(None, pipeline.batch([joined], "target"))
    read = pipeline.batch([ids], "source")
    if pipeline.stacks == ("encoder",) and target is not None:
        raise InputError("An encoder alone has no target.")
    if all(kind == Kind.ENCODER for kind in kinds):
        return _Text(read, None)
    if target is None:
        raise InputError("The attention of the decoder needs a target; give one, or ask for kinds=['encoder'].")
    return _Text(read, pipeline.batch([pipeline.encode(target, "target").ids], "target"))


def _layer_bytes(pipeline: TextPipeline, text: _Text, kind: str) -> int:
    """Bytes of the attention weights of one layer; 0 if this kind of attention does not run."""
    _, heads = head_counts(pipeline.network)[kind]
    queries, keys = text.length(Kind.of(kind).queries), text.length(Kind.of(kind).keys)
    return heads * queries * keys * pipeline.token_table("source").element_size()


def _pass_bytes(pipeline: TextPipeline, text: _Text) -> int:
    """The largest number of bytes that a pass needs at one time, without the weights that are kept. All kinds of attention that
    run are counted, not only the chosen kinds."""
    config, size = pipeline.config, pipeline.token_table("source").element_size()
    source, target = text.length("source"), text.length("target")
    longest = max(source, target)
    attention = SCORES * max(_layer_bytes(pipeline, text, kind) for kind in head_counts(pipeline.network))
    hidden = HIDDEN * longest * config.d_ff * size
    logits = LOGITS * (target or (0 if "decoder" in pipeline.stacks else source)) * config.target_vocab * size
    always = MASKS * longest**2 + STREAMS * (source + target) * config.d_model
    return max(attention, hidden, logits) + always * size
