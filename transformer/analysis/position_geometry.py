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
    """The computation of one number of the sinusoidal table.

    Attributes:
        position, dimension: row and column of the number, counted from 0.
        pair: the `i` of the formula: dimensions `2i` and `2i + 1` have the same frequency.
        exponent: `2i / d_model`.
        divisor: `10000 ** exponent`: the number of positions after which the angle has grown by one radian.
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
    """The largest errors of a rotated position table. An error is the difference between a rotated row and the row `shift`
    later.

    Attributes:
        pairs: largest error in the dimensions that form pairs; None if there is no pair.
        lone: largest error in the last dimension if the width is odd, because this sine has no cosine; None for an even width.
    """

    pairs: float | None
    lone: float | None


class Swap(NamedTuple):
    """The encoder's output for a sentence before and after two of its tokens are swapped. Each token is compared with itself.

    Attributes:
        changes: for each token, in the order before the swap: the length of the change of its vector, divided by the length of
            the vector.
        largest: the largest absolute difference between a number of the output before the swap and after it.
        before, after: the encoder's output for each of the two sentences, both in the order before the swap.
        moves: for each token or word, a pair for each of its pieces: the length of the change of the piece's vector, and the
            length of this vector before the swap.
    """

    changes: Float[np.ndarray, " source"]
    largest: float
    before: Float[np.ndarray, "source d_model"]
    after: Float[np.ndarray, "source d_model"]
    moves: tuple[tuple[tuple[float, float], ...], ...]


def cell(position: int, dimension: int, d_model: int) -> Cell:
    """One number of `sinusoid`, step by step (section 3.5).

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
    """The values of a column of `sinusoid` at any positions, also between whole numbers.

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
    """A learned table before training: numbers sampled from a normal distribution with mean 0 and variance 1, as in
    `nn.Embedding`. The same sizes always give the same numbers.

    Raises:
        InputError: a size is not a whole number of at least 1, or the table would have more than `MOST_NUMBERS` numbers.
    """
    _check_sizes(positions, d_model)
    return torch.randn(positions, d_model, generator=torch.Generator().manual_seed(0)).numpy()


def model_table(model: Transformer, side: str) -> Positions:
    """The whole position table of a model for a side, `source` or `target`: [max_len, d_model]. Read-only.

    Raises:
        InputError: `model` is not a Transformer, or there is no such side.
    """
    check_model(model)
    return as_array(embedding_of(model, side).positions(model.config.max_len))


def dot_products(table: Positions) -> Square:
    """The dot product of every row of a table with every row.

    Raises:
        InputError: the table is not an array of numbers with the axes position and d_model, or is empty.
    """
    check_filled_array("table", table, TABLE_AXES)
    exact = table.astype(np.float64)
    return exact @ exact.T


def by_distance(products: Square) -> Float[np.ndarray, "distance 3"]:
    """The smallest, mean and largest dot product of all pairs of positions at the same distance, for every distance from 0.

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
    """The largest difference between two dot products at the same distance: 0 if they depend only on the distance.

    Raises:
        InputError: the products are not a square array of numbers, or the array is empty.
    """
    least, _, most = by_distance(products).T
    return float((most - least).max())


def rotation(shift: int, d_model: int) -> Float[np.ndarray, "d_model d_model"]:
    """The matrix whose product with `PE[pos]` is `PE[pos + shift]`, for every `pos`. It rotates each pair of dimensions by its
    own angle, `shift / 10000^(2i / d_model)`:

        sin(a + b) =  cos(b) sin(a) + sin(b) cos(a)
        cos(a + b) = −sin(b) sin(a) + cos(b) cos(a)

    If the width is odd, the last dimension is a sine without a cosine, so its row has only the first term of the sum.

    Raises:
        InputError: `shift` is not a whole number, or `d_model` is not a whole number from 1 to `LARGEST_ROTATION`.
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
    """The largest absolute errors of `rotation(shift, …)` on a table, over all pairs of rows that are `shift` positions apart.

    Raises:
        InputError: the table is not an array of numbers with the axes position and d_model, or is empty; or no two rows are
            `shift` positions apart.
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
        edits: interventions in both runs, such as `phrases.interventions("no positions", config)`.
        words: the positions of each word (`word_trace.groups`), if the tokens are pieces of words. The result then has one
            change and one row for each word: the mean over the pieces of the word. `largest` is still over all pieces.

    Raises:
        InputError: `model` is not a Transformer, `ids` is not a list of token ids, the model has no row for an id, `words` does
            not have every position once and in order, or there is no position `first` or `second`.
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
    """The divisor of the positions in a dimension: position / divisor is the angle in radians. Both dimensions of a pair have
    the same divisor."""
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
