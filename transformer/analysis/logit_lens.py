"""Logit lens: the output layer applied to the residual stream after each decoder layer, not only after the last layer.

The output layer was trained on the output of the last layer. In a pre-norm model every layer adds to one stream, so the output
layer can read earlier points of the stream too, at least roughly. In a post-norm model each LayerNorm rescales the stream for
the next layer, so the output layer may not be able to read an earlier point. A token that appears early is therefore a finding,
but a token that does not appear early proves nothing.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.analysis.cell import Explanation, explanation_of, product_of, softmax_of
from transformer.analysis.checks import check_id_tensor, check_tensor, check_tokens, readable_pass
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.pipeline.decoding.generation import Generation
from transformer.tracing.paths import check_index
from transformer.tracing.readout import Readout
from transformer.tracing.trace import Trace


@torch.inference_mode()
def logit_lens(model: Readout | Transformer, values: Trace | Mapping[str, Tensor]) -> Float[Tensor, "point batch target vocab"]:
    """The logits that the output layer computes at each point of the decoder's residual stream: at its start, then after each
    layer. If the model has a norm after the last layer, this norm is applied before the output layer. The last point has the
    logits of the model itself.

    Args:
        model: the model whose output layer is applied: its `Readout` (`pipeline.readout`), or the Transformer itself.
        values: the tensors of one pass: a trace, or a mapping from paths to tensors, such as `DecodingStep.values`.

    Raises:
        InputError: `model` is neither a Readout nor a Transformer, `values` is neither a Trace nor a mapping of paths to
            tensors, `values` comes from a model with another d_model, or a tensor of the stream is missing.
    """
    readout, values = readable_pass(model, values)
    for path in readout.stream:
        if path not in values:
            raise InputError("There is no tensor {path}; the logit lens needs a traced pass of the decoder.", path=path)
    return torch.stack([readout.logits(values[path]) for path in readout.stream])


class AnswerLens(NamedTuple):
    """The logit lens at every step of an answer, at the position whose logits chose the token of the step. A point is a place
    in the decoder's residual stream: at its start, or after a layer.

    Attributes:
        top: the id of the most probable token at each point.
        shares: the probability of this token at the same point, 0 to 1.
        ranks: how many tokens are more probable at this point than the token that was written.
    """

    top: Int[np.ndarray, "point step"]
    shares: Float[np.ndarray, "point step"]
    ranks: Int[np.ndarray, "point step"]


def answer_lens(model: Readout | Transformer, generation: Generation) -> AnswerLens:
    """The logit lens at each step of an answer.

    Args:
        model: the model that wrote the answer: its `Readout` (`pipeline.readout`), or the Transformer itself.
        generation: the steps of the answer. Of several hypotheses, only the best is used.

    Raises:
        InputError: as in `logit_lens`; or `generation` is not a Generation.
    """
    if not isinstance(generation, Generation):
        raise InputError("The answer must be a Generation, as `Generation.of` returns it, not {answer!r}.", answer=generation)
    chain = generation.chain(generation.best)
    columns = [logit_lens(model, generation.steps[made.step].values)[:, made.row, -1:] for made in chain]
    logits = torch.cat(columns, dim=1).double()
    top = logits.max(-1)
    above = ranks(logits[:, None], torch.tensor([[made.token for made in chain]]))[:, 0]
    return AnswerLens(top.indices.numpy(), (top.values - logits.logsumexp(-1)).exp().numpy(), above.numpy())


class LensNumber(NamedTuple):
    """The logit lens at one point of the residual stream in one step of an answer, with the computation of its numbers.

    Attributes:
        token: the id of the most probable token at this point.
        logit: the computation of this token's logit; in a model that limits its logits (`cap`), before the limit.
        share: the computation of this token's probability.
        written: the logit at this point of the token that was written.
        rank: the rank at this point of the token that was written, counted from 1.
        cap: the largest absolute value of a logit (`Readout.cap`); 0 if the logits are not limited.
    """

    token: int
    logit: Explanation
    share: Explanation
    written: float
    rank: int
    cap: float


@torch.inference_mode()
def lens_number(model: Readout | Transformer, generation: Generation, point: int, step: int) -> LensNumber:
    """The computation of the numbers that `answer_lens` returns for row `point` (of the residual stream) and column `step` (of
    the answer), both counted from 0. `model` wrote the answer, and `generation` has its steps. Other errors are those of
    `answer_lens`.

    Raises:
        PathError: the answer has no such step, or the stream no such point.
    """
    if not isinstance(generation, Generation):
        raise InputError("The answer must be a Generation, as `Generation.of` returns it, not {answer!r}.", answer=generation)
    chain = generation.chain(generation.best)
    check_index("step", step, len(chain))
    made = chain[step]
    readout, values = readable_pass(model, generation.steps[made.step].values)
    logits = logit_lens(readout, values)
    check_index("point", point, len(logits))
    scores = logits[point, made.row, -1].double().numpy()
    token = int(scores.argmax())
    vector = values[readout.stream[point]][made.row, -1][None, None]
    row, bias = readout.direction(token)
    uncapped = float(readout.uncapped(vector)[0, 0, token])
    product = product_of(readout.read(vector)[0, 0].numpy(), row.numpy(), "d_model", None if readout.bias is None else bias)
    share = softmax_of(scores, token, "vocab")
    return LensNumber(
        token,
        explanation_of(product, uncapped),
        explanation_of(share, share[-1], token),
        float(scores[made.token]),
        1 + int((scores > scores[made.token]).sum()),
        readout.cap,
    )


def ranks(
    logits: Float[Tensor, "point batch target vocab"], tokens: Int[Tensor, "batch target"]
) -> Int[Tensor, "point batch target"]:
    """For each point and position, how many tokens have a higher logit than the given token; 0 if the given token has the
    highest logit.

    Args:
        logits: the logits at each point of the residual stream, as `logit_lens` returns them.
        tokens: the id of the given token for each position.

    Raises:
        InputError: an argument is not a tensor with these axes, their sizes differ, or a token is not in the vocabulary.
    """
    check_tensor("logits", logits, "point batch target vocab")
    check_id_tensor("tokens", tokens, "batch target")
    check_tokens(logits, tokens)
    own = logits.gather(-1, tokens[None, ..., None].expand(len(logits), -1, -1, -1))
    return (logits > own).sum(-1)
