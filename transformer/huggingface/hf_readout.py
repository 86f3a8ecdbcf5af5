"""How the logits of a model of `transformers` are computed from its residual stream (`transformer.tracing.readout`)."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from transformer.analysis.logit_contributions import logit_contributions
from transformer.errors import HeadlightError
from transformer.huggingface.families import Stack
from transformer.huggingface.hooks import find_module
from transformer.tracing.paths import SUBLAYERS, TensorPath
from transformer.tracing.readout import Norm, Readout, Sublayer

# Names of the norm after the last layer of a stack.
FINAL_NORMS = ("layer_norm", "final_layer_norm", "final_layernorm", "final_norm", "norm", "ln_f")
# The largest rounding error, absolute and relative, of the logits that the readout gives and of the sum of the contributions to
# a logit.
TOLERANCE = 1e-3


@torch.inference_mode()
def checked_readout(model: Any, stack: Stack, norm_first: bool, values: Mapping[str, Tensor]) -> Readout | None:
    """How a decoder computes its logits from its residual stream (its readout), tested on one forward pass.

    Args:
        model: a model of `transformers`.
        stack: the decoder of the model.
        norm_first: whether norms come before the sub-layers.
        values: path → tensor of a traced forward pass, on which the readout is tested.

    Returns:
        The readout; None if it does not give the logits of that pass, or the contributions to a logit do not add up to it.
    """
    try:
        readout = _readout(model, stack, norm_first, values)
        read, logits = readout.logits(values[readout.stream[-1]]), values["logits"]
        parts = logit_contributions(readout, values, token=0)
    except (AttributeError, HeadlightError, KeyError, RuntimeError, StopIteration):  # a model of unknown structure
        return None
    close = torch.allclose(read, logits, rtol=TOLERANCE, atol=TOLERANCE)
    adds_up = abs(parts.values.sum() - parts.logit) <= TOLERANCE * (1 + abs(parts.logit))
    return readout if close and adds_up else None


def final_norm(model: Any, stack: Stack) -> nn.Module | None:
    """The norm after the last layer of a stack; None if there is no such norm."""
    module = find_module(model, stack.module)
    norms = (getattr(module, name, None) for name in FINAL_NORMS)
    return next((norm for norm in norms if isinstance(norm, nn.Module)), None)


def _readout(model: Any, stack: Stack, norm_first: bool, values: Mapping[str, Tensor]) -> Readout:
    config, head = model.config, model.get_output_embeddings()
    start = next(path for name in ("stream", "sum") if (path := f"target_embedding.{name}") in values)
    first = find_module(model, stack.embedding["normalized"].module) if "normalized" in stack.embedding else None
    layers: Any = find_module(model, stack.layers)
    sublayers = tuple(
        _sublayer(
            layer, stack, TensorPath("decoder", index, name), norm_first, float(getattr(config, "residual_multiplier", 1))
        )
        for index, layer in enumerate(layers)
        for name in SUBLAYERS["decoder"]
        if name in stack.attentions or name == "feed_forward"
    )
    last = "sum" if norm_first else "normalized"
    ends = tuple(str(sub.path.add_norm / last) for sub in sublayers if sub.path.sublayer == "feed_forward")
    norm, smaller = final_norm(model, stack), getattr(find_module(model, stack.module), "project_out", None)
    bias = getattr(model, "final_logits_bias", None)
    return Readout(
        start=start,
        position=next((path for path in ("target_embedding.position",) if path in values), ""),
        first=None if first is None else Norm(first, start),
        stream=(start if first is None else "target_embedding.normalized", *ends),
        sublayers=sublayers,
        final=None if norm is None else Norm(norm, ends[-1]),
        weight=head.weight.detach(),
        bias=head.bias.detach() if head.bias is not None else None if bias is None else bias[0].detach(),
        smaller=None if smaller is None else smaller.weight.detach(),
        factor=_factor(config),
        cap=float(getattr(config, "final_logit_softcapping", None) or 0),
    )


def _sublayer(layer: nn.Module, stack: Stack, path: TensorPath, norm_first: bool, factor: float) -> Sublayer:
    """The sub-layer at `path`, from the points of its stack. `factor` multiplies the tensor that the sub-layer adds to the
    residual stream."""
    norms, weight, bias = f"{path.sublayer}_add_norm", None, None
    if path.kind:
        output: Any = find_module(layer, stack.points[f"{path.sublayer}.output"].module)
        weight, bias = output.weight.detach(), None if output.bias is None else output.bias.detach()
        weight = weight.T if isinstance(output, Conv1D) else weight
    after = stack.points.get(f"{norms}.normalized_output")
    post = None if norm_first else find_module(layer, stack.points[f"{norms}.normalized"].module)
    return Sublayer(
        path,
        weight,
        bias,
        None if after is None else Norm(_found(layer, after.module), str(path / "output")),
        factor,
        None if post is None else Norm(post, str(path.add_norm / "sum")),
    )


def _found(layer: nn.Module, path: str) -> nn.Module:
    module = find_module(layer, path)
    if module is None:
        raise AttributeError(path)
    return module


def _factor(config: Any) -> float:
    """The factor of the product of the vectors with the weights of the output layer."""
    scaled = getattr(config, "scale_decoder_outputs", False)
    return (config.d_model**-0.5 if scaled else 1.0) / float(getattr(config, "logits_scaling", 1))
