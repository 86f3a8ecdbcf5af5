"""What pushed a token: its logit as a sum over everything that was added to the residual stream.

The logit of a token is the dot product of the last vector of the stream with that token's row of the output layer, plus a bias.
The vector is a sum: token and position, each head, each feed-forward network, biases. A LayerNorm on its way subtracts the mean
and divides by the spread. With the spread held at the value it had in this run, that is linear, so each part of the sum can be
carried through it alone, and the contributions add up to the logit exactly.

Held scales are the limit of this view: taking a part away would change the spread too, and what later layers compute. An
ablation says what happens then.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer.analysis.checks import check_model, check_number
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.tracing.paths import SUBLAYERS, Kind, TensorPath

# Parts of the sum that are not heads of an attention.
TOKEN, POSITION, FEED_FORWARD = "token", "position", "feed_forward"
ATTENTION_BIAS, NORM_BIAS, OUTPUT_BIAS = "attention_bias", "norm_bias", "output_bias"


class Part(NamedTuple):
    """A part of the sum.

    Attributes:
        name: a kind of attention (`decoder`, `cross`), or one of the names above.
        layer: counted from 0; None outside the layers, and for biases, which are added up over all layers.
        head: counted from 0; None for a part that is not a head.
    """

    name: str
    layer: int | None = None
    head: int | None = None


class Contributions(NamedTuple):
    """The contributions to the logit of a token, or to the difference between the logits of two.

    Attributes:
        parts: in the order they were added.
        values: of each part.
        logit: the logit, or the difference, as the model computed it. `values` add up to it, but for rounding.
    """

    parts: tuple[Part, ...]
    values: Float[np.ndarray, " part"]
    logit: float


@torch.inference_mode()
def logit_contributions(
    model: Transformer, values: Mapping[str, Tensor], token: int, against: int | None = None, row: int = 0
) -> Contributions:
    """The contributions at the last position of a pass.

    Args:
        model: that ran, without edits of the residual stream.
        values: path → tensor of the pass, such as `DecodingStep.values`.
        token: id of the token.
        against: id of a second token, whose logit is subtracted; None for the logit alone.
        row: of the batch.

    Raises:
        InputError: not a model, no such token or row, or the pass was not traced.
    """
    check_model(model)
    if "logits" not in values:
        raise InputError("There is no tensor logits; contributions need a traced pass of the decoder.")
    for name, given in (("token", token), ("against", against)):
        if given is not None:
            check_number(name, given, 0, model.config.target_vocab - 1)
    check_number("row", row, 0, len(values["logits"]) - 1)
    output = model.output_projection
    direction, bias, logits = output.weight[token].double(), output.bias[token].double(), values["logits"][row, -1].double()
    logit = logits[token]
    if against is not None:
        direction, bias = direction - output.weight[against], bias - output.bias[against]
        logit = logit - logits[against]
    parts = _stream(model, values, row)
    shares = {part: float(vector @ direction) for part, vector in parts.items()} | {Part(OUTPUT_BIAS): float(bias)}
    return Contributions(tuple(shares), np.array([*shares.values()]), float(logit))


def _stream(model: Transformer, values: Mapping[str, Tensor], row: int) -> dict[Part, Tensor]:
    """The last vector of the stream as a sum, in double precision."""
    embedded = values.get("target_embedding.scaled", values["target_embedding.token"])
    parts = {
        Part(TOKEN): embedded[row, -1].double(),
        Part(POSITION): values["target_embedding.position"][-1].double(),
        Part(ATTENTION_BIAS): torch.zeros(model.config.d_model, dtype=torch.float64),
        Part(NORM_BIAS): torch.zeros(model.config.d_model, dtype=torch.float64),
    }
    for layer in range(model.config.decoder_layers):
        for name in SUBLAYERS["decoder"]:
            path = TensorPath("decoder", layer, name)
            if str(path / "output") not in values:  # the decoder ran alone
                continue
            _add_sublayer(model, values, row, path, parts)
            if not model.config.norm_first:
                norm = model.get_submodule(str(path.add_norm / "norm"))
                _normalize(norm, values[str(path.add_norm / "sum")][row, -1], parts)
    if model.config.final_norm:
        last = TensorPath("decoder", model.config.decoder_layers - 1, "feed_forward").add_norm
        end = values[str(last / ("sum" if model.config.norm_first else "normalized"))]
        _normalize(model.decoder.norm, end[row, -1], parts)
    return parts


def _add_sublayer(
    model: Transformer, values: Mapping[str, Tensor], row: int, path: TensorPath, parts: dict[Part, Tensor]
) -> None:
    """Add the output of a sub-layer; of an attention, head by head, and the bias of its output layer."""
    kind = path.kind
    if kind is None:
        parts[Part(FEED_FORWARD, path.layer)] = values[str(path / "output")][row, -1].double()
        return
    output = model.get_submodule(str(path / "output_projection"))
    assert isinstance(output, nn.Linear)
    heads = values[str(path / "head_output")][row, :, -1].double()
    # d_model (head d_head) → head d_model d_head: the columns that read each head
    columns = output.weight.double().unflatten(1, heads.shape).transpose(0, 1)
    for head, vector in enumerate((columns @ heads[..., None])[..., 0]):
        parts[Part(str(Kind.of(kind)), path.layer, head)] = vector
    if output.bias is not None:
        parts[Part(ATTENTION_BIAS)] = parts[Part(ATTENTION_BIAS)] + output.bias.double()


def _normalize(norm: nn.Module, summed: Float[Tensor, " d_model"], parts: dict[Part, Tensor]) -> None:
    """Carry every part through a LayerNorm whose spread is held at that of the whole sum."""
    assert isinstance(norm, nn.LayerNorm)
    spread = (summed.double().var(unbiased=False) + norm.eps).sqrt()
    for part, vector in parts.items():
        parts[part] = norm.weight.double() * (vector - vector.mean()) / spread
    parts[Part(NORM_BIAS)] = parts[Part(NORM_BIAS)] + norm.bias.double()
