"""What a head does, in numbers: where its attention falls, and whether it follows the task.

Everything here is a function of attention weights alone, as NumPy arrays, and holds for all layers and heads at once.
Averages over queries leave out queries that may look nowhere, which are known by their weights: all zero. Where hidden scores
become a number instead of −∞, such a query looks everywhere alike, and counts.
"""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Float

Weights = Float[np.ndarray, "layer head query key"]
PerHead = Float[np.ndarray, "layer head"]

# What a large value of each measure says of a head, and its unit: shares run from 0 to 1, entropy and distance do not.
SHARES = ("self", "previous", "next", "first", "last", "diagonal", "anti-diagonal", "alignment")
MEASURES = ("entropy", "distance", *SHARES)


def measure(weights: Weights, aligned: Bool[np.ndarray, "query key"] | None = None) -> dict[str, PerHead]:
    """Every measure of every head.

    - `entropy`: Shannon entropy of a query's weights, in bits: 0 for one key, log2(keys) for all alike.
    - `distance`: mean distance between query and key, in tokens.
    - `self`, `previous`, `next`, `first`, `last`: share of the weight on the key at the query's own position, one before,
      one after, at the start, at the end.
    - `diagonal`, `anti-diagonal`: share within one token of the line from the first query and first key to the last of both,
      or from the first query and last key to the last query and first key.
    - `alignment`: share on the keys that the task says the query needs, over the queries for which it says so.

    Args:
        weights: each row sums to 1, or to 0 where nothing may be looked at.
        aligned: True where the task says a query needs a key; None, or no True in it, leaves `alignment` out.
    """
    queries, keys = weights.shape[-2:]
    query, key = np.arange(queries)[:, None], np.arange(keys)[None, :]
    line = query * (keys - 1) / max(1, queries - 1)
    places = {
        "self": key == query,
        "previous": key == query - 1,
        "next": key == query + 1,
        "first": key == np.zeros_like(query),
        "last": key == np.full_like(query, keys - 1),
        "diagonal": abs(key - line) <= 1,
        "anti-diagonal": abs(key - (keys - 1 - line)) <= 1,
    }
    looking = weights.sum(-1) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(weights > 0, -weights * np.log2(weights), 0.0).sum(-1)
    found = {"entropy": _mean(bits, looking), "distance": _mean((weights * abs(query - key)).sum(-1), looking)}
    found |= {name: _mean((weights * place).sum(-1), looking) for name, place in places.items()}
    if aligned is not None and aligned.any():
        found["alignment"] = _mean((weights * aligned).sum(-1), looking & aligned.any(-1))
    return found


def mean_of(measures: Iterable[dict[str, PerHead]]) -> dict[str, PerHead]:
    """The mean over several sentences; a measure that some lack is averaged over those that have it."""
    collected: dict[str, list[PerHead]] = {}
    for found in measures:
        for name, values in found.items():
            collected.setdefault(name, []).append(values)
    return {name: np.mean(values, axis=0) for name, values in collected.items()}


def strongest(values: PerHead) -> tuple[int, int]:
    """(layer, head), counted from 0, of the head with the largest value."""
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return int(layer), int(head)


def shift(
    weights_a: Float[np.ndarray, "layer head key"],
    weights_b: Float[np.ndarray, "layer head key"],
    first: int,
    second: int,
) -> PerHead:
    """How far each head turns from one token to another when the sentence changes: ½[(a₁ − a₂) − (b₁ − b₂)], from −1 to 1.

    Args:
        weights_a, weights_b: the weights of one query in two sentences that differ in a word.
        first, second: the key that the first sentence is about, and the one that the second is about.
    """
    return ((weights_a[..., first] - weights_a[..., second]) - (weights_b[..., first] - weights_b[..., second])) / 2


def rollout(weights: Weights) -> Float[np.ndarray, "layer query key"]:
    """Attention rollout (Abnar and Zuidema 2020): how much of each position's content could come from each input token after
    each layer, if every layer passed on half of its stream unchanged and half by the mean of its heads.

    Only for self-attention, where queries and keys are the same tokens.

        A_l = ½ (mean over heads of the weights of layer l + I), rows rescaled to sum to 1;   R_l = A_l R_{l−1}
    """
    mixed = (weights.mean(1) + np.eye(weights.shape[-1])) / 2
    mixed = mixed / mixed.sum(-1, keepdims=True)
    found = [mixed[0]]
    for layer in mixed[1:]:
        found.append(layer @ found[-1])
    return np.stack(found)


def alignment_mask(
    alignment: Iterable[tuple[int, int]] | None, queries: int, keys: int
) -> Bool[np.ndarray, "query key"] | None:
    """A task's alignment as a mask over cross-attention.

    Row `t` of the decoder reads token `t` of its input and predicts the token after it, so with `<sos>` in front on both
    sides, target token `i` belongs to row `i`, and source token `j` to key `j + 1`.

    Args:
        alignment: (target index, source index) pairs into the tokens without `<sos>` and `<eos>`, or None.
        queries, keys: size of the mask.
    """
    if alignment is None:
        return None
    mask = np.zeros((queries, keys), dtype=bool)
    for target, source in alignment:
        if target < queries and source + 1 < keys:
            mask[target, source + 1] = True
    return mask


def _mean(values: Float[np.ndarray, "layer head query"], counted: Bool[np.ndarray, "layer head query"]) -> PerHead:
    return (values * counted).sum(-1) / np.maximum(1, counted.sum(-1))
