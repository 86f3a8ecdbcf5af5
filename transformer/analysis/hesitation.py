"""The place where a model was least sure of its answer: the token that it wrote with the smallest probability."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_filled_array
from transformer.errors import InputError

UNSURE = 0.5  # below this, all other tokens together are more probable than the written token


class Hesitation(NamedTuple):
    """A token that the model wrote although its probability was small.

    Attributes:
        row: the index of the token in the answer, counted from 0.
        token, probability: id of the written token, and its probability, 0 to 1.
        other, other_probability: id of the second most probable token, and its probability.
    """

    row: int
    token: int
    probability: float
    other: int
    other_probability: float


def hesitation(probabilities: Float[np.ndarray, "row vocab"]) -> Hesitation | None:
    """The token with the smallest probability in a greedy answer. None if this probability is at least 0.5 (`UNSURE`).

    Args:
        probabilities: a row for each token of the answer, including `<eos>`: the distribution from which the token was chosen.

    Raises:
        InputError: the probabilities are not an array of numbers with at least one row and two tokens.
    """
    check_filled_array("probabilities", probabilities, "row vocab")
    if probabilities.shape[1] < 2:
        raise InputError("probabilities has shape {shape}; a choice needs at least 2 tokens.", shape=probabilities.shape)
    highest = probabilities.max(1)
    row = int(highest.argmin())
    if highest[row] >= UNSURE:
        return None
    other, token = np.argpartition(probabilities[row], -2)[-2:].tolist()
    return Hesitation(row, token, float(highest[row]), other, float(probabilities[row, other]))
