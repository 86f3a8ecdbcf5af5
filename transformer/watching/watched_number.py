"""How one number of an attention of a watched module was computed, from the other tensors that were recorded.

For example:

    computed = watched_number(watched, "encoder.layers.0.self_attn.scores", item=0, matrix=1, row=3, column=2)
    [explained.result for explained in computed]
"""

import math

import numpy as np
from jaxtyping import Float
from torch import Tensor

from transformer.analysis.cell import Explanation, Term, explanation_of, product_of, softmax_of
from transformer.errors import InputError
from transformer.tracing.paths import check_index
from transformer.watching.watched import HIDDEN, Watched

Matrix = Float[np.ndarray, "_ _"]  # a file can have matrices that do not fit together


def matrices(watched: Watched, path: str, item: int = 0) -> tuple[Float[Tensor, "matrix row column"], tuple[str, ...]]:
    """The matrices of a tensor for one text, and the names of all its axes but that of the texts. A vector is one row; all axes
    before the last two, such as heads, are joined to the axis of matrices. `item` is the index of the text in the batch, from
    0.

    Raises:
        InputError: the tensor has no numbers that can be drawn.
        PathError: no tensor has that path, or there is no such text.
    """
    activation = watched[path]
    values, axes = activation.values.detach(), [*activation.axes]
    if values.is_complex() or not values.numel():
        raise InputError("{path} has no numbers that can be drawn.", path=path)
    if "batch" in axes:
        place = axes.index("batch")
        check_index("item", item, values.shape[place])
        values, axes = values.select(place, item), [axis for axis in axes if axis != "batch"]
    while values.ndim < 2:
        values, axes = values[None], [" ", *axes] if values.ndim else ["  "]
    return (values.float().flatten(0, -3) if values.ndim > 2 else values.float()[None]), tuple(axes)


def watched_number(watched: Watched, path: str, item: int, matrix: int, row: int, column: int) -> tuple[Explanation, ...]:
    """The computation of one number of an attention, one operation after another: a weight by the softmax of the scores; a
    score by the product of a query and a key, divided by a constant; an output of a head by the weights and the values.

    Args:
        watched: what `watch` returns.
        path: the path of a tensor.
        item: the text, counted from 0.
        matrix, row, column: the place of the number in `matrices`, counted from 0.

    Returns:
        Empty if the tensor is none of these, if the tensors that it was computed from were not recorded, or if these operations
        give another number, for example because a mask was added to the scores.

    Raises:
        PathError: there is no such tensor, text or place.
        InputError: the tensor has no numbers that can be drawn.
    """
    values, _ = matrices(watched, path, item)
    for name, index, size in zip(("matrix", "row", "column"), (matrix, row, column), values.shape, strict=True):
        check_index(name, index, size)
    base, _, name = watched[path].path.rpartition(".")
    if base not in watched.attentions:
        return ()

    def beside(other: str, axis: str) -> Matrix | None:
        """The matrix of the same head in the tensor `other` of this attention. None if it was not recorded, if its rows are not
        on `axis`, or if it is not there for each head."""
        place = f"{base}.{other}".removeprefix(".")
        if place not in watched or watched[place].axes[-2:-1] != (axis,):
            return None
        found, _ = matrices(watched, place, item)
        return found[matrix].numpy().astype(np.float64) if len(found) == len(values) else None

    traced = float(values[matrix, row, column])
    if name == "weights":
        computed = _weight(beside("scores", "query"), row, column, traced)
    elif name == "scores":
        computed = _score(beside("scores", "query"), beside("query", "query"), beside("key", "key"), row, column)
    elif name == "head_output":
        applied = beside("applied_weights", "query")
        weights = beside("weights", "query") if applied is None else applied
        computed = _head_output(weights, beside("value", "key"), row, column, traced)
    else:
        computed = ()
    return computed if all(explained.agrees for explained in computed[:1]) else ()


def _weight(scores: Matrix | None, row: int, column: int, traced: float) -> tuple[Explanation, ...]:
    if scores is None or row >= scores.shape[0] or column >= scores.shape[1]:
        return ()
    return (explanation_of(softmax_of(scores[row], column, "key"), traced, column),)


def _score(
    scores: Matrix | None, queries: Matrix | None, keys: Matrix | None, row: int, column: int
) -> tuple[Explanation, ...]:
    if scores is None or queries is None or keys is None or queries.shape[1] != keys.shape[1]:
        return ()
    products = queries @ keys.T
    seen = np.where(scores > HIDDEN, np.abs(scores), 0.0)
    largest = np.unravel_index(int(seen.argmax()), seen.shape)
    if products.shape != scores.shape or not seen[row, column]:
        return ()
    # All scores have the same divisor. It is most exact at the score with the largest absolute value.
    divisor, traced = float(products[largest] / scores[largest]), float(scores[row, column])
    product = product_of(queries[row], keys[column], "d_head")
    if not (math.isfinite(divisor) and divisor):
        return ()
    quotient = product[-1] / divisor
    terms = (Term("product", product[-1], divisor, quotient),)
    # The product is compared with the score times the divisor, because the rounding error grows with the terms of the product.
    return explanation_of(product, traced * divisor), explanation_of(("quotient", terms, (), quotient), traced)


def _head_output(
    weights: Matrix | None, values: Matrix | None, row: int, column: int, traced: float
) -> tuple[Explanation, ...]:
    if weights is None or values is None or row >= len(weights) or weights.shape[1] != len(values):
        return ()
    if column >= values.shape[1]:
        return ()
    return (explanation_of(product_of(weights[row], values[:, column], "key"), traced),)
