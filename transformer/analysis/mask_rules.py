"""Properties of a mask, computed from the mask itself: whether it is causal, and the size of its sliding window.

A mask of a Hugging Face model is only recorded, so these properties are not known from its configuration.
"""

import numpy as np
from jaxtyping import Bool

from transformer.analysis.checks import check_array
from transformer.errors import InputError

AXES = "query key"


def is_causal(keep: Bool[np.ndarray, "query key"]) -> bool:
    """Whether a mask is causal: no query may attend to a later key. `keep` is True where a query may attend to a key.

    Raises:
        InputError: `keep` is not a square array with the axes query and key.
    """
    _check_square(keep)
    return not np.triu(keep, 1).any()


def window(keep: Bool[np.ndarray, "query key"], real: Bool[np.ndarray, " token"]) -> int | None:
    """The size of a mask's sliding window: the largest distance, in tokens, at which a query may attend to a key. None if the
    mask is not a sliding window: it hides a key at this or a smaller distance, or hides no key.

    Args:
        keep: True where a query may attend to a key of the same text.
        real: False for padding. Padding is not counted. In a causal mask, keys after the query are not counted either.

    Raises:
        InputError: `keep` is not a square array with the axes query and key, or `real` has another length.
    """
    _check_square(keep)
    if len(real) != len(keep):
        raise InputError("There are {real} tokens and {keys} keys; each key is a token.", real=len(real), keys=len(keep))
    places = np.arange(len(keep))
    away = abs(places[:, None] - places)
    counted = real[:, None] & real & (np.tri(len(keep), dtype=bool) if is_causal(keep) else True)
    hidden = counted & ~keep
    most = int(away[counted & keep].max(initial=-1))
    return most if hidden.any() and 0 <= most < away[hidden].min() else None


def _check_square(keep: Bool[np.ndarray, "query key"]) -> None:
    check_array("keep", keep, AXES)
    if keep.shape[0] != keep.shape[1]:
        template = "A mask of self-attention has as many queries as keys; this one has {queries} queries and {keys} keys."
        raise InputError(template, queries=keep.shape[0], keys=keep.shape[1])
