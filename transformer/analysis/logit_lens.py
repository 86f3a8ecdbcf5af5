"""Logit lens: the output layer applied to the residual stream after each decoder layer, not only after the last.

The output layer was trained on what leaves the last layer. In a pre-norm model every layer adds to one stream, so earlier
points of it can be read in the same way, at least roughly. In a post-norm model each LayerNorm rescales the stream for the
layer that follows, so an earlier point need not be in the form that the output layer reads: a token that appears early is a
finding, one that does not is none.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.analysis.checks import as_readout
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.pipeline.decoding.tree import Written
from transformer.tracing.readout import Readout


@torch.inference_mode()
def logit_lens(model: Readout | Transformer, values: Mapping[str, Tensor]) -> Float[Tensor, "point batch target vocab"]:
    """The logits that the output layer gives at each point of the decoder's residual stream: at its start, then after each
    layer. The norm after the last layer is applied first where the model has one. The last point has the model's own.

    Args:
        model: whose output layer is applied: `pipeline.readout`, or our own network.
        values: path → tensor of one pass of that model, such as `DecodingStep.values`.

    Raises:
        InputError: not a model, or a tensor of the stream is missing.
    """
    readout = as_readout(model)
    for path in readout.stream:
        if path not in values:
            raise InputError("There is no tensor {path}; the logit lens needs a traced pass of the decoder.", path=path)
    return torch.stack([readout.logits(values[path]) for path in readout.stream])


class AnswerLens(NamedTuple):
    """The logit lens at every step of an answer, each at the position that chose its token.

    Attributes:
        top: the most probable token at each point of the stream.
        shares: its probability there.
        ranks: how many tokens are more probable there than the one that was written.
    """

    top: Int[np.ndarray, "point step"]
    shares: Float[np.ndarray, "point step"]
    ranks: Int[np.ndarray, "point step"]


def answer_lens(model: Readout | Transformer, written: Written) -> AnswerLens:
    """The logit lens of the steps that wrote an answer. Arguments and errors as for `logit_lens`."""
    chain = written.chain(written.best)
    columns = [logit_lens(model, written.steps[made.step].values)[:, made.row, -1:] for made in chain]
    logits = torch.cat(columns, dim=1).double()
    top = logits.max(-1)
    above = ranks(logits[:, None], torch.tensor([[made.token for made in chain]]))[:, 0]
    return AnswerLens(top.indices.numpy(), (top.values - logits.logsumexp(-1)).exp().numpy(), above.numpy())


def ranks(
    logits: Float[Tensor, "point batch target vocab"], tokens: Int[Tensor, "batch target"]
) -> Int[Tensor, "point batch target"]:
    """How many tokens have a higher logit than the given one: 0 where it is the most probable."""
    own = logits.gather(-1, tokens[None, ..., None].expand(len(logits), -1, -1, -1))
    return (logits > own).sum(-1)
