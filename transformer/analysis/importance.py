"""The importance of each head for one token of the answer: how much the token's log-probability drops without the head."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.analysis.checks import check_language_head, check_network, check_number
from transformer.errors import InputError
from transformer.network.tap import Edit, tracing
from transformer.pipeline.decoding.generate import Network
from transformer.text.vocabulary import known_ids
from transformer.tracing.interventions import silence
from transformer.tracing.paths import Kind

BATCH_SIZE = 16  # heads per forward pass; each head is silenced in its own item of the batch


class Progress(NamedTuple):
    """The importance of the heads that have been measured so far.

    Attributes:
        done, total: number of heads that have been silenced so far, and number of all heads.
        before: log-probability of the token with no head silenced, in nats.
        drops: kind of attention (`encoder`, `decoder`, `cross`) → drop in log-probability, in nats, for each layer and head;
            NaN for heads that have not been silenced yet. A positive drop means that the token is less probable without the
            head. Later results do not change these arrays.
    """

    done: int
    total: int
    before: float
    drops: dict[str, Float[np.ndarray, "layer head"]]


def head_counts(model: Network) -> dict[str, tuple[int, int]]:
    """Kind of attention (`encoder`, `decoder`, `cross`) → number of layers, and number of heads in each layer. Kinds that the
    model lacks are left out.

    Raises:
        InputError: `model` is not a network.
    """
    check_network(model)
    config = model.config
    layers, counts = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}, {}
    for kind in Kind:
        tap = model.taps.get(str(kind.path(0) / "weights"))
        if tap is not None:
            counts[str(kind)] = (layers[kind.stack], tap.heads or config.heads)
    return counts


class Predictions(NamedTuple):
    """The probabilities of wanted tokens: those that the rows of the logits should predict (`predictions`).

    Attributes:
        given: the probability of each wanted token, 0 to 1.
        best: for each wanted token, the id of the most probable token in the same row of the logits.
    """

    given: Float[np.ndarray, " row"]
    best: Int[np.ndarray, " row"]


@torch.inference_mode()
def predictions(
    model: Network,
    source: Int[Tensor, "1 source"] | None,
    target: Int[Tensor, "1 target"],
    wanted: Sequence[int],
    edits: Sequence[Edit] = (),
) -> Predictions:
    """Run one forward pass with edits, and return the probabilities of the wanted tokens.

    Args:
        model: a Transformer, or the network of a Hugging Face model (`pipeline.network`), in evaluation mode. Not changed.
        source, target: token ids; the target is the decoder's input. The source is None for a model with only a decoder.
        wanted: the id of the token that each row of the logits should predict, from the first row on.
        edits: interventions in the forward pass.

    Raises:
        InputError: `model` is not a network, has no language head, or cannot read the ids; or `wanted` is not a list of ids of
            the target vocabulary, or has more ids than there are rows.
        PathError: an edit is not an intervention, or does not fit the model.
    """
    check_language_head(model)
    wanted = known_ids(wanted, model.config.target_vocab)
    model.check_ids("target", target)
    check_number("number of wanted ids", len(wanted), 0, target.shape[-1])
    with tracing(model, edits, keep=False):
        rows = model(source, target)[0, : len(wanted)].softmax(-1)
    return Predictions(rows[torch.arange(len(rows)), wanted].numpy(), rows.argmax(-1).numpy())


@torch.inference_mode()
def head_importance(
    model: Network,
    source: Int[Tensor, "1 source"] | None,
    target: Int[Tensor, "1 target"],
    position: int,
    token: int,
    edits: Sequence[Edit] = (),
) -> Iterator[Progress]:
    """Silence each head of the model in turn (set its attention weights to 0), and measure how much the log-probability of a
    token drops. Yields all drops so far after each batch of up to 16 heads (`BATCH_SIZE`).

    Args:
        model: a Transformer, or the network of a Hugging Face model (`pipeline.network`), in evaluation mode. Not changed.
        source, target: token ids; the target is the decoder's input. The source is None for a model with only a decoder.
        position: the row of the logits that predicts the token, counted from 0.
        token: id of the token.
        edits: interventions in every run, also in the run without a silenced head.

    Raises:
        InputError: `model` is not a network, or has no language head; the model cannot read the ids; a side does not have
            exactly one text; the target has no such position; or the target vocabulary has no such token.
        PathError: an edit is not an intervention, or does not fit the model.
    """
    check_language_head(model)
    config = model.config
    for name, ids in (("source", source), ("target", target)):
        if ids is not None or name == "target" or config.encoder_layers:  # a decoder alone has no source
            model.check_ids(name, ids)
        if ids is not None and len(ids) != 1:
            raise InputError("{name} has {count} texts; it must have one.", name=name, count=len(ids))
    check_number("position", position, 0, target.shape[1] - 1)
    check_number("token", token, 0, config.target_vocab - 1)
    drops = {kind: np.full(shape, np.nan) for kind, shape in head_counts(model).items()}
    places = [(kind, layer, head) for kind, values in drops.items() for layer, head in np.ndindex(values.shape)]
    with tracing(model, edits, keep=False):
        before = model(source, target)[0, position].log_softmax(-1)[token].item()
    for start in range(0, len(places), BATCH_SIZE):
        chunk = places[start : start + BATCH_SIZE]
        silenced = [silence(kind, layer, (head,), (item,)) for item, (kind, layer, head) in enumerate(chunk)]
        with tracing(model, [*edits, *silenced], keep=False):
            sources = None if source is None else source.expand(len(chunk), -1)
            logits = model(sources, target.expand(len(chunk), -1))[:, position]
        after = logits.log_softmax(-1)[:, token].tolist()
        for (kind, layer, head), value in zip(chunk, after, strict=True):
            drops[kind][layer, head] = before - value
        yield Progress(start + len(chunk), len(places), before, {kind: values.copy() for kind, values in drops.items()})
