"""Logit lens: the output layer applied to the residual stream after each decoder layer, not only after the last.

The output layer was trained on what leaves the last layer. In a pre-norm model every layer adds to one stream, so earlier
points of it can be read in the same way, at least roughly. In a post-norm model each LayerNorm rescales the stream for the
layer that follows, so an earlier point need not be in the form that the output layer reads: a token that appears early is a
finding, one that does not is none.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.analysis.checks import check_model
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.tracing.paths import TensorPath


def stream_paths(model: Transformer) -> tuple[str, ...]:
    """The residual stream of the decoder at its start and after each layer, as paths.

    Raises:
        InputError: not a model.
    """
    check_model(model)
    name = "sum" if model.config.norm_first else "normalized"
    layers = range(model.config.decoder_layers)
    return (
        "target_embedding.sum",
        *(str(TensorPath("decoder", layer, "feed_forward").add_norm / name) for layer in layers),
    )


@torch.inference_mode()
def logit_lens(model: Transformer, values: Mapping[str, Tensor]) -> Float[Tensor, "point batch target vocab"]:
    """The logits that the output layer gives at each point of the decoder's residual stream: at its start, then after each
    layer. The LayerNorm after the last layer is applied first where the variant has one. The last point has the model's own.

    Args:
        model: whose output layer is applied.
        values: path → tensor of one pass of that model, such as `DecodingStep.values`.

    Raises:
        InputError: not a model, or a tensor of the stream is missing.
    """
    logits = []
    for path in stream_paths(model):
        if path not in values:
            raise InputError("There is no tensor {path}; the logit lens needs a traced pass of the decoder.", path=path)
        logits.append(model.output_projection(model.decoder.norm(values[path])))
    return torch.stack(logits)


def ranks(
    logits: Float[Tensor, "point batch target vocab"], tokens: Int[Tensor, "batch target"]
) -> Int[Tensor, "point batch target"]:
    """How many tokens have a higher logit than the given one: 0 where it is the most probable."""
    own = logits.gather(-1, tokens[None, ..., None].expand(len(logits), -1, -1, -1))
    return (logits > own).sum(-1)
