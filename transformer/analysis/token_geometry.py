"""The geometry of a token table: cosines between rows, nearest rows, and a projection to a plane.

All results are computed with NumPy in double precision.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_array, check_filled_array, check_model, check_number
from transformer.errors import InputError
from transformer.network.model import Transformer, embedding_of
from transformer.text.vocabulary import as_ids
from transformer.tracing.paths import check_index
from transformer.tracing.trace import as_array

TABLE_AXES = "vocab d_model"
Table = Float[np.ndarray, "vocab d_model"]
Rows = Float[np.ndarray, "row d_model"]


class Neighbour(NamedTuple):
    """A row of a table, with its cosine similarity to another row.

    Attributes:
        token_id: index of the row in the table.
        cosine: cosine of the angle between the two rows, −1 to 1.
    """

    token_id: int
    cosine: float


class Plane(NamedTuple):
    """A table projected to the two directions in which its rows differ most.

    Attributes:
        points: coordinates of each row. The mean of the rows that the axes were fitted to is at (0, 0).
        shares: for each of the two axes, its share of the variance of the rows that the axes were fitted to, 0 to 1.
    """

    points: Float[np.ndarray, "vocab 2"]
    shares: tuple[float, float]


def token_table(model: Transformer, side: str) -> Table:
    """The token embedding table of the encoder (`side` = "source") or decoder ("target"), read-only and not copied. Row `i` is
    the vector of token id `i`.

    Raises:
        InputError: `model` is not a Transformer, or `side` is neither "source" nor "target".
    """
    check_model(model)
    return as_array(embedding_of(model, side).table.weight)


def cosines(
    rows: Float[np.ndarray, "row d_model"], others: Float[np.ndarray, "other d_model"]
) -> Float[np.ndarray, "row other"]:
    """The cosine similarity a·b / (|a| |b|) of every row of `rows` with every row of `others`; NaN if one of the two is zero.

    Raises:
        InputError: the rows have different widths, or are not arrays of numbers with two axes.
    """
    check_array("rows", rows, "row d_model")
    check_array("others", others, "other d_model")
    if rows.shape[1] != others.shape[1]:
        template = "Rows of width {rows} and of width {others} have no cosine; the widths must be equal."
        raise InputError(template, rows=rows.shape[1], others=others.shape[1])
    a, b = (values.astype(np.float64) for values in (rows, others))
    lengths = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)[None, :]
    # Rounding may give values slightly above 1.
    return np.clip(np.divide(a @ b.T, lengths, out=np.full_like(lengths, np.nan), where=lengths > 0), -1, 1)


def nearest(table: Table, token_id: int, count: int) -> tuple[Neighbour, ...]:
    """The rows of a table with the largest cosine to one row, the largest first. The row itself and zero rows are left out.

    Args:
        table: the token table.
        token_id: index of the row that all other rows are compared with.
        count: the largest number of rows to return.

    Raises:
        PathError: there is no such row.
        InputError: the table is not an array of numbers with the axes vocab and d_model, or `count` is not a whole number of at
            least 0.
    """
    check_array("table", table, TABLE_AXES)
    check_index("token id", token_id, len(table))
    check_number("count", count, 0)
    (similarity,) = cosines(table[token_id : token_id + 1], table)
    similarity[token_id] = np.nan
    order = [int(other) for other in np.argsort(-similarity, kind="stable") if not np.isnan(similarity[other])]
    return tuple(Neighbour(other, float(similarity[other])) for other in order[:count])


def plane(table: Table, fitted: Sequence[int] | None = None) -> Plane:
    """A table projected to a plane by principal component analysis: the singular value decomposition of the rows minus their
    mean.

    The sign of an axis is arbitrary. Here the largest number of each axis, by magnitude, is positive, so that the same table
    always has the same points.

    Args:
        table: the table. Each of its rows gets a point.
        fitted: indices of the rows that the axes are fitted to, and whose variance `Plane.shares` describes; all rows by
            default.

    Raises:
        InputError: the table is not an array of numbers with the axes vocab and d_model, is empty, or has a number that is not
            finite; or `fitted` is not a list of at least one whole number.
        PathError: the table has no row with an index in `fitted`.
    """
    check_filled_array("table", table, TABLE_AXES)
    if not np.isfinite(table).all():
        raise InputError("The table has numbers that are NaN or infinite; a projection needs finite numbers.")
    rows = range(len(table)) if fitted is None else as_ids(fitted)
    if not rows:
        raise InputError("fitted is {fitted!r}; it must have the index of at least one row.", fitted=fitted)
    for row in rows:
        check_index("fitted row", row, len(table))
    exact = table.astype(np.float64)
    chosen = exact[rows]
    _, sizes, axes = np.linalg.svd(chosen - chosen.mean(0), full_matrices=False)
    axes = axes * np.where(axes[np.arange(len(axes)), abs(axes).argmax(1)] < 0, -1, 1)[:, None]
    points, total = np.zeros((len(table), 2)), float((sizes**2).sum())
    points[:, : len(axes)] = (exact - chosen.mean(0)) @ axes[:2].T
    shares = [float(size**2) / total if total else 0.0 for size in sizes[:2]] + [0.0, 0.0]
    return Plane(points, (shares[0], shares[1]))
