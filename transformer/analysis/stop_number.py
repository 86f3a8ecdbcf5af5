"""The computation of any single number of a tensor outside the attention heads: embeddings, residual sums, LayerNorms,
feed-forward networks, logits and probabilities. For the numbers of attention heads, see `cell.py`. A `Stop` describes a tensor;
`walk(trace)` returns one for each tensor.

    explanation = explain_stop(model, trace, stop, row=3, column=5)
    explanation.operation, explanation.terms, explanation.result
"""

import numpy as np
import torch
from torch import nn

from transformer.analysis.cell import Computation, Explanation, Term, linear_output, softmax_of
from transformer.analysis.checks import check_traced
from transformer.analysis.provenance import ACTIVATIONS
from transformer.analysis.walk import Stop, check_stop
from transformer.network.layers import ACTIVATIONS as FUNCTIONS
from transformer.network.model import Transformer
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Trace

# Axes of a tensor that are not its rows and columns.
OUTER = ("batch", "1")


def explain_stop(model: Transformer, trace: Trace, stop: Stop, row: int, column: int, item: int = 0) -> Explanation | None:
    """The computation of one number of a tensor outside the attention heads: the operation, its terms and the result.

    Args:
        model: the model that was traced. Its weights are read.
        trace: every tensor of a forward pass of the model in evaluation mode.
        stop: the tensor that has the number: one of the descriptions that `walk(trace)` returns.
        row, column: place of the number in the tensor's matrix for this text, counted from 0.
        item: number of the text in the batch, counted from 0.

    Returns:
        The computation. None if the tensor has heads, or if its numbers are copied or not computed from other numbers of the
        trace: masks, rows of a table, sinusoidal positions.

    Raises:
        InputError: `model` is not a Transformer; `trace` is not a Trace, or is of another model; or `stop` is not a Stop.
        PathError: there is no such row, column or batch item.
    """
    check_traced(model, trace)
    check_stop(stop)
    check_index("item", item, trace.batch_size)
    if stop.operation not in COMPUTATIONS or len([axis for axis in stop.axes if axis not in OUTER]) != 2:
        return None
    result = _matrix(trace, stop.path, item)
    check_index("row", row, result.shape[0])
    check_index("column", column, result.shape[1])
    inputs = [_matrix(trace, path, item) for path in stop.inputs]
    computation = COMPUTATIONS[stop.operation](model, trace, stop, inputs, row, column)
    if computation is None:
        return None
    operation, terms, extra, computed = computation
    return Explanation(stop.kind, row, column, operation, terms, extra, computed, float(result[row, column]))


def _matrix(trace: Trace, path: str, item: int) -> np.ndarray:
    """The matrix of the tensor at `path` for one text. A tensor without a batch axis is the same for all texts."""
    values = trace[path].numpy()
    return values[item if values.shape[0] > 1 else 0] if trace[path].axes[0] == "batch" else values


def _sum(_: Transformer, __: Trace, stop: Stop, inputs: list[np.ndarray], row: int, column: int) -> Computation:
    values = [float(matrix[row, column]) for matrix in inputs]
    terms = tuple(Term(path, value, 1.0, value) for path, value in zip(stop.inputs, values, strict=True))
    return "sum", terms, (), sum(values)


def _linear(model: Transformer, _: Trace, stop: Stop, inputs: list[np.ndarray], row: int, column: int) -> Computation | None:
    module = model.get_submodule(stop.parameters[0].rpartition(".")[0])
    if not isinstance(module, nn.Linear) or module.in_features != inputs[0].shape[-1]:
        return None
    return linear_output(module, inputs[0][row], column, "in")


def _norm(model: Transformer, trace: Trace, stop: Stop, inputs: list[np.ndarray], row: int, column: int) -> Computation:
    vector = inputs[0][row].astype(float)
    gamma, beta = (float(model.get_parameter(name)[column].detach()) for name in stop.parameters)
    mean, variance, eps = float(vector.mean()), float(vector.var()), trace.config.norm_eps
    value = float(vector[column])
    extra = (("mean", mean), ("variance", variance), ("eps", eps), ("gamma", gamma), ("beta", beta))
    return "LayerNorm", (Term("x", value, 1.0, value),), extra, (value - mean) / (variance + eps) ** 0.5 * gamma + beta


def _softmax(_: Transformer, __: Trace, ___: Stop, inputs: list[np.ndarray], row: int, column: int) -> Computation:
    return softmax_of(inputs[0][row].astype(float), column, "vocab")


def _scaled(_: Transformer, trace: Trace, __: Stop, inputs: list[np.ndarray], row: int, column: int) -> Computation:
    value, scale = float(inputs[0][row, column]), trace.config.d_model**0.5
    return "sum of products", (Term("x", value, scale, value * scale),), (), value * scale


def _activated(_: Transformer, trace: Trace, __: Stop, inputs: list[np.ndarray], row: int, column: int) -> Computation:
    value = float(inputs[0][row, column])
    result = float(FUNCTIONS[trace.config.activation](torch.tensor(value, dtype=torch.float64)))
    return "made from", (Term("x", value, 1.0, value),), (), result


# Operation of a stop → function that computes one of its numbers.
COMPUTATIONS = {
    "add": _sum,
    "linear map": _linear,
    "LayerNorm": _norm,
    "softmax": _softmax,
    "multiply": _scaled,
    **dict.fromkeys(ACTIVATIONS.values(), _activated),
}
