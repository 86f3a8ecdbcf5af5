"""Scores for predictions that a learner made before the result was shown: marked cells, a drawn mask, a position, a token."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from transformer.analysis.checks import check_array, check_filled_array, check_number, check_truth
from transformer.errors import InputError


class CaughtAttention(NamedTuple):
    """How much of the attention of a head falls on the cells that a learner marked. A cell is a query (row) and a key (column).

    Attributes:
        count: number of marked cells that are not masked.
        share: the marked cells' share of the attention of all rows, 0 to 1.
        even: this share if every query attended equally to the keys that it may attend to.
        most: the largest share that `count` cells can have.
        lead: the largest sum of (weight − equal weight) over at most `count` cells of one row; 0 if all weights are equal. A
            row's equal weight is 1 divided by the number of keys that its query may attend to.
        missed: (query, key) of the cell with the largest weight among the allowed cells without a mark; None if every allowed
            cell is marked.
        missed_weight: the weight of the cell `missed`, a share of its row, 0 to 1; 0 if `missed` is None.
    """

    count: int
    share: float
    even: float
    most: float
    lead: float
    missed: tuple[int, int] | None
    missed_weight: float


class DrawnMask(NamedTuple):
    """A drawn mask, compared with the true mask. A cell is open if the query may attend to the key.

    Attributes:
        right: number of cells that are open in both masks.
        missed: (query, key) of cells that are open in the true mask, but not in the drawn mask.
        too_many: (query, key) of cells that are open in the drawn mask, but not in the true mask.
        future: the cells of `too_many` whose key comes later than the query and is not padding.
        padding: the cells of `too_many` whose key is padding.
    """

    right: int
    missed: tuple[tuple[int, int], ...]
    too_many: tuple[tuple[int, int], ...]
    future: tuple[tuple[int, int], ...]
    padding: tuple[tuple[int, int], ...]


class Likeness(NamedTuple):
    """How similar one vector is to each of several vectors, and the rank of the vector that was guessed to be most similar.

    Attributes:
        values: cosine of the angle to each vector, −1 to 1; 0 if one of the two vectors is zero.
        best: the positions of the most similar other vectors; several if their cosines are equal up to rounding.
        rank: rank of the guessed vector among the other vectors, 1 for the most similar; equal cosines have the same rank. 0 if
            there is no guess.
    """

    values: Float[np.ndarray, " position"]
    best: tuple[int, ...]
    rank: int


class GuessedToken(NamedTuple):
    """The probability and the rank of a guessed token in the distribution that the model computed.

    Attributes:
        probability: the model's probability for the guessed token, 0 to 1.
        rank: rank of the guessed token, 1 for the most probable; equal probabilities have the same rank.
        best, best_probability: the id of the most probable token, and its probability.
    """

    probability: float
    rank: int
    best: int
    best_probability: float


# Cosines that differ by less count as equal, because the rows of a sinusoidal table are rounded to single precision.
ALIKE = 1e-5


def caught_attention(
    weights: Float[np.ndarray, "query key"], allowed: Bool[np.ndarray, "query key"], marked: Bool[np.ndarray, "query key"]
) -> CaughtAttention:
    """How much of the attention of a head falls on the cells (query, key) that a learner marked.

    Args:
        weights: attention weights of one head, from 0 to 1. Each row sums to 1, or to 0 if the query may attend to no key.
        allowed: False where a query may not attend to a key.
        marked: True where the learner expects attention. Marks on cells that are not allowed are ignored.

    Raises:
        InputError: the weights are not an array of numbers with these axes, another array is not of truth values, or their
            shapes differ.
    """
    check_filled_array("weights", weights, "query key")
    for name, values in (("allowed", allowed), ("marked", marked)):
        check_truth(name, values, weights.shape)
    weights = np.where(allowed, weights, 0).astype(np.float64)
    marked = marked & allowed
    total = float(weights.sum()) or 1.0
    keys = allowed.sum(1, keepdims=True)
    even = np.divide(allowed, keys, out=np.zeros_like(weights), where=keys > 0)
    count = int(marked.sum())
    largest = np.argsort(-np.where(allowed, weights, -1.0), axis=None, kind="stable")[:count]
    leads = np.cumsum(-np.sort(even - weights, axis=1)[:, :count], axis=1)
    left = np.where(allowed & ~marked, weights, -1.0)
    missed = _place(left.argmax(), left.shape) if left.max() >= 0 else None
    return CaughtAttention(
        count,
        float(weights[marked].sum()) / total,
        float(even[marked].sum()) / (float(even.sum()) or 1.0),
        float(weights.flat[largest].sum()) / total,
        float(leads.max(initial=0.0)),
        missed,
        0.0 if missed is None else float(weights[missed]),
    )


def drawn_mask(
    allowed: Bool[np.ndarray, "query key"], drawn: Bool[np.ndarray, "query key"], real: Bool[np.ndarray, " key"]
) -> DrawnMask:
    """A mask that a learner drew, compared with the true mask: which cells (query, key) are right, missing or wrongly open.

    Args:
        allowed: True where a query may attend to a key.
        drawn: True where the learner expects that a query may attend to a key.
        real: False for keys that are padding.

    Raises:
        InputError: the arrays are not of truth values, do not have these axes, or do not fit together.
    """
    check_array("allowed", allowed, "query key")
    check_truth("allowed", allowed, allowed.shape)
    check_truth("drawn", drawn, allowed.shape)
    check_truth("real", real, allowed.shape[1:])
    too_many = _places(drawn & ~allowed)
    return DrawnMask(
        int((drawn & allowed).sum()),
        _places(allowed & ~drawn),
        too_many,
        tuple((query, key) for query, key in too_many if key > query and real[key]),
        tuple((query, key) for query, key in too_many if not real[key]),
    )


def likeness(vectors: Float[np.ndarray, "position d_model"], position: int, guess: int | None = None) -> Likeness:
    """How similar the vector at a position is to the vectors at other positions, and the rank of a guessed position.

    Args:
        vectors: a vector for each position, at least two.
        position: the position whose vector is compared, counted from 0.
        guess: the position whose vector the learner expects to be most similar; None for no guess, and then the rank is 0.

    Raises:
        InputError: the vectors do not have these axes, there are fewer than two, a position does not exist, or `guess` equals
            `position`.
    """
    check_filled_array("vectors", vectors, "position d_model")
    if len(vectors) < 2:
        raise InputError("There is only one vector; at least two are needed to compare them.")
    check_number("position", position, 0, len(vectors) - 1)
    if guess is not None:
        check_number("guess", guess, 0, len(vectors) - 1)
        if guess == position:
            raise InputError("The guess is position {position} itself; it must be another position.", position=position)
    rows = vectors.astype(np.float64)
    products, lengths = rows @ rows[position], np.linalg.norm(rows, axis=1)
    scale = lengths * lengths[position]
    values = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    others = np.delete(values, position)
    best = [place for place, value in enumerate(values) if place != position and value >= others.max() - ALIKE]
    rank = 0 if guess is None else 1 + int((others > values[guess] + ALIKE).sum())
    return Likeness(values, tuple(best), rank)


def guessed_token(probabilities: Float[np.ndarray, " token"], guess: int) -> GuessedToken:
    """The rank and the probability of a guessed token.

    Args:
        probabilities: the model's probability of every token of the vocabulary.
        guess: the id of the guessed token.

    Raises:
        InputError: the probabilities are not an array with one axis and at least one number, or there is no token `guess`.
    """
    check_filled_array("probabilities", probabilities, "token")
    check_number("guess", guess, 0, len(probabilities) - 1)
    best = int(probabilities.argmax())
    rank = 1 + int((probabilities > probabilities[guess]).sum())
    return GuessedToken(float(probabilities[guess]), rank, best, float(probabilities[best]))


def _places(cells: Bool[np.ndarray, "query key"]) -> tuple[tuple[int, int], ...]:
    return tuple((int(query), int(key)) for query, key in np.argwhere(cells))


def _place(index: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    query, key = np.unravel_index(int(index), shape)
    return int(query), int(key)
