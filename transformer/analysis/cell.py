"""Any single number of one head's attention, worked out from the numbers before it.

    found = explain(model, trace, "encoder", 0, 2, "scores", row=3, column=5)
    found.terms, found.result, found.traced

Numbers are recomputed in double precision from what the trace and the model hold in single precision, so they agree up to
single precision's rounding (`Explanation.agrees`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import nn

from transformer.analysis.head_steps import attention_step, head_matrix, step_names, tensor_path
from transformer.analysis.walk import check_traced
from transformer.errors import PathError
from transformer.network.model import Transformer
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Trace, as_array

TOLERANCE = 1e-5


class Term(NamedTuple):
    """One of the numbers that make up another.

    Attributes:
        label: which: the axis that is gone over and the place on it, counted from 0: `d_head 3`, `key 5`.
        left, right: what it is made of, in the order of the formula.
        value: what it adds.
    """

    label: str
    left: float
    right: float
    value: float


@dataclass(frozen=True)
class Explanation:
    """How one number came about.

    Attributes:
        step, row, column: which number.
        operation: what was done:
            `given`: nothing here; the tensor entered the attention from outside.
            `sum of products`: Σ left · right over `terms`, plus `bias` where there is one in `extra`.
            `quotient`: the one term's left / right.
            `kept`, `replaced`: the mask lets the `score` in `extra` pass, or puts the `fill` in its place.
            `softmax`: each term has a score as `left`, that score less the `largest` of its row as `right`, and e to the
                power of that as `value`; the result is the value at `column` over the `total`.
            `nothing to look at`: every score of the row is −∞, so every weight is 0.
            `joined`: number `dimension` of the output of head `head`, carried over.
        terms: what is added up, or compared; may be empty.
        extra: further numbers of the formula, by name.
        result: recomputed.
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
        """One of the numbers in `extra`.

        Raises:
            PathError: there is none of that name.
        """
        numbers = dict(self.extra)
        if name not in numbers:
            raise PathError("There is no number {name!r}; allowed are {names}.", name=name, names=", ".join(numbers) or "none")
        return numbers[name]

    @property
    def agrees(self) -> bool:
        """Whether the recomputed number is the traced one up to rounding. An intervention on this tensor makes it False."""
        # Rounding grows with what is added up, not with what is left when the terms cancel.
        size = sum(abs(term.value) for term in self.terms if math.isfinite(term.value))
        return math.isclose(self.result, self.traced, rel_tol=TOLERANCE, abs_tol=TOLERANCE * max(size, 1e-3))


def explain(
    model: Transformer,
    trace: Trace,
    kind: str,
    layer: int,
    head: int,
    step_name: str,
    row: int,
    column: int,
    item: int = 0,
) -> Explanation:
    """One number of one step, from the numbers it was made of.

    Args:
        model: the one that was traced; its weights are read.
        trace: of a model in evaluation mode.
        kind: `encoder`, `decoder` or `cross`.
        layer, head: counted from 0.
        step_name: one of `step_names(trace, kind)`.
        row, column: of that step's `values`, counted from 0.
        item: which of the batch.

    Raises:
        InputError: no such kind, the decoder ran alone and did not look across, or the trace is of another model.
        PathError: no such layer, head, step, row, column or batch item.
    """
    check_traced(model, trace)
    names = step_names(trace, kind)
    if step_name not in names:
        raise PathError("There is no step {name!r}; allowed are {names}.", name=step_name, names=", ".join(names))
    step = attention_step(trace, kind, layer, head, step_name, item)
    check_index("row", row, step.values.shape[0])
    check_index("column", column, step.values.shape[1])
    cell = _Cell(model, trace, kind, layer, head, item, step_name, row, column)
    operation, terms, extra, result = EXPLAINED[step_name](cell)
    return Explanation(step_name, row, column, operation, terms, extra, result, float(step.values[row, column]))


# Operation, terms, extra numbers, result.
Found = tuple[str, tuple[Term, ...], tuple[tuple[str, float], ...], float]


class _Cell(NamedTuple):
    """Which number is asked for, and where to look for those it was made of."""

    model: Transformer
    trace: Trace
    kind: str
    layer: int
    head: int
    item: int
    step: str
    row: int
    column: int

    def matrix(self, name: str) -> np.ndarray:
        return head_matrix(self.trace, tensor_path(self.trace, self.kind, self.layer, name), self.head, self.item)

    def before(self, name: str | None = None) -> str:
        """The step before a step, by default before this one."""
        names = step_names(self.trace, self.kind)
        return names[names.index(name or self.step) - 1]

    def linear(self, name: str) -> nn.Linear:
        """A linear map of this attention."""
        found = self.model.get_submodule(str(self.trace.attention_path(self.kind, self.layer) / name))
        assert isinstance(found, nn.Linear)
        return found


def _given(cell: _Cell) -> Found:
    return "given", (), (), float(cell.matrix(cell.step)[cell.row, cell.column])


def _projected(cell: _Cell) -> Found:
    """A vector times a column of the map; with shared projections only the head's slice of the vector enters."""
    linear = cell.linear(f"{cell.step}.projection")
    if cell.trace.config.head_projection == "shared":
        vector = cell.matrix(f"{cell.step}.split")[cell.row]
        return _through(linear, vector, cell.column, "d_head")
    source = "memory" if cell.kind == "cross" and cell.step != "query" else "input"
    return _through(linear, cell.matrix(source)[cell.row], cell.head * cell.trace.config.d_head + cell.column, "d_model")


def _score(cell: _Cell) -> Found:
    terms = _products(cell.matrix("query")[cell.row], cell.matrix("key")[cell.column], "d_head")
    return "sum of products", terms, (), _total(terms)


def _scaled(cell: _Cell) -> Found:
    score, divisor = float(cell.matrix(cell.before())[cell.row, cell.column]), cell.trace.config.score_scale
    result = score / divisor
    return "quotient", (Term("score", score, divisor, result),), (("divisor", divisor),), result


def _masked(cell: _Cell) -> Found:
    score = float(cell.matrix(cell.before())[cell.row, cell.column])
    attention = cell.trace.attention_path(cell.kind, cell.layer)
    mask = cell.trace.used_masks[str(attention)].expand(cell.trace[attention / "scores"].shape)
    if mask[cell.item, cell.head, cell.row, cell.column]:
        return "kept", (), (("score", score),), score
    fill = cell.trace.config.mask_fill
    return "replaced", (), (("score", score), ("fill", fill)), fill


def _weight(cell: _Cell) -> Found:
    scores = cell.matrix(cell.before())[cell.row].astype(float)
    largest = float(scores.max())
    if largest == -math.inf:
        terms = tuple(Term(f"key {key}", -math.inf, -math.inf, 0.0) for key in range(len(scores)))
        return "nothing to look at", terms, (), 0.0
    terms = tuple(
        Term(f"key {key}", score, score - largest, math.exp(score - largest)) for key, score in enumerate(scores.tolist())
    )
    total = _total(terms)
    return "softmax", terms, (("largest", largest), ("total", total)), terms[cell.column].value / total


def _headed(cell: _Cell) -> Found:
    terms = _products(cell.matrix("weights")[cell.row], cell.matrix("value")[:, cell.column], "key")
    return "sum of products", terms, (), _total(terms)


def _joined(cell: _Cell) -> Found:
    head, dimension = divmod(cell.column, cell.trace.config.d_head)
    result = float(cell._replace(head=head).matrix("head_output")[cell.row, dimension])
    return "joined", (), (("head", float(head)), ("dimension", float(dimension))), result


def _put_out(cell: _Cell) -> Found:
    return _through(cell.linear("output_projection"), cell.matrix("concatenated")[cell.row], cell.column, "d_model")


EXPLAINED = {
    "input": _given,
    "memory": _given,
    **dict.fromkeys(("query", "key", "value"), _projected),
    "scores": _score,
    "scaled_scores": _scaled,
    "masked_scores": _masked,
    "weights": _weight,
    "head_output": _headed,
    "concatenated": _joined,
    "output": _put_out,
}


def _through(linear: nn.Linear, vector: np.ndarray, output: int, axis: str) -> Found:
    """One output of a linear map."""
    terms = _products(vector, as_array(linear.weight[output]), axis)
    extra = () if linear.bias is None else (("bias", float(linear.bias[output].detach())),)
    return "sum of products", terms, extra, _total(terms) + sum(value for _, value in extra)


def _products(left: Sequence[float] | np.ndarray, right: Sequence[float] | np.ndarray, axis: str) -> tuple[Term, ...]:
    pairs = zip(map(float, left), map(float, right), strict=True)
    return tuple(Term(f"{axis} {index}", a, b, a * b) for index, (a, b) in enumerate(pairs))


def _total(terms: Iterable[Term]) -> float:
    return math.fsum(term.value for term in terms)
