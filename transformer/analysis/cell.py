"""The computation of any single number of one attention head, repeated from the numbers that it depends on.

    explanation = explain(model, trace, "encoder", 0, 2, "scores", row=3, column=5)
    explanation.terms, explanation.result, explanation.traced

The numbers are computed in double precision from the single-precision numbers of the trace and the model. So they agree with
the trace up to the rounding of single precision (`Explanation.agrees`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import nn

from transformer.analysis.checks import check_model, check_traced
from transformer.analysis.head_steps import attention_step, head_matrix, step_names, tensor_path
from transformer.errors import PathError
from transformer.network.config import TransformerConfig
from transformer.network.model import Transformer
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Trace, as_array

TOLERANCE = 1e-5


class Term(NamedTuple):
    """One term of the computation of a number: of a sum or a quotient, or the only input.

    Attributes:
        label: for a term of a sum along an axis, the axis and the index, counted from 0: `d_head 3`, `key 5`. For other terms,
            the name of the number or the path of its tensor.
        left, right: the two numbers that the term is computed from, in the order of the formula.
        value: the value of the term.
    """

    label: str
    left: float
    right: float
    value: float


@dataclass(frozen=True)
class Explanation:
    """The computation of one number of a forward pass: the operation, its terms, and the result beside the traced number.

    Attributes:
        step: the kind of tensor that has the number, such as `scores` (`AttentionStep.name`; `walk.Stop.kind` outside the
            heads); "" for a number computed outside the forward pass (`explanation_of`).
        row, column: place of the number in the matrix of one text, counted from 0.
        operation: one of these:
            `given`: the number is an input of this attention, so no operation is repeated.
            `sum of products`: Σ left · right over `terms`, plus the `bias` in `extra`, if there is one.
            `quotient`: left / right of the only term.
            `kept`, `replaced`: the mask keeps the `score` in `extra`, or replaces it by the `fill`.
            `softmax`: in each term, `left` is a score, `right` is the score minus the `largest` score of the row, and `value`
                is e to the power of `right`. The result is the value at `column` divided by the `total`.
            `nothing to look at`: every score of the row is −∞, so every weight of the row is 0.
            `joined`: a copy of the element `dimension` of the output of head `head`; both are in `extra`, counted from 0.
            `recorded`: computed by the code of a Hugging Face model, which is not repeated here.
            `biased`: the sum of the `score` and the `bias`.
            `sum`: the sum of the values of `terms`, each a number of another tensor.
            `made from`: an activation such as ReLU (`Stop.operation`), applied to the only term.
            `LayerNorm`: the only term's number, minus the `mean`, divided by the root of `variance` plus `eps`, times `gamma`,
                plus `beta`.
        terms: the terms of the operation; empty for `given`, `kept`, `replaced`, `joined`, `recorded` and `biased`.
        extra: name and value of the other numbers in the formula.
        result: the number computed again.
        traced: the number in the trace.
    """

    step: str
    row: int
    column: int
    operation: str
    terms: tuple[Term, ...]
    extra: tuple[tuple[str, float], ...]
    result: float
    traced: float

    def __getitem__(self, name: str) -> float:
        """The number called `name` in `extra`.

        Raises:
            PathError: no number has that name.
        """
        numbers = dict(self.extra)
        if not isinstance(name, str) or name not in numbers:
            raise PathError("There is no number {name!r}; allowed are {names}.", name=name, names=", ".join(numbers) or "none")
        return numbers[name]

    @property
    def agrees(self) -> bool:
        """Whether `result` and `traced` are equal up to rounding. They can differ after an intervention on the tensor."""
        # The rounding error grows with the size of the terms, even if they cancel each other in the sum.
        size = sum(abs(term.value) for term in self.terms if math.isfinite(term.value))
        return math.isclose(self.result, self.traced, rel_tol=TOLERANCE, abs_tol=TOLERANCE * max(size, 1e-3))


def explain(
    model: Transformer | None,
    trace: Trace,
    kind: str,
    layer: int,
    head: int,
    step_name: str,
    row: int,
    column: int,
    item: int = 0,
) -> Explanation:
    """The computation of one number in a matrix of an attention head, repeated from the numbers that it depends on.

    Args:
        model: the model that was traced. Its weights are read. None for a Hugging Face model, of which only the trace is read.
        trace: every tensor of a forward pass of the model in evaluation mode.
        kind: the kind of attention: `encoder`, `decoder` or `cross`.
        layer, head: numbers of the layer and the head, counted from 0.
        step_name: name of the matrix, such as `scores`; one of `step_names(trace, kind)`.
        row, column: place of the number in the matrix, counted from 0.
        item: number of the text in the batch, counted from 0.

    Raises:
        InputError: `model` is not a Transformer; `trace` is not a Trace, or is of another model; there is no such kind; or the
            decoder ran alone and has no cross-attention.
        PathError: there is no such layer, head, step, row, column or batch item.
    """
    if model is not None:
        check_traced(model, trace)
    elif isinstance(getattr(trace, "config", None), TransformerConfig):
        check_model(model)  # raises, because for our own network the model is needed
    step = attention_step(trace, kind, layer, head, step_name, item)
    check_index("row", row, step.values.shape[0])
    check_index("column", column, step.values.shape[1])
    cell = _Cell(model, trace, kind, layer, head, item, step_name, row, column)
    computations = COMPUTATIONS if model is not None else RECORDED
    operation, terms, extra, result = computations[step_name](cell)
    return Explanation(step_name, row, column, operation, terms, extra, result, float(step.values[row, column]))


# Operation, terms, extra numbers and result, as in `Explanation`.
Computation = tuple[str, tuple[Term, ...], tuple[tuple[str, float], ...], float]


def explanation_of(computation: Computation, traced: float, column: int = 0) -> Explanation:
    """The `Explanation` of a number computed outside the forward pass, such as a number of the logit lens.

    Args:
        computation: the operation, terms, other numbers of the formula (`extra`) and result, as in `Explanation`.
        traced: the number itself, to be compared with the result of the computation.
        column: for a softmax, the index of the explained score, counted from 0.
    """
    return Explanation("", 0, column, *computation, traced)


def product_of(
    left: Sequence[float] | np.ndarray, right: Sequence[float] | np.ndarray, axis: str, bias: float | None = None
) -> Computation:
    """The dot product of two vectors, plus a bias if given, as a `Computation`: the operation, its terms, `extra` (the bias)
    and the result. `axis` names the axis of the vectors in `Term.label`."""
    terms = products(left, right, axis)
    extra = () if bias is None else (("bias", bias),)
    return "sum of products", terms, extra, sum_of_values(terms) + (bias or 0.0)


def sum_of(values: Mapping[str, float]) -> Computation:
    """The sum of `values` (label of a term → value) as a `Computation`: the operation, its terms, an empty `extra` and the
    result."""
    return "sum", tuple(Term(name, value, 1.0, value) for name, value in values.items()), (), math.fsum(values.values())


class _Cell(NamedTuple):
    """The number to explain, and methods that read the tensors and weights that it depends on."""

    model: Transformer | None
    trace: Trace
    kind: str
    layer: int
    head: int
    item: int
    step: str
    row: int
    column: int

    def matrix(self, name: str) -> np.ndarray:
        """The matrix of this head and text in the tensor `name` of the attention: a step, or another tensor."""
        return head_matrix(self.trace, tensor_path(self.trace, self.kind, self.layer, name), self.head, self.item)

    def previous_step(self) -> str:
        """The name of the step before this one."""
        names = step_names(self.trace, self.kind)
        return names[names.index(self.step) - 1]

    def linear(self, name: str) -> nn.Linear:
        """The linear map of this attention at the path `name`, such as `query.projection`."""
        assert self.model is not None  # without a model, the step uses RECORDED
        module = self.model.get_submodule(str(self.trace.attention_path(self.kind, self.layer) / name))
        assert isinstance(module, nn.Linear)
        return module


def _input(cell: _Cell) -> Computation:
    return "given", (), (), float(cell.matrix(cell.step)[cell.row, cell.column])


def _projected(cell: _Cell) -> Computation:
    """The computation of a number of a query, key or value: an input vector times a row of the weight. A projection that the
    heads share reads only the head's slice of the vector."""
    linear = cell.linear(f"{cell.step}.projection")
    if cell.trace.config.head_projection == "shared":
        vector = cell.matrix(f"{cell.step}.split")[cell.row]
        return linear_output(linear, vector, cell.column, "d_head")
    source = "memory" if cell.kind == "cross" and cell.step != "query" else "input"
    return linear_output(linear, cell.matrix(source)[cell.row], cell.head * cell.trace.config.d_head + cell.column, "d_model")


def _score(cell: _Cell) -> Computation:
    terms = products(cell.matrix("query")[cell.row], cell.matrix("key")[cell.column], "d_head")
    return "sum of products", terms, (), sum_of_values(terms)


def _scaled(cell: _Cell) -> Computation:
    score, divisor = float(cell.matrix(cell.previous_step())[cell.row, cell.column]), cell.trace.config.score_scale
    result = score / divisor
    return "quotient", (Term("score", score, divisor, result),), (("divisor", divisor),), result


def _masked(cell: _Cell) -> Computation:
    score = float(cell.matrix(cell.previous_step())[cell.row, cell.column])
    attention = cell.trace.attention_path(cell.kind, cell.layer)
    mask = cell.trace.used_masks[str(attention)].expand(cell.trace[attention / "scores"].shape)
    if mask[cell.item, cell.head, cell.row, cell.column]:
        return "kept", (), (("score", score),), score
    fill = cell.trace.config.mask_fill
    return "replaced", (), (("score", score), ("fill", fill)), fill


def _weight(cell: _Cell) -> Computation:
    return softmax_of(cell.matrix(cell.previous_step())[cell.row].astype(float), cell.column, "key")


def _head_output(cell: _Cell) -> Computation:
    terms = products(cell.matrix("weights")[cell.row], cell.matrix("value")[:, cell.column], "key")
    return "sum of products", terms, (), sum_of_values(terms)


def _concatenated(cell: _Cell) -> Computation:
    head, dimension = divmod(cell.column, cell.matrix("head_output").shape[-1])
    result = float(cell._replace(head=head).matrix("head_output")[cell.row, dimension])
    return "joined", (), (("head", float(head)), ("dimension", float(dimension))), result


def _output(cell: _Cell) -> Computation:
    return linear_output(cell.linear("output_projection"), cell.matrix("concatenated")[cell.row], cell.column, "d_model")


# Step → function that computes one of its numbers.
COMPUTATIONS = {
    "input": _input,
    "memory": _input,
    **dict.fromkeys(("query", "key", "value"), _projected),
    "scores": _score,
    "scaled_scores": _scaled,
    "masked_scores": _masked,
    "weights": _weight,
    "head_output": _head_output,
    "concatenated": _concatenated,
    "output": _output,
}


# --- other networks, for which only the recorded tensors are known -----------------------------------------------------------


def _recorded(cell: _Cell) -> Computation:
    return "recorded", (), (), float(cell.matrix(cell.step)[cell.row, cell.column])


def _scaled_by_all(cell: _Cell) -> Computation:
    """The computation of a scaled score. All scores have the same divisor. The divisor is computed from the scaled score with
    the largest absolute value, which gives the most exact divisor."""
    scores, scaled = (cell.matrix(name).astype(float) for name in ("scores", "scaled_scores"))
    largest = np.unravel_index(abs(scaled).argmax(), scaled.shape)
    divisor = scores[largest] / scaled[largest] if scaled[largest] else 1.0
    score = float(scores[cell.row, cell.column])
    result = score / divisor
    return "quotient", (Term("score", score, divisor, result),), (("divisor", divisor),), result


def _masked_by_all(cell: _Cell) -> Computation:
    names = step_names(cell.trace, cell.kind)
    before = "capped_scores" if "capped_scores" in names else "scaled_scores"
    score, traced = (float(cell.matrix(name)[cell.row, cell.column]) for name in (before, cell.step))
    attention = cell.trace.attention_path(cell.kind, cell.layer)
    if cell.trace.hidden(attention)[cell.item, cell.head, cell.row, cell.column]:
        return "replaced", (), (("score", score), ("fill", traced)), traced
    if "position_bias" not in names:
        return "kept", (), (("score", score),), score
    bias = float(cell.matrix("position_bias")[cell.row, cell.column])
    return "biased", (), (("score", score), ("bias", bias)), score + bias


# Step → function that computes one of its numbers from other numbers of the trace.
RECORDED = {
    **COMPUTATIONS,
    **dict.fromkeys(("query", "key", "value", "capped_scores", "position_bias", "output"), _recorded),
    "scaled_scores": _scaled_by_all,
    "masked_scores": _masked_by_all,
}


def softmax_of(scores: np.ndarray, column: int, axis: str) -> Computation:
    """The softmax of a row of scores at the index `column`, counted from 0, as a `Computation`: the operation, its terms,
    `extra` (the largest score and the total) and the result. `axis` names the axis of the scores in `Term.label`."""
    largest = float(scores.max())
    if largest == -math.inf:
        terms = tuple(Term(f"{axis} {index}", -math.inf, -math.inf, 0.0) for index in range(len(scores)))
        return "nothing to look at", terms, (), 0.0
    terms = tuple(
        Term(f"{axis} {index}", score, score - largest, math.exp(score - largest))
        for index, score in enumerate(scores.tolist())
    )
    total = sum_of_values(terms)
    return "softmax", terms, (("largest", largest), ("total", total)), terms[column].value / total


def linear_output(linear: nn.Linear, vector: np.ndarray, output: int, axis: str) -> Computation:
    """The element `output`, counted from 0, of `linear(vector)` as a `Computation`: the operation, its terms, `extra` (the
    bias) and the result. `axis` names the axis of `vector` in `Term.label`."""
    bias = None if linear.bias is None else float(linear.bias[output].detach())
    return product_of(vector, as_array(linear.weight[output]), axis, bias)


def products(left: Sequence[float] | np.ndarray, right: Sequence[float] | np.ndarray, axis: str) -> tuple[Term, ...]:
    pairs = zip(map(float, left), map(float, right), strict=True)
    return tuple(Term(f"{axis} {index}", a, b, a * b) for index, (a, b) in enumerate(pairs))


def sum_of_values(terms: Iterable[Term]) -> float:
    return math.fsum(term.value for term in terms)
