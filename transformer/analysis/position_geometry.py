"""The angles, dot products and rotations of a position table, and the encoder's output when two tokens are swapped.

All results are computed in double precision from the single-precision table that the model adds, so any difference they show
comes from the rounding of the table.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from transformer.analysis.checks import check_array, check_filled_array, check_ids, check_model, check_number
from transformer.errors import InputError
from transformer.network.embedding import sinusoid
from transformer.network.model import Transformer, embedding_of
from transformer.network.tap import Edit, tracing
from transformer.text.vocabulary import as_ids
from transformer.tracing.trace import as_array

Positions = Float[np.ndarray, "position d_model"]
Square = Float[np.ndarray, "position position"]
TABLE_AXES = "position d_model"
BASE = 10_000
MOST_NUMBERS = 1 << 26  # of a table that is computed; in double precision they take half a gigabyte


class Cell(NamedTuple):
    """The computation of one number of the sinusoidal table.

    Attributes:
        position, dimension: row and column of the number.
        pair: the `i` of the formula: dimensions `2i` and `2i + 1` have the same frequency.
        exponent: `2i / d_model`.
        divisor: `10000 ** exponent`: after that many positions the angle has grown by one radian.
        angle: `position / divisor`, in radians.
        function: `sin` in an even dimension, `cos` in an odd one.
        value: `function` of `angle`.
    """

    position: int
    dimension: int
    pair: int
    exponent: float
    divisor: float
    angle: float
    function: str
    value: float


class RotationErrors(NamedTuple):
    """The largest error, over all positions, of a rotation that should give the row `shift` positions later.

    Attributes:
        pairs: over the dimensions that form pairs; None where there is no pair.
        lone: in the last dimension of an odd width, a sine without its cosine; None for an even width.
    """

    pairs: float | None
    lone: float | None


class Swap(NamedTuple):
    """The encoder's output for a sentence before and after two of its tokens change places, each token compared with itself.

    Attributes:
        changes: for each token, in the order before the swap, the length of its vector's change, as a share of the vector's
            length.
        largest: the largest difference of any number.
        before, after: the encoder's output for each of the two sentences, both in the order before the swap.
    """

    changes: Float[np.ndarray, " source"]
    largest: float
    before: Float[np.ndarray, "source d_model"]
    after: Float[np.ndarray, "source d_model"]


def cell(position: int, dimension: int, d_model: int) -> Cell:
    """One number of `sinusoid`, step by step (section 3.5).

    Args:
        position, dimension: counted from 0.
        d_model: number of dimensions.

    Raises:
        InputError: one of them is not a whole number, a position is negative, or there is no such dimension.
    """
    check_number("position", position, 0)
    _check_dimension(dimension, d_model)
    pair, odd = divmod(dimension, 2)
    exponent = 2 * pair / d_model
    divisor = _divisor(dimension, d_model)
    angle = position / divisor
    return Cell(position, dimension, pair, exponent, divisor, angle, "cos" if odd else "sin", (math.sin, math.cos)[odd](angle))


def wave(dimension: int, d_model: int, steps: Float[np.ndarray, " step"]) -> Float[np.ndarray, " step"]:
    """The values of a column of `sinusoid` at any positions, whole or not.

    Args:
        dimension: the column, counted from 0.
        d_model: number of dimensions.
        steps: the positions.

    Raises:
        InputError: there is no such dimension, or `steps` is not an array of numbers.
    """
    _check_dimension(dimension, d_model)
    check_array("steps", steps, "step")
    return (np.cos if dimension % 2 else np.sin)(steps / _divisor(dimension, d_model))


def sinusoidal_table(positions: int, d_model: int) -> Positions:
    """`embedding.sinusoid` as an array, in single precision: the table that a model with fixed positions adds.

    Raises:
        InputError: a size is not a whole number of at least 1, or the table would have more than `MOST_NUMBERS` numbers.
    """
    _check_sizes(positions, d_model)
    return sinusoid(positions, d_model).float().numpy()


def untrained_table(positions: int, d_model: int) -> Positions:
    """A learned table before any training: numbers drawn from a normal distribution of mean 0 and variance 1, as `nn.Embedding`
    draws them. The same sizes always give the same numbers.

    Raises:
        InputError: as `sinusoidal_table`.
    """
    _check_sizes(positions, d_model)
    return torch.randn(positions, d_model, generator=torch.Generator().manual_seed(0)).numpy()


def model_table(model: Transformer, side: str) -> Positions:
    """Every row that a model can add on a side, `source` or `target`: [max_len, d_model]. Read-only.

    Raises:
        InputError: not a model, or there is no such side.
    """
    check_model(model)
    return as_array(embedding_of(model, side).positions(model.config.max_len))


def dot_products(table: Positions) -> Square:
    """The dot product of every row of a table with every other.

    Raises:
        InputError: the table is not an array of numbers with the axes position and d_model, or is empty.
    """
    check_filled_array("table", table, TABLE_AXES)
    exact = table.astype(np.float64)
    return exact @ exact.T


def by_distance(products: Square) -> Float[np.ndarray, "distance 3"]:
    """Least, mean and largest dot product of the pairs of positions at each distance, for every distance from 0.

    Raises:
        InputError: the products are not a square array of numbers, or are empty.
    """
    check_filled_array("products", products, "position position")
    if products.shape[0] != products.shape[1]:
        template = "products has shape {shape}; it must have as many rows as columns, as `dot_products` returns it."
        raise InputError(template, shape=products.shape)
    diagonals = [products.diagonal(distance) for distance in range(len(products))]
    return np.array([(diagonal.min(), diagonal.mean(), diagonal.max()) for diagonal in diagonals])


def spread(products: Square) -> float:
    """The largest difference between two dot products at the same distance: 0 if they depend on the distance alone.

    Raises:
        InputError: as `by_distance`.
    """
    least, _, most = by_distance(products).T
    return float((most - least).max())


def rotation(shift: int, d_model: int) -> Float[np.ndarray, "d_model d_model"]:
    """The matrix whose product with `PE[pos]` is `PE[pos + shift]`, for every `pos`. It rotates each pair of dimensions by its
    own angle, `shift / 10000^(2i / d_model)`:

        sin(a + b) =  cos(b) sin(a) + sin(b) cos(a)
        cos(a + b) = −sin(b) sin(a) + cos(b) cos(a)

    The last dimension of an odd width is a sine whose cosine is missing, so only the first half of its sum is there.

    Raises:
        InputError: `shift` is not a whole number, or `d_model` is not one of at least 1.
    """
    check_number("shift", shift, -math.inf)
    check_number("d_model", d_model, 1)
    matrix = np.zeros((d_model, d_model))
    for sine in range(0, d_model, 2):
        turn = shift / _divisor(sine, d_model)
        matrix[sine, sine] = math.cos(turn)
        if sine + 1 < d_model:
            matrix[sine : sine + 2, sine + 1] = math.sin(turn), math.cos(turn)
            matrix[sine + 1, sine] = -math.sin(turn)
    return matrix


def rotation_errors(table: Positions, shift: int) -> RotationErrors:
    """The largest errors of `rotation(shift, …)` on a table, over every row that has another `shift` rows below it.

    Raises:
        InputError: the table is not an array of numbers with the axes position and d_model, or is empty; or no row has another
            `shift` rows below it.
    """
    check_filled_array("table", table, TABLE_AXES)
    positions, d_model = table.shape
    check_number("shift", shift, 0, positions - 1)
    exact = table.astype(np.float64)
    errors = abs(exact[: positions - shift] @ rotation(shift, d_model).T - exact[shift:]).max(0)
    paired = d_model - d_model % 2
    return RotationErrors(float(errors[:paired].max()) if paired else None, float(errors[-1]) if d_model % 2 else None)


def swap(model: Transformer, ids: Sequence[int], first: int, second: int, edits: Sequence[Edit] = ()) -> Swap:
    """The encoder's output for a sentence, and for the same sentence with two tokens swapped.

    Args:
        model: in evaluation mode.
        ids: of the source.
        first, second: the positions that are swapped, counted from 0.
        edits: in force in both runs, such as `phrases.interventions("no positions", config)`.

    Raises:
        InputError: not a model, `ids` is not a list of token ids that the model has a row for, or there is no such position.
    """
    check_model(model)
    ids = as_ids(ids)
    check_ids("ids", ids)
    for position in (first, second):
        check_number("position", position, 0, len(ids) - 1)
    order = list(range(len(ids)))
    # Two equal tokens cannot be told apart, so swapping them leaves the sentence as it was.
    if ids[first] != ids[second]:
        order[first], order[second] = second, first
    with torch.inference_mode(), tracing(model, edits, keep=False):
        memory, _ = model.encode(torch.tensor([[*ids], [ids[index] for index in order]]))
    # Swapping once more puts every token of the second run beside the same token of the first.
    before, after = memory[0].double().numpy(), memory[1, order].double().numpy()
    lengths = np.linalg.norm(before, axis=1)
    moved = np.linalg.norm(after - before, axis=1)
    changes = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
    return Swap(changes, float(abs(after - before).max()), before.astype(np.float32), after.astype(np.float32))


def _divisor(dimension: int, d_model: int) -> float:
    """The number by which a position is divided to give its angle in radians; equal for the two dimensions of a pair."""
    return BASE ** (2 * (dimension // 2) / d_model)


def _check_sizes(positions: int, d_model: int) -> None:
    check_number("positions", positions, 1)
    check_number("d_model", d_model, 1)
    if positions * d_model > MOST_NUMBERS:
        template = "A table of {positions} × {d_model} has too many numbers; allowed are {most}."
        raise InputError(template, positions=positions, d_model=d_model, most=MOST_NUMBERS)


def _check_dimension(dimension: object, d_model: int) -> None:
    check_number("d_model", d_model, 1)
    check_number("dimension", dimension, 0, d_model - 1)
