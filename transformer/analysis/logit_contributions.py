"""The logit of a token as a sum of contributions: one for each vector that was added to the residual stream.

The logit of a token is the dot product of the last vector of the stream with the token's row of the output layer, plus a bias.
The vector is a sum: token and position, each head, each feed-forward network, biases. A LayerNorm subtracts the mean of the
vector and divides the result by its standard deviation; an RMSNorm divides by the root mean square. If the divisor is fixed at
its value in this run, the norm is linear. So the norm can be applied to each part of the sum alone, and the contributions add
up to the logit.

The contributions do not predict an ablation: removing a part would also change the divisor, and the results of later layers.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.cell import Explanation, explanation_of, product_of, sum_of
from transformer.analysis.checks import check_number, readable_pass
from transformer.errors import InputError, PathError
from transformer.network.model import Transformer
from transformer.tracing.paths import Kind
from transformer.tracing.readout import Norm, Readout, Sublayer
from transformer.tracing.trace import Trace

# Names of the parts of the sum that are not heads of an attention.
TOKEN, POSITION, FEED_FORWARD = "token", "position", "feed_forward"
ATTENTION_BIAS, NORM_BIAS, OUTPUT_BIAS = "attention_bias", "norm_bias", "output_bias"


class Part(NamedTuple):
    """One summand of a logit: what one part of the model adds to it.

    Attributes:
        name: for a head, its kind of attention: `decoder` or `cross`. For other parts: `token`, `position`, `feed_forward`,
            `attention_bias`, `norm_bias` or `output_bias`.
        layer: number of the layer, counted from 0. None outside the layers, and for biases, which are summed over all layers.
        head: number of the head, counted from 0; None for a part that is not a head.
    """

    name: str
    layer: int | None = None
    head: int | None = None


class Contributions(NamedTuple):
    """The contributions to the logit of a token, or to the difference between the logits of two tokens.

    Attributes:
        parts: token, position, the summed biases of attentions and of norms; then heads and feed-forward networks in the order
            in which they run; then the bias of the output layer.
        values: the contribution of each part to `logit`.
        logit: the logit or the difference, as the model computed it; in a model that limits its logits (`Readout.cap`), before
            the limit. Equal to the sum of `values` up to rounding.
    """

    parts: tuple[Part, ...]
    values: Float[np.ndarray, " part"]
    logit: float


@torch.inference_mode()
def logit_contributions(
    model: Readout | Transformer, values: Trace | Mapping[str, Tensor], token: int, against: int | None = None, row: int = 0
) -> Contributions:
    """What each part of the model adds to the logit of a token at the last position of a pass.

    Args:
        model: the model that ran: its `Readout` (`pipeline.readout`), or the Transformer itself. The run may have edits that
            remove a residual connection. After any other edit of the residual stream itself, the sum is not the logit.
        values: the tensors of the pass: a trace, or a mapping from paths to tensors, such as `DecodingStep.values`.
        token: id of the token.
        against: id of a second token, whose logit is subtracted; None for the logit alone.
        row: index of the text in the batch, counted from 0.

    Raises:
        InputError: `model` is neither a Readout nor a Transformer, `values` is neither a Trace nor a mapping of paths to
            tensors, or comes from a model with another d_model; there is no such token or row; or a tensor that is summed is
            missing.
    """
    readout, values = _checked(model, values, token, against, row)
    end = values[readout.stream[-1]][row, -1]
    # If the model limits its logits at the end (`cap`), the contributions add up to the logits before the limit.
    logits = readout.uncapped(end[None, None])[0, 0] if readout.cap else values["logits"][row, -1]
    direction, bias = _direction(readout, token, against)
    logit = float(logits[token]) - (0.0 if against is None else float(logits[against]))
    shares = {part: float(vector @ direction) for part, vector in _stream(readout, values, row).items()}
    shares[Part(OUTPUT_BIAS)] = bias
    return Contributions(tuple(shares), np.array([*shares.values()]), logit)


@torch.inference_mode()
def contribution(
    model: Readout | Transformer,
    values: Trace | Mapping[str, Tensor],
    part: Part,
    token: int,
    against: int | None = None,
    row: int = 0,
) -> Explanation:
    """The computation of one part's contribution to the logit of a token: a dot product; for the bias of the output layer, a
    sum. `values` are the tensors of a pass; `against` is the id of a token whose logit is subtracted, or None; `row` is the
    text in the batch, from 0. Other errors are those of `logit_contributions`.

    Args:
        part: one of the `Contributions.parts` that `logit_contributions` returns.

    Raises:
        PathError: there is no such part.
    """
    readout, values = _checked(model, values, token, against, row)
    direction, bias = _direction(readout, token, against)
    vectors = _stream(readout, values, row) | {Part(OUTPUT_BIAS): None}
    if part not in vectors:
        raise PathError("There is no part {part}; allowed are {parts}.", part=part, parts=", ".join(map(str, vectors)))
    vector = vectors[part]
    if vector is None:
        biases = {
            index: 0.0 if readout.bias is None else float(readout.bias[index])
            for index in (token, against)
            if index is not None
        }
        return explanation_of(
            sum_of({f"token {index}": value if index == token else -value for index, value in biases.items()}), bias
        )
    return explanation_of(product_of(vector.numpy(), direction.numpy(), "d_model"), float(vector @ direction))


def _checked(
    model: Readout | Transformer, values: Trace | Mapping[str, Tensor], token: int, against: int | None, row: int
) -> tuple[Readout, Mapping[str, Tensor]]:
    """The readout of a model and the tensors of a pass. Raises the errors of `logit_contributions`."""
    readout, values = readable_pass(model, values)
    for path in ("logits", *_summed(readout, values)):
        if path not in values:
            raise InputError("There is no tensor {path}; contributions need a traced pass of the decoder.", path=path)
    check_number("token", token, 0, len(readout.weight) - 1)
    if against is not None:
        check_number("against", against, 0, len(readout.weight) - 1)
    check_number("row", row, 0, len(values["logits"]) - 1)
    return readout, values


def _direction(readout: Readout, token: int, against: int | None) -> tuple[Float[Tensor, " d_model"], float]:
    """The vector and the bias that `Readout.direction` returns for a token, minus those of the token `against`, if given."""
    direction, bias = readout.direction(token)
    if against is None:
        return direction, bias
    other, other_bias = readout.direction(against)
    return direction - other, bias - other_bias


def _summed(readout: Readout, values: Mapping[str, Tensor]) -> list[str]:
    """The paths of the tensors that `_stream` reads. A decoder that ran alone has no tensors of cross-attention."""
    norms, paths = [readout.first, readout.final], [readout.start, readout.stream[-1]]
    paths += [readout.position] if readout.position else []
    for sublayer in readout.sublayers:
        output = str(sublayer.path / "output")
        if output in values or sublayer.path.kind != Kind.CROSS:
            paths += [output] if sublayer.weight is None else [output, str(sublayer.path / "head_output")]
            norms += [sublayer.after, sublayer.post]
    return paths + [norm.reads for norm in norms if norm is not None]


def _stream(readout: Readout, values: Mapping[str, Tensor], row: int) -> dict[Part, Tensor]:
    """Part → the vector that it adds to the last vector of the stream, in double precision."""
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
                parts[part] = parts.get(part, 0) + vector  # the biases of all layers are one part
            _normalize(sublayer.post, values, row, parts)
    _normalize(readout.final, values, row, parts)
    return parts


def _position(readout: Readout, values: Mapping[str, Tensor], row: int) -> Float[Tensor, " d_model"]:
    """The position vector at the last position. In some networks, all texts of the batch have the same position vectors."""
    added = values[readout.position].double()
    return added[-1] if added.ndim == 2 else added[row if len(added) > 1 else 0, -1]


def _is_alone(sublayer: Sublayer, values: Mapping[str, Tensor], row: int) -> bool:
    """Whether an edit replaced the residual sum by the sub-layer's output, so that the stream before the sub-layer is lost."""
    total = str(sublayer.path.add_norm / "sum")
    return total in values and torch.equal(values[total][row, -1], values[str(sublayer.path / "output")][row, -1])


def _output(sublayer: Sublayer, values: Mapping[str, Tensor], row: int) -> dict[Part, Tensor]:
    """The output of a sub-layer as a sum of parts. The parts of an attention are its heads and the bias of the output map."""
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
    """Apply a norm to every vector of `parts`, in place. Each vector is divided by the divisor for the whole sum (`Norm.held`).
    The norm's bias is added to the part `NORM_BIAS`."""
    if norm is None:
        return
    carried, bias = norm.held(values[norm.reads][row, -1], torch.stack([*parts.values()]))
    parts |= zip(parts, carried, strict=True)
    if bias.any():
        parts[Part(NORM_BIAS)] = parts.get(Part(NORM_BIAS), torch.zeros_like(bias)) + bias
