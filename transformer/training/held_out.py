"""Loss and exact answers of a model on held-out pairs, in one forward pass."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer.errors import InputError
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import Pair
from transformer.validation import as_list, checked, within


class HeldOut(NamedTuple):
    """The result of a test on pairs that are not used for training.

    Attributes:
        pairs: number of pairs.
        loss: mean cross-entropy over the target tokens of all pairs, in nats, with the label smoothing of the test.
        right_tokens: share of the target tokens that are the most probable token if the decoder reads the right tokens before
            them, 0 to 1.
        exact: share of the pairs in which every target token is the most probable token, 0 to 1. Greedy decoding answers
            exactly these pairs right.
    """

    pairs: int
    loss: float
    right_tokens: float
    exact: float


def batch_of(pipeline: Pipeline, pairs: Sequence[Pair]) -> tuple[Int[Tensor, "batch source"], Int[Tensor, "batch length"]]:
    """The token ids of the sources and of the targets of pairs, both with `<sos>` before and `<eos>` after, padded.

    Raises:
        InputError: `pipeline` is not a Pipeline, there is no pair, a value is not a Pair, or the model cannot read one of the
            texts.
    """
    if not isinstance(pipeline, Pipeline):
        raise InputError("The pipeline must be a Pipeline, as `Pipeline.load` returns it, not {given!r}.", given=pipeline)
    listed = as_list(pairs)
    if listed is None or not all(isinstance(pair, Pair) for pair in listed):
        raise InputError("Pairs are a list of Pair, as `Task.pairs` samples them, not {pairs!r}.", pairs=pairs)
    if not listed:
        raise InputError("There are no pairs to test on.")
    pairs = listed
    rows = [[*pipeline.encode(pair.target, "target").ids, pipeline.target_vocabulary.eos] for pair in pairs]
    return pipeline.batch([pipeline.encode(pair.source).ids for pair in pairs], "source"), pipeline.batch(rows, "target")


@torch.no_grad()
def held_out(pipeline: Pipeline, pairs: Sequence[Pair], smoothing: float = 0.0) -> HeldOut:
    """Test a model on pairs under teacher forcing (the decoder reads the right target), and return its loss and accuracy.

    Args:
        pipeline: the pipeline of the model.
        pairs: at least one pair of a source and its right answer.
        smoothing: ε of label smoothing, 0 to 1. With the ε of the model's training, the loss is the one that was minimised.

    Raises:
        InputError: `pipeline` is not a Pipeline, there is no pair, a value is not a Pair, or the model cannot read a text.
        ConfigError: `smoothing` is not a number from 0 to 1.
    """
    smoothing = checked("smoothing", smoothing, float)
    within("smoothing", smoothing, 0, 1)
    source, target = batch_of(pipeline, pairs)
    logits: Float[Tensor, "batch target vocab"] = pipeline.model(source, target[:, :-1])
    expected = target[:, 1:]
    counted = expected != pipeline.target_vocabulary.pad
    loss = nn.functional.cross_entropy(logits[counted], expected[counted], label_smoothing=smoothing)
    right = (logits.argmax(-1) == expected) | ~counted
    return HeldOut(len(source), loss.item(), right[counted].float().mean().item(), right.all(-1).float().mean().item())
