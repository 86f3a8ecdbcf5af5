"""Residual connection, LayerNorm and feed-forward network at one position: each number is computed again from its inputs.

The numbers are computed in double precision from the single-precision numbers of the trace and the model. So they agree with
the trace up to the rounding of single precision (`Recomputed.largest_difference`).
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float

from transformer.analysis.checks import check_number, check_trace, check_traced
from transformer.analysis.walk import Stop, walk
from transformer.network.layers import ACTIVATIONS
from transformer.network.model import Transformer
from transformer.tracing.paths import TensorPath, check_index
from transformer.tracing.trace import Trace, as_array

Vector = Float[np.ndarray, " d_model"]
Units = Float[np.ndarray, " d_ff"]


@dataclass(frozen=True, eq=False)
class Recomputed:
    """A vector that was computed again, and the same vector in the trace.

    Attributes:
        inputs: paths of the tensors that the vector was computed from.
        path: path of the tensor that the vector is part of.
        result: the vector computed again.
        traced: the vector in the trace.
    """

    inputs: tuple[str, ...]
    path: str
    result: Vector
    traced: Vector

    @property
    def largest_difference(self) -> float:
        """The largest absolute difference between a number of `result` and the same number of `traced`."""
        return float(np.abs(self.result - self.traced).max(initial=0))


@dataclass(frozen=True, eq=False)
class Residual(Recomputed):
    """The residual sum around a sub-layer, at one position: `x` + `added`.

    Attributes:
        x: the residual stream before the sub-layer.
        added: the output of the sub-layer.
    """

    x: Vector
    added: Vector


@dataclass(frozen=True, eq=False)
class Norm(Recomputed):
    """The LayerNorm (x − mean) / √(variance + eps) · gamma + beta, at one position. The variance is the sum of squares divided
    by d_model, not d_model − 1.

    Attributes:
        x: the input.
        mean, variance, eps: the numbers of the formula.
        standard: the input shifted and scaled to mean 0 and variance 1, before gamma and beta.
        gamma, beta: the weight and the bias of the LayerNorm.
    """

    x: Vector
    mean: float
    variance: float
    eps: float
    standard: Vector
    gamma: Vector
    beta: Vector


@dataclass(frozen=True, eq=False)
class FeedForward(Recomputed):
    """The feed-forward network activation(x W₁ + b₁) W₂ + b₂, at one position. The activation is ReLU, GELU or swish.

    Attributes:
        x: the input.
        hidden, activated: the hidden units before and after the activation, computed again.
        fires: True for hidden units that are above zero before the activation.
        push: how far each hidden unit moves the output: its value after the activation times the Euclidean length of its row
            of W₂. Can be negative.
        traced_hidden: the hidden units before the activation, from the trace.
    """

    x: Vector
    hidden: Units
    activated: Units
    fires: Bool[np.ndarray, " d_ff"]
    push: Units
    traced_hidden: Units

    @property
    def share(self) -> float:
        """The share of hidden units that are above zero before the activation, 0 to 1."""
        return float(self.fires.mean())

    def strongest(self, most: int = 10) -> list[int]:
        """The indices, counted from 0, of the hidden units that move the output farthest: those with the largest `push`, the
        largest first. Units that are not above zero before the activation are left out.

        Args:
            most: the largest number of units to return.

        Raises:
            InputError: `most` is not a whole number of at least 0.
        """
        check_number("most", most, 0)
        order = np.argsort(-self.push, kind="stable")[:most]
        return [int(unit) for unit in order if self.fires[unit]]


def residual(trace: Trace, sublayer: str, position: int, item: int = 0) -> Residual:
    """The residual sum around a sub-layer, at one position of a text, computed again from its two terms.

    Args:
        trace: every tensor of a forward pass, as `Pipeline.trace` returns it.
        sublayer: path of the sub-layer's module, such as `encoder.layers.0.feed_forward`.
        position: the position, counted from 0.
        item: number of the text in the batch, counted from 0.

    Raises:
        InputError: `trace` is not a Trace.
        PathError: there is no such sub-layer, position or text.
    """
    stop = _stop(trace, sublayer, "_add_norm.sum")
    x, added = (_vector(trace, path, position, item) for path in stop.inputs)
    return Residual(stop.inputs, stop.path, x + added, _vector(trace, stop.path, position, item), x, added)


def layer_norm(model: Transformer, trace: Trace, sublayer: str, position: int, item: int = 0) -> Norm:
    """The LayerNorm at the input of a sub-layer (pre-norm) or after its residual sum (post-norm), at one position of a text,
    computed again.

    Args:
        model, trace: the model, and every tensor of a forward pass of it.
        sublayer: path of the sub-layer's module, such as `encoder.layers.0.feed_forward`.
        position, item: the position, and the number of the text in the batch, both counted from 0.

    Raises:
        InputError: `model` is not a Transformer, or the trace is of another model.
        PathError: there is no such sub-layer, position or text.
    """
    check_traced(model, trace)
    stop = _stop(trace, sublayer, "_add_norm.normalized")
    x = _vector(trace, stop.inputs[0], position, item)
    gamma, beta = (_parameter(model, name) for name in stop.parameters)
    mean, variance, eps = float(x.mean()), float(((x - x.mean()) ** 2).mean()), trace.config.norm_eps
    standard = (x - mean) / np.sqrt(variance + eps)
    traced = _vector(trace, stop.path, position, item)
    return Norm(stop.inputs, stop.path, standard * gamma + beta, traced, x, mean, variance, eps, standard, gamma, beta)


def feed_forward(model: Transformer, trace: Trace, sublayer: str, position: int, item: int = 0) -> FeedForward:
    """The feed-forward network of a layer, at one position of a text, computed again. The path `sublayer` must be that of a
    feed-forward network, such as `encoder.layers.0.feed_forward`. `position` and `item` (the text in the batch) count from 0.
    Errors are those of `layer_norm`."""
    check_traced(model, trace)
    first, last = (_stop(trace, sublayer, name) for name in (".hidden", ".output"))
    x = _vector(trace, first.inputs[0], position, item)
    (w1, b1), (w2, b2) = ([_parameter(model, name) for name in stop.parameters] for stop in (first, last))
    hidden = w1 @ x + b1
    activated = ACTIVATIONS[trace.config.activation](torch.from_numpy(hidden)).numpy()
    push = activated * np.sqrt((w2 * w2).sum(0))
    traced, traced_hidden = (_vector(trace, path, position, item) for path in (last.path, first.path))
    return FeedForward(
        first.inputs, last.path, w2 @ activated + b2, traced, x, hidden, activated, hidden > 0, push, traced_hidden
    )


def _stop(trace: Trace, sublayer: str, ending: str) -> Stop:
    check_trace(trace)
    path = f"{TensorPath.parse(sublayer)}{ending}"
    trace[path]  # if there is no such path, this raises an error that lists the nearest paths
    return next(stop for stop in walk(trace) if stop.path == path)


def _vector(trace: Trace, path: str, position: int, item: int) -> Float[np.ndarray, " d"]:
    values = trace[path].numpy()
    for name, index, count in (("batch item", item, values.shape[0]), ("position", position, values.shape[1])):
        check_index(name, index, count)
    return values[item, position].astype(np.float64)


def _parameter(model: Transformer, name: str) -> np.ndarray:
    return as_array(model.get_parameter(name)).astype(np.float64)
