"""What a table of positions can do: its angles, its dot products, its rotations; and what becomes of a sentence without one.

Everything is worked out in double precision from the single-precision table that the model adds, so a difference that is
shown is the table's own rounding and not that of the check.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from transformer.errors import InputError
from transformer.network.embedding import sinusoid
from transformer.network.model import Transformer, embedding_of
from transformer.network.tap import Edit, tracing
from transformer.tracing.trace import as_array

Positions = Float[np.ndarray, "position d_model"]
Square = Float[np.ndarray, "position position"]
BASE = 10_000


class Cell(NamedTuple):
    """How one number of the sinusoidal table comes about.

    Attributes:
        position, dimension: which number.
        pair: the `i` of the formula: dimensions `2i` and `2i + 1` turn at the same speed.
        exponent: `2i / d_model`.
        divisor: `10000 ** exponent`: the positions it takes to turn by one radian.
        angle: `position / divisor`, in radians.
        function: `sin` in an even dimension, `cos` in an odd one.
        value: the function of the angle.
    """

    position: int
    dimension: int
    pair: int
    exponent: float
    divisor: float
    angle: float
    function: str
    value: float


class Turned(NamedTuple):
    """How well a rotation takes each position to the one `shift` further on, as the largest error over all positions.

    Attributes:
        pairs: over the dimensions that form pairs; None where there is no pair.
        lone: in the last dimension of an odd width, a sine without its cosine; None for an even width.
    """

    pairs: float | None
    lone: float | None


class Swap(NamedTuple):
    """What the encoder makes of a sentence when two of its tokens change places, each token compared with itself.

    Attributes:
        changes: of each token of the sentence, in the order before the swap: the length of its vector's change, as a share
            of the vector's length.
        largest: the largest difference of any number.
        before, after: the encoder's output for either sentence, both in the order before the swap.
    """

    changes: Float[np.ndarray, " source"]
    largest: float
    before: Float[np.ndarray, "source d_model"]
    after: Float[np.ndarray, "source d_model"]


def cell(position: int, dimension: int, d_model: int) -> Cell:
    """One number of `sinusoid`, step by step (section 3.5)."""
    pair, odd = divmod(dimension, 2)
    exponent = 2 * pair / d_model
    divisor = BASE**exponent
    angle = position / divisor
    return Cell(position, dimension, pair, exponent, divisor, angle, "cos" if odd else "sin", (math.sin, math.cos)[odd](angle))


def wave(dimension: int, d_model: int, steps: Float[np.ndarray, " step"]) -> Float[np.ndarray, " step"]:
    """The curve on which a column of `sinusoid` lies, at any positions, whole or not."""
    place = cell(1, dimension, d_model)
    return (np.cos if place.function == "cos" else np.sin)(steps / place.divisor)


def sinusoidal_table(positions: int, d_model: int) -> Positions:
    """`embedding.sinusoid` as an array, in single precision: what a model with fixed positions adds."""
    return sinusoid(positions, d_model).float().numpy()


def untrained_table(positions: int, d_model: int) -> Positions:
    """What a learned table starts from, before any training: numbers drawn from a normal distribution of mean 0 and variance 1,
    as `nn.Embedding` draws them. The same sizes always give the same numbers."""
    return torch.randn(positions, d_model, generator=torch.Generator().manual_seed(0)).numpy()


def model_table(model: Transformer, side: str) -> Positions:
    """Every row that a model can add on a side, `source` or `target`: [max_len, d_model]. Read-only.

    Raises:
        InputError: there is no such side.
    """
    return as_array(embedding_of(model, side).positions(model.config.max_len))


def dot_products(table: Positions) -> Square:
    """Every position with every other, row by row."""
    exact = table.astype(np.float64)
    return exact @ exact.T


def by_distance(products: Square) -> Float[np.ndarray, "distance 3"]:
    """Least, mean and largest dot product of the pairs that are the same distance apart, for every distance from 0."""
    diagonals = [products.diagonal(distance) for distance in range(len(products))]
    return np.array([(diagonal.min(), diagonal.mean(), diagonal.max()) for diagonal in diagonals])


def spread(products: Square) -> float:
    """How far a dot product may be from another at the same distance: 0 where distance alone decides."""
    least, _, most = by_distance(products).T
    return float((most - least).max())


def rotation(shift: int, d_model: int) -> Float[np.ndarray, "d_model d_model"]:
    """The matrix that takes `PE[pos]` to `PE[pos + shift]`, whatever `pos` is. Each pair of dimensions turns by an angle of its
    own, `shift / 10000^(2i / d_model)`:

        sin(a + b) =  cos(b) sin(a) + sin(b) cos(a)
        cos(a + b) = −sin(b) sin(a) + cos(b) cos(a)

    The last dimension of an odd width is a sine whose cosine is missing, so only the first half of its sum is there.
    """
    matrix = np.zeros((d_model, d_model))
    for sine in range(0, d_model, 2):
        turn = cell(shift, sine, d_model).angle
        matrix[sine, sine] = math.cos(turn)
        if sine + 1 < d_model:
            matrix[sine : sine + 2, sine + 1] = math.sin(turn), math.cos(turn)
            matrix[sine + 1, sine] = -math.sin(turn)
    return matrix


def turned(table: Positions, shift: int) -> Turned:
    """How far `rotation(shift, …)` misses, over every position that has one `shift` further on.

    Raises:
        InputError: no position has.
    """
    positions, d_model = table.shape
    if not 0 <= shift < positions:
        raise InputError("shift is {shift!r}; allowed are 0 to {most}.", shift=shift, most=positions - 1)
    exact = table.astype(np.float64)
    errors = abs(exact[: positions - shift] @ rotation(shift, d_model).T - exact[shift:]).max(0)
    paired = d_model - d_model % 2
    return Turned(float(errors[:paired].max()) if paired else None, float(errors[-1]) if d_model % 2 else None)


def swap(model: Transformer, ids: Sequence[int], first: int, second: int, edits: Sequence[Edit] = ()) -> Swap:
    """Run the encoder on a sentence and on the same with two tokens changed places, and compare each token with itself.

    Args:
        model: in evaluation mode.
        ids: of the source.
        first, second: which positions change places, counted from 0.
        edits: in force in both runs, such as `edits.interventions("no positions", config)`.

    Raises:
        InputError: no such position, or ids the model has no row for.
    """
    for position in (first, second):
        if not 0 <= position < len(ids):
            raise InputError("position is {position!r}; allowed are 0 to {most}.", position=position, most=len(ids) - 1)
    order = list(range(len(ids)))
    # Two of the same token cannot be told apart, so the sentence is what it was.
    if ids[first] != ids[second]:
        order[first], order[second] = second, first
    with torch.inference_mode(), tracing(model, edits, keep=False):
        memory, _ = model.encode(torch.tensor([[*ids], [ids[index] for index in order]]))
    # Swapping once more puts every token of the second run back beside itself.
    before, after = memory[0].double().numpy(), memory[1, order].double().numpy()
    lengths = np.linalg.norm(before, axis=1)
    moved = np.linalg.norm(after - before, axis=1)
    changes = np.divide(moved, lengths, out=np.zeros_like(moved), where=lengths > 0)
    return Swap(changes, float(abs(after - before).max()), before.astype(np.float32), after.astype(np.float32))
