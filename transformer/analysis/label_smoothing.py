"""Label smoothing (Vaswani et al. 2017, section 5.4): training targets in which the right token has a probability below 1."""

from numbers import Real

import numpy as np
from jaxtyping import Float

from transformer.analysis.checks import check_array, check_number
from transformer.errors import InputError


def smoothed_target(vocab: int, token: int, smoothing: float) -> Float[np.ndarray, " vocab"]:
    """The target distribution for one right token: a share `smoothing` is spread evenly over all tokens of the vocabulary.

    So the right token gets 1 − ε + ε / vocab. If a model gives the right token a higher probability than this, the loss grows.

    Args:
        vocab: size of the vocabulary.
        token: id of the right token.
        smoothing: ε, from 0 to 1.

    Raises:
        InputError: `vocab` is less than 1, `token` is not in the vocabulary, or `smoothing` is not from 0 to 1.
    """
    check_number("vocab", vocab, 1)
    check_number("token", token, 0, vocab - 1)
    if isinstance(smoothing, bool) or not isinstance(smoothing, Real) or not 0 <= smoothing <= 1:
        raise InputError("smoothing is {smoothing!r}; allowed are 0 to 1.", smoothing=smoothing)
    smoothing = float(smoothing)
    target = np.full(vocab, smoothing / vocab)
    target[token] += 1 - smoothing
    return target


def entropy(distribution: Float[np.ndarray, " vocab"]) -> float:
    """−Σ p log p, in nats: the smallest loss that a model can have if this distribution is its target.

    Raises:
        InputError: `distribution` is not an array of numbers with the axis vocab.
    """
    check_array("distribution", distribution, "vocab")
    positive = distribution[distribution > 0]
    return float(-(positive * np.log(positive)).sum())


def least_loss(vocab: int, smoothing: float) -> float:
    """The smallest loss of one token that label smoothing allows, in nats: the entropy of the smoothed target. `vocab` is the
    size of the vocabulary, `smoothing` is from 0 to 1. Errors are those of `smoothed_target`."""
    return entropy(smoothed_target(vocab, 0, smoothing))
