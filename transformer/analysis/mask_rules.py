"""The rules of a mask, read off the mask itself: whether it hides later keys, and how far its queries look.

A mask of another network is only recorded, so its rules are not known from settings.
"""

import numpy as np
from jaxtyping import Bool

from transformer.analysis.checks import check_array
from transformer.errors import InputError

AXES = "query key"


def is_causal(keep: Bool[np.ndarray, "query key"]) -> bool:
    """Whether no query may attend to a later key.

    Raises:
        InputError: `keep` is not a square array with the axes query and key.
    """
    _check_square(keep)
    return not np.triu(keep, 1).any()


def window(keep: Bool[np.ndarray, "query key"], real: Bool[np.ndarray, " token"]) -> int | None:
    """The largest distance, in tokens, at which the mask lets a query attend, if it hides all keys at larger distances and none
    at smaller ones (a sliding window). Otherwise None; also if no counted key is hidden.

    Args:
        keep: True where a query may attend to a key of the same text.
        real: False for padding. Padding, and the keys that a causal mask hides, are not counted.

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
