"""Which head matters for one token of the answer: silence each in turn, and see how much less probable the token becomes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.network.tap import Edit, tracing
from transformer.tracing.interventions import Ablate
from transformer.tracing.paths import Kind

AT_ONCE = 16  # heads silenced side by side in one batch


class Progress(NamedTuple):
    """How far the search is.

    Attributes:
        done, total: heads tried, and all there are.
        before: log-probability of the token with every head at work, in nats.
        drops: kind → drop in log-probability, in nats, for each layer and head; NaN where not tried yet. Positive: without
            the head the token is less probable. Each report has arrays of its own.
    """

    done: int
    total: int
    before: float
    drops: dict[str, Float[np.ndarray, "layer head"]]


@torch.inference_mode()
def head_importance(
    model: Transformer,
    source: Int[Tensor, "1 source"],
    target: Int[Tensor, "1 target"],
    position: int,
    token: int,
    edits: Sequence[Edit] = (),
) -> Iterator[Progress]:
    """Silence every head of every attention in turn, several at once in one batch.

    Args:
        model: in evaluation mode; only run, never changed.
        source, target: ids; the target is the decoder's input.
        position: the row of the logits that predicts the token.
        token: id of the token.
        edits: in force in every run, and in the one it is compared with.

    Raises:
        InputError: a position the target does not have, or a token its vocabulary does not have.
    """
    config = model.config
    for what, index, count in (("position", position, target.shape[1]), ("token", token, config.target_vocab)):
        if not 0 <= index < count:
            raise InputError("{name} is {index!r}; allowed are 0 to {most}.", name=what, index=index, most=count - 1)
    layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
    drops = {str(kind): np.full((layers[kind.stack], config.heads), np.nan) for kind in Kind}
    places = [(kind, layer, head) for kind, found in drops.items() for layer, head in np.ndindex(found.shape)]
    with tracing(model, edits, keep=False):
        before = model(source, target)[0, position].log_softmax(-1)[token].item()
    for start in range(0, len(places), AT_ONCE):
        chunk = places[start : start + AT_ONCE]
        silenced = [
            Ablate(str(Kind.of(kind).path(layer) / "weights"), (head,), items=(item,))
            for item, (kind, layer, head) in enumerate(chunk)
        ]
        with tracing(model, [*edits, *silenced], keep=False):
            logits = model(source.expand(len(chunk), -1), target.expand(len(chunk), -1))[:, position]
        after = logits.log_softmax(-1)[:, token].tolist()
        for (kind, layer, head), value in zip(chunk, after, strict=True):
            drops[kind][layer, head] = before - value
        yield Progress(start + len(chunk), len(places), before, {kind: found.copy() for kind, found in drops.items()})
