"""The computation of any single number of one head's attention, repeated from the numbers it was made from.

    explanation = explain(model, trace, "encoder", 0, 2, "scores", row=3, column=5)
    explanation.terms, explanation.result, explanation.traced

The numbers are computed in double precision from the single-precision numbers of the trace and the model, so they agree up to
single precision's rounding (`Explanation.agrees`).
"""

import math
from collections.abc import Iterable, Sequence
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
    """One term of the sum or quotient that gives a number.

    Attributes:
        label: the axis of the sum and the index on it, counted from 0: `d_head 3`, `key 5`.
        left, right: the two numbers it is made from, in the order of the formula.
        value: what it adds to the sum.
    """

    label: str
    left: float
    right: float
    value: float


@dataclass(frozen=True)
class Explanation:
    """The computation of one number.

    Attributes:
        step, row, column: the step of the number, and its place in the matrix of that step.
        operation: one of these:
            `given`: none in this attention; the number is an input.
            `sum of products`: Σ left · right over `terms`, plus `bias` where there is one in `extra`.
            `quotient`: the one term's left / right.
            `kept`, `replaced`: the mask keeps the `score` in `extra`, or replaces it by the `fill`.
            `softmax`: each term has a score as `left`, that score less the `largest` of its row as `right`, and e to the
                power of that as `value`; the result is the value at `column` over the `total`.
            `nothing to look at`: every score of the row is −∞, so every weight of the row is 0.
            `joined`: number `dimension` of the output of head `head`, copied.
            `recorded`: made by the code of a network of others, which is not repeated here.
            `biased`: the `score` and the `bias` added up.
        terms: of the sum, of the quotient or of the softmax; empty for the other operations.
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
        """The number of that name in `extra`.

        Raises:
            PathError: no number has that name.
        """
        numbers = dict(self.extra)
        if not isinstance(name, str) or name not in numbers:
            raise PathError("There is no number {name!r}; allowed are {names}.", name=name, names=", ".join(numbers) or "none")
        return numbers[name]

    @property
    def agrees(self) -> bool:
        """Whether the two numbers are equal up to rounding. False where an intervention changed this tensor."""
        # The rounding error grows with the size of the terms, even where they cancel in the sum.
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
    """The computation of one number of one step.

    Args:
        model: the model that was traced; its weights are read. None for a network of others, of which the trace is read alone.
        trace: of a model in evaluation mode.
        kind: `encoder`, `decoder` or `cross`.
        layer, head: counted from 0.
        step_name: one of `step_names(trace, kind)`.
        row, column: of that step's `values`, counted from 0.
        item: which text of the batch, counted from 0.

    Raises:
        InputError: no such kind, the decoder ran alone and has no cross-attention, or the trace is of another model.
        PathError: no such layer, head, step, row, column or batch item.
    """
    if model is not None:
        check_traced(model, trace)
    elif isinstance(getattr(trace, "config", None), TransformerConfig):
        check_model(model)  # of our own network, it is needed
    step = attention_step(trace, kind, layer, head, step_name, item)
    check_index("row", row, step.values.shape[0])
    check_index("column", column, step.values.shape[1])
    cell = _Cell(model, trace, kind, layer, head, item, step_name, row, column)
    computations = COMPUTATIONS if model is not None else RECORDED
    operation, terms, extra, result = computations[step_name](cell)
    return Explanation(step_name, row, column, operation, terms, extra, result, float(step.values[row, column]))


# Operation, terms, extra numbers and result, as `Explanation` has them.
Computation = tuple[str, tuple[Term, ...], tuple[tuple[str, float], ...], float]


class _Cell(NamedTuple):
    """The number to explain, and access to the tensors and weights it was made from."""

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
        """The matrix of a step of this head."""
        return head_matrix(self.trace, tensor_path(self.trace, self.kind, self.layer, name), self.head, self.item)

    def previous_step(self) -> str:
        """The name of the step before this one."""
        names = step_names(self.trace, self.kind)
        return names[names.index(self.step) - 1]

    def linear(self, name: str) -> nn.Linear:
        """A linear map of this attention."""
        assert self.model is not None  # else the step is `recorded`
        module = self.model.get_submodule(str(self.trace.attention_path(self.kind, self.layer) / name))
        assert isinstance(module, nn.Linear)
        return module


def _input(cell: _Cell) -> Computation:
    return "given", (), (), float(cell.matrix(cell.step)[cell.row, cell.column])


def _projected(cell: _Cell) -> Computation:
    """An input vector times a row of the weight; where heads share a projection, only the head's slice of the vector."""
    linear = cell.linear(f"{cell.step}.projection")
    if cell.trace.config.head_projection == "shared":
        vector = cell.matrix(f"{cell.step}.split")[cell.row]
        return _linear_output(linear, vector, cell.column, "d_head")
    source = "memory" if cell.kind == "cross" and cell.step != "query" else "input"
    return _linear_output(linear, cell.matrix(source)[cell.row], cell.head * cell.trace.config.d_head + cell.column, "d_model")


def _score(cell: _Cell) -> Computation:
    terms = _products(cell.matrix("query")[cell.row], cell.matrix("key")[cell.column], "d_head")
    return "sum of products", terms, (), _sum_of_values(terms)


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
    scores = cell.matrix(cell.previous_step())[cell.row].astype(float)
    largest = float(scores.max())
    if largest == -math.inf:
        terms = tuple(Term(f"key {key}", -math.inf, -math.inf, 0.0) for key in range(len(scores)))
        return "nothing to look at", terms, (), 0.0
    terms = tuple(
        Term(f"key {key}", score, score - largest, math.exp(score - largest)) for key, score in enumerate(scores.tolist())
    )
    total = _sum_of_values(terms)
    return "softmax", terms, (("largest", largest), ("total", total)), terms[cell.column].value / total


def _head_output(cell: _Cell) -> Computation:
    terms = _products(cell.matrix("weights")[cell.row], cell.matrix("value")[:, cell.column], "key")
    return "sum of products", terms, (), _sum_of_values(terms)


def _concatenated(cell: _Cell) -> Computation:
    head, dimension = divmod(cell.column, cell.matrix("head_output").shape[-1])
    result = float(cell._replace(head=head).matrix("head_output")[cell.row, dimension])
    return "joined", (), (("head", float(head)), ("dimension", float(dimension))), result


def _output(cell: _Cell) -> Computation:
    return _linear_output(cell.linear("output_projection"), cell.matrix("concatenated")[cell.row], cell.column, "d_model")


# Step → how one of its numbers is computed.
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


# --- networks of others, of which there is only what was recorded ------------------------------------------------------------


def _recorded(cell: _Cell) -> Computation:
    return "recorded", (), (), float(cell.matrix(cell.step)[cell.row, cell.column])


def _scaled_by_all(cell: _Cell) -> Computation:
    """The divisor is one for all scores, so the largest tells it best."""
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


# Step → how one of its numbers is computed from other numbers of the trace.
RECORDED = {
    **COMPUTATIONS,
    **dict.fromkeys(("query", "key", "value", "capped_scores", "position_bias", "output"), _recorded),
    "scaled_scores": _scaled_by_all,
    "masked_scores": _masked_by_all,
}


def _linear_output(linear: nn.Linear, vector: np.ndarray, output: int, axis: str) -> Computation:
    """One output of a linear map."""
    terms = _products(vector, as_array(linear.weight[output]), axis)
    extra = () if linear.bias is None else (("bias", float(linear.bias[output].detach())),)
    return "sum of products", terms, extra, _sum_of_values(terms) + sum(value for _, value in extra)


def _products(left: Sequence[float] | np.ndarray, right: Sequence[float] | np.ndarray, axis: str) -> tuple[Term, ...]:
    pairs = zip(map(float, left), map(float, right), strict=True)
    return tuple(Term(f"{axis} {index}", a, b, a * b) for index, (a, b) in enumerate(pairs))


def _sum_of_values(terms: Iterable[Term]) -> float:
    return math.fsum(term.value for term in terms)
