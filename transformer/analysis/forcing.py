"""Teacher forcing and free running: the decoder reads the right tokens, or the tokens that it wrote itself."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from transformer.analysis.checks import check_number
from transformer.analysis.word_trace import check_run
from transformer.errors import InputError
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.trace import Trace, unpadded_length


class Forcing(NamedTuple):
    """How probable each token of a target is to a decoder that has read the tokens before it.

    Attributes:
        ids: ids of the predicted tokens of the target, then of the token that ends an answer, if the vocabulary has one.
        losses: −log of the probability of each of these tokens, in nats.
        probabilities: the probability of each of these tokens, 0 to 1.
        best: for each of these tokens, the id of the most probable token in the same row of the logits.
    """

    ids: tuple[int, ...]
    losses: Float[np.ndarray, " row"]
    probabilities: Float[np.ndarray, " row"]
    best: tuple[int, ...]

    @property
    def loss(self) -> float:
        """The mean of the losses, in nats: the loss that training without label smoothing minimises."""
        return float(self.losses.mean())


def forcing(pipeline: TextPipeline, trace: Trace, first: int = 0) -> Forcing:
    """The probability and the loss of each token of the target, for the first text of a trace.

    Args:
        pipeline: the pipeline that was traced: the model and its vocabularies.
        trace: every tensor of a forward pass over a source and a target.
        first: the first row of the logits that is used, counted from 0. A model with only a decoder reads the text and then
            the target in one sequence; for such a model, give the row of the last token of the text.

    Raises:
        InputError: `pipeline` is not a pipeline, or `trace` is not a trace of this pipeline; the decoder did not run; the
            target has no row `first`; or there is no token to predict.
    """
    target, eos = target_of(pipeline, trace), pipeline.vocabulary("target").eos
    check_number("first", first, 0, len(target) - 1)
    ids = (*target[first + 1 :], *(() if eos is None else (eos,)))
    if not ids:
        raise InputError("The target is empty, and this model has no token that ends an answer. There is nothing to predict.")
    logits = trace.logits[0, first : first + len(ids)]
    chosen = logits.double().log_softmax(-1)[torch.arange(len(ids)), list(ids)].numpy()
    return Forcing(ids, -chosen, np.exp(chosen), tuple(logits.argmax(-1).tolist()))


def target_of(pipeline: TextPipeline, trace: Trace) -> tuple[int, ...]:
    """The target ids of the first text of the batch, as the decoder read them, without the padding at the end.

    Raises:
        InputError: `pipeline` is not a pipeline, `trace` is not a trace of this pipeline, or the decoder did not run.
    """
    check_run(pipeline, trace)
    if not trace.target_ids:
        raise InputError("An encoder alone writes no answer.")
    ids = trace.target_ids[0]
    return ids[: unpadded_length(ids, pipeline.vocabulary("target").pad)]


def parting(first: Sequence[Hashable], second: Sequence[Hashable]) -> int | None:
    """The first position, counted from 0, at which two sequences of tokens or ids differ, or at which one of them has ended.
    None if the sequences are equal.

    Raises:
        InputError: `first` or `second` is not a sequence.
    """
    if not isinstance(first, Sequence) or not isinstance(second, Sequence):
        raise InputError("Two rows of tokens are compared, not {first!r} and {second!r}.", first=first, second=second)
    pairs = zip(first, second, strict=False)
    differing = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
    if differing is None and len(first) != len(second):
        return min(len(first), len(second))
    return differing
