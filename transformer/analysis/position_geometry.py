"""The angles, dot products and rotations of a position table, and the encoder's output when two tokens are swapped.

All results are computed in double precision from the single-precision table that the model adds. So any deviation from the
exact formulas comes from the rounding of the table.
"""

import math
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from transformer.analysis.checks import check_array, check_filled_array, check_ids, check_model, check_number
from transformer.analysis.word_trace import Group, word_means
from transformer.errors import InputError
from transformer.network.embedding import sinusoid
from transformer.network.model import Transformer, embedding_of
from transformer.network.tap import Edit, tracing
from transformer.text.vocabulary import as_ids
from transformer.tracing.trace import as_array
from transformer.validation import as_list

Positions = Float[np.ndarray, "position d_model"]
Square = Float[np.ndarray, "position position"]
TABLE_AXES = "position d_model"
BASE = 10_000
MOST_NUMBERS = 1 << 26  # largest size of a computed table; in double precision it takes half a gigabyte
LARGEST_ROTATION = math.isqrt(MOST_NUMBERS)


class Cell(NamedTuple):
    """The computation of one number of the sinusoidal position table.

    Attributes:
        position, dimension: row and column of the number, counted from 0.
        pair: the index `i` of the pair of dimensions `2i` and `2i + 1`, which have the same frequency.
        exponent: `2i / d_model`.
        divisor: `10000 ** exponent`: the number of positions after which the angle has grown by one radian.
        angle: `position / divisor`, in radians.
        function: `sin` in an even dimension, `cos` in an odd dimension.
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
    """The largest errors of a rotated position table, as `rotation_errors` returns them. An error is the absolute difference
    between a number of a rotated row and the same number of the row `shift` positions later.

    Attributes:
        pairs: largest error in the dimensions that form pairs of a sine and a cosine; None if d_model is 1.
        lone: largest error in the last dimension if d_model is odd: a sine without a cosine. None if d_model is even.
    """

    pairs: float | None
    lone: float | None


class Swap(NamedTuple):
    """The encoder's output for a sentence before and after two of its tokens are swapped. Each token's vector is compared with
    the vector of the same token after the swap, at its new position.

    Attributes:
        changes: for each token (or word), in the order before the swap: the length of the change of its vector, divided by the
            length of the vector before the swap.
        largest: the largest absolute difference between a number of the output before the swap and after it.
        before, after: the encoder's output for each of the two sentences, both in the order before the swap.
        moves: for each token (or word), a pair for each token in it: the length of the change of the token's vector, and the
            length of this vector before the swap.
    """

    changes: Float[np.ndarray, " source"]
    largest: float
    before: Float[np.ndarray, "source d_model"]
    after: Float[np.ndarray, "source d_model"]
    moves: tuple[tuple[tuple[float, float], ...], ...]


def cell(position: int, dimension: int, d_model: int) -> Cell:
    """The computation of one number of the sinusoidal position table (Vaswani et al. 2017, section 3.5), step by step.

    Args:
        position, dimension: row and column of the number, counted from 0.
        d_model: number of dimensions.

    Raises:
        InputError: an argument is not a whole number, the position is negative, or there is no such dimension.
    """
    check_number("position", position, 0)
    _check_dimension(dimension, d_model)
    pair, odd = divmod(dimension, 2)
    exponent = 2 * pair / d_model
    divisor = _divisor(dimension, d_model)
    angle = position / divisor
    return Cell(position, dimension, pair, exponent, divisor, angle, "cos" if odd else "sin", (math.sin, math.cos)[odd](angle))


def wave(dimension: int, d_model: int, steps: Float[np.ndarray, " step"]) -> Float[np.ndarray, " step"]:
    """The values of one column of the sinusoidal position table, also at positions between whole numbers.

    Args:
        dimension: the column, counted from 0.
        d_model: number of dimensions.
        steps: the positions, whole numbers or fractions.

    Raises:
        InputError: there is no such dimension, or `steps` is not an array of numbers.
    """
    _check_dimension(dimension, d_model)
    check_array("steps", steps, "step")
    return (np.cos if dimension % 2 else np.sin)(steps / _divisor(dimension, d_model))


def sinusoidal_table(positions: int, d_model: int) -> Positions:
    """The sinusoidal position table, in single precision: row `p` is the vector that a model with fixed positions adds to the
    token at position `p`.

    Raises:
        InputError: a size is not a whole number of at least 1, or the table would have more than 2²⁶ (`MOST_NUMBERS`) numbers.
    """
    _check_sizes(positions, d_model)
    return sinusoid(positions, d_model).float().numpy()


def untrained_table(positions: int, d_model: int) -> Positions:
    """A learned position table before training: numbers sampled from a normal distribution with mean 0 and variance 1, as in
    `nn.Embedding`. The same sizes always give the same numbers.

    Raises:
        InputError: a size is not a whole number of at least 1, or the table would have more than 2²⁶ (`MOST_NUMBERS`) numbers.
    """
    _check_sizes(positions, d_model)
    return torch.randn(positions, d_model, generator=torch.Generator().manual_seed(0)).numpy()


def model_table(model: Transformer, side: str) -> Positions:
    """The position table of a model's encoder (`side` = "source") or decoder ("target"), read-only: [max_len, d_model].

    Raises:
        InputError: `model` is not a Transformer, or `side` is neither "source" nor "target".
    """
    check_model(model)
    return as_array(embedding_of(model, side).positions(model.config.max_len))


def dot_products(table: Positions) -> Square:
    """The dot product of every row of a position table with every row, in double precision.

    Raises:
        InputError: the table is not an array of numbers with the axes position and d_model, or is empty.
    """
    check_filled_array("table", table, TABLE_AXES)
    exact = table.astype(np.float64)
    return exact @ exact.T


def by_distance(products: Square) -> Float[np.ndarray, "distance 3"]:
    """The smallest, mean and largest dot product of all pairs of positions at the same distance: row `d` is for distance `d`.

    Args:
        products: the dot product of each pair of positions, as `dot_products` returns them.

    Raises:
        InputError: the products are not a square array of numbers, or the array is empty.
    """
    check_filled_array("products", products, "position position")
    if products.shape[0] != products.shape[1]:
        template = "products has shape {shape}; it must have as many rows as columns, as `dot_products` returns it."
        raise InputError(template, shape=products.shape)
    diagonals = [products.diagonal(distance) for distance in range(len(products))]
    return np.array([(diagonal.min(), diagonal.mean(), diagonal.max()) for diagonal in diagonals])


def spread(products: Square) -> float:
    """The largest difference between the dot products (`dot_products`) of two pairs of positions at the same distance. 0 if the
    dot products depend only on the distance.

    Raises:
        InputError: the products are not a square array of numbers, or the array is empty.
    """
    least, _, most = by_distance(products).T
    return float((most - least).max())


def rotation(shift: int, d_model: int) -> Float[np.ndarray, "d_model d_model"]:
    """The matrix that maps row `pos` of the sinusoidal position table to row `pos + shift`, for every `pos`. The matrix rotates
    the pair of dimensions `2i` and `2i + 1` by the angle b = `shift / 10000^(2i / d_model)`:

        sin(a + b) =  cos(b) sin(a) + sin(b) cos(a)
        cos(a + b) = −sin(b) sin(a) + cos(b) cos(a)

    If d_model is odd, the last dimension is a sine without a cosine. The result in this dimension is not exact.

    Raises:
        InputError: `shift` is not a whole number, or `d_model` is not a whole number from 1 to 8192 (`LARGEST_ROTATION`).
    """
    check_number("shift", shift, -math.inf)
    check_number("d_model", d_model, 1, LARGEST_ROTATION)
    matrix = np.zeros((d_model, d_model))
    for sine in range(0, d_model, 2):
        turn = shift / _divisor(sine, d_model)
        matrix[sine, sine] = math.cos(turn)
        if sine + 1 < d_model:
            matrix[sine : sine + 2, sine + 1] = math.sin(turn), math.cos(turn)
            matrix[sine + 1, sine] = -math.sin(turn)
    return matrix


def rotation_errors(table: Positions, shift: int) -> RotationErrors:
    """The largest absolute differences between a row of the table, multiplied by the matrix `rotation(shift, d_model)`, and the
    row `shift` positions later.

    Raises:
        InputError: the table is not an array of numbers with the axes position and d_model, or is empty; or `shift` is not a
            whole number from 0 to the number of rows − 1.
    """
    check_filled_array("table", table, TABLE_AXES)
    positions, d_model = table.shape
    check_number("shift", shift, 0, positions - 1)
    exact = table.astype(np.float64)
    errors = abs(exact[: positions - shift] @ rotation(shift, d_model).T - exact[shift:]).max(0)
    paired = d_model - d_model % 2
    return RotationErrors(float(errors[:paired].max()) if paired else None, float(errors[-1]) if d_model % 2 else None)


def swap(
    model: Transformer,
    ids: Sequence[int],
    first: int,
    second: int,
    edits: Sequence[Edit] = (),
    words: Sequence[Group] | None = None,
) -> Swap:
    """The encoder's output for a sentence, and for the same sentence with two tokens, or two words, swapped.

    Args:
        model: the model, in evaluation mode.
        ids: token ids of the source.
        first, second: the positions of the two tokens, counted from 0. With `words`, the indices of the two words.
        edits: interventions on tensors in both runs, such as `phrases.interventions("no positions", config)`.
        words: for each word, the positions of its tokens (`word_trace.groups`). The result then has one change and one row for
            each word: the mean over its tokens. `largest` is still over all tokens. None if tokens are not joined into words.

    Raises:
        InputError: `model` is not a Transformer, `ids` is not a list of token ids, the model has no row for an id or a
            position, `words` does not have every position once and in order, or there is no token (word) `first` or `second`.
        PathError: an edit is not an intervention, or does not fit the model.
    """
    check_model(model)
    ids = as_ids(ids)
    check_ids("ids", ids)
    places = range(len(ids))
    parts = [(place,) for place in places] if words is None else as_list(words) or []
    if not all(isinstance(part, tuple | list) and part for part in parts) or [*chain(*parts)] != [*places]:
        raise InputError(
            "The words are {words!r}; they must have the positions 0 to {last} in order.", words=words, last=places[-1]
        )
    for position in (first, second):
        check_number("position", position, 0, len(parts) - 1)
    swapped = list(parts)
    # Swapping two equal words does not change the sentence.
    if [ids[place] for place in parts[first]] != [ids[place] for place in parts[second]]:
        swapped[first], swapped[second] = parts[second], parts[first]
    order = [*chain(*swapped)]
    with torch.inference_mode(), tracing(model, edits, keep=False):
        memory, _ = model.encode(torch.tensor([[*ids], [ids[place] for place in order]]))
    # Row `i` of the second run belongs to the token at position `order[i]` of the first run.
    before, after = memory[0].double().numpy(), memory[1, np.argsort(order)].double().numpy()
    lengths = np.linalg.norm(before, axis=1)
    moved = np.linalg.norm(after - before, axis=1)
    changes = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
    largest = float(abs(after - before).max())
    changes, before, after = (word_means(values, parts) for values in (changes, before, after))
    moves = tuple(tuple((float(moved[place]), float(lengths[place])) for place in part) for part in parts)
    return Swap(changes, largest, before.astype(np.float32), after.astype(np.float32), moves)


def _divisor(dimension: int, d_model: int) -> float:
    """The number by which a dimension divides the position to get the angle in radians. Both dimensions of a pair have the same
    divisor."""
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
