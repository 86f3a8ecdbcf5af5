"""What pushed a token: its logit as a sum over everything that was added to the residual stream.

The logit of a token is the dot product of the last vector of the stream with that token's row of the output layer, plus a bias.
The vector is a sum: token and position, each head, each feed-forward network, biases. A LayerNorm on its way subtracts the mean
and divides by the spread, an RMSNorm only divides. With the spread held at the value it had in this run, that is linear, so
each part of the sum can be carried through it alone, and the contributions add up to the logit exactly.

Held scales are the limit of this view: taking a part away would change the spread too, and what later layers compute. An
ablation says what happens then.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.checks import as_readout, check_number
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.tracing.paths import Kind
from transformer.tracing.readout import Norm, Readout, Sublayer

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
        logit: the logit, or the difference, as the model computed it; before `Readout.cap` where there is one. `values` add up
            to it, but for rounding.
    """

    parts: tuple[Part, ...]
    values: Float[np.ndarray, " part"]
    logit: float


@torch.inference_mode()
def logit_contributions(
    model: Readout | Transformer, values: Mapping[str, Tensor], token: int, against: int | None = None, row: int = 0
) -> Contributions:
    """The contributions at the last position of a pass.

    Args:
        model: that ran: `pipeline.readout`, or our own network. Of edits of the residual stream itself, only the one that
            leaves out a residual connection is known here; after any other, the sum is not the logit.
        values: path → tensor of the pass, such as `DecodingStep.values`.
        token: id of the token.
        against: id of a second token, whose logit is subtracted; None for the logit alone.
        row: of the batch.

    Raises:
        InputError: not a model, no such token or row, or the pass was not traced.
    """
    readout = as_readout(model)
    if "logits" not in values:
        raise InputError("There is no tensor logits; contributions need a traced pass of the decoder.")
    for name, given in (("token", token), ("against", against)):
        if given is not None:
            check_number(name, given, 0, len(readout.weight) - 1)
    check_number("row", row, 0, len(values["logits"]) - 1)
    end = values[readout.stream[-1]][row, -1]
    # Where logits are squeezed at the end, the sum is that before.
    logits = readout.uncapped(end[None, None])[0, 0] if readout.cap else values["logits"][row, -1]
    direction, bias = readout.direction(token)
    logit = float(logits[token])
    if against is not None:
        other, other_bias = readout.direction(against)
        direction, bias, logit = direction - other, bias - other_bias, logit - float(logits[against])
    shares = {part: float(vector @ direction) for part, vector in _stream(readout, values, row).items()}
    shares[Part(OUTPUT_BIAS)] = bias
    return Contributions(tuple(shares), np.array([*shares.values()]), logit)


def _stream(readout: Readout, values: Mapping[str, Tensor], row: int) -> dict[Part, Tensor]:
    """The last vector of the stream as a sum, in double precision."""
    start = values[readout.start][row, -1].double()
    position = _position(readout, values, row) if readout.position else torch.zeros_like(start)
    parts = {
        Part(TOKEN): start - position,
        Part(POSITION): position,
        Part(ATTENTION_BIAS): torch.zeros_like(start),
        Part(NORM_BIAS): torch.zeros_like(start),
    }
    if not readout.position:
        del parts[Part(POSITION)]
    _normalize(readout.first, values, row, parts)
    for sublayer in readout.sublayers:
        if str(sublayer.path / "output") in values:  # a decoder that ran alone has no cross-attention
            added = _output(sublayer, values, row)
            if _is_alone(sublayer, values, row):
                parts = dict.fromkeys(parts, torch.zeros_like(start))
            else:
                _normalize(sublayer.after, values, row, added)
                added = {part: sublayer.factor * vector for part, vector in added.items()}
            for part, vector in added.items():
                parts[part] = parts.get(part, 0) + vector  # a bias is that of all layers
            _normalize(sublayer.post, values, row, parts)
    _normalize(readout.final, values, row, parts)
    return parts


def _position(readout: Readout, values: Mapping[str, Tensor], row: int) -> Float[Tensor, " d_model"]:
    """What was added for the last position. Some networks have one table for all texts."""
    added = values[readout.position].double()
    return added[-1] if added.ndim == 2 else added[row if len(added) > 1 else 0, -1]


def _is_alone(sublayer: Sublayer, values: Mapping[str, Tensor], row: int) -> bool:
    """Whether an edit put a sub-layer's output in the place of the sum, so that nothing before it goes on."""
    total = str(sublayer.path.add_norm / "sum")
    return total in values and torch.equal(values[total][row, -1], values[str(sublayer.path / "output")][row, -1])


def _output(sublayer: Sublayer, values: Mapping[str, Tensor], row: int) -> dict[Part, Tensor]:
    """The output of a sub-layer as a sum; of an attention, head by head, and the bias of the map after them."""
    path, kind = sublayer.path, sublayer.path.kind
    if sublayer.weight is None or kind is None:
        parts = {Part(FEED_FORWARD, path.layer): values[str(path / "output")][row, -1].double()}
    else:
        heads = values[str(path / "head_output")][row, :, -1].double()
        # d_model (head d_head) → head d_model d_head: the columns that read each head
        columns = sublayer.weight.double().unflatten(1, heads.shape).transpose(0, 1)
        vectors = (columns @ heads[..., None])[..., 0]
        parts = {Part(str(Kind.of(kind)), path.layer, head): vector for head, vector in enumerate(vectors)}
        if sublayer.bias is not None:
            parts[Part(ATTENTION_BIAS)] = sublayer.bias.double()
    return parts


def _normalize(norm: Norm | None, values: Mapping[str, Tensor], row: int, parts: dict[Part, Tensor]) -> None:
    """Carry every part through a norm whose spread is held at that of the whole sum."""
    if norm is None:
        return
    carried, bias = norm.held(values[norm.reads][row, -1], torch.stack([*parts.values()]))
    parts |= zip(parts, carried, strict=True)
    if bias.any():
        parts[Part(NORM_BIAS)] = parts.get(Part(NORM_BIAS), torch.zeros_like(bias)) + bias
