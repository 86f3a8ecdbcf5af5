"""The query of a head that a page shows first: a query with a large attention weight on a word, not on a special token."""

import numpy as np
from jaxtyping import Bool, Float

from transformer.analysis.checks import check_filled_array, check_trace, check_truth
from transformer.text.vocabulary import SPECIALS
from transformer.tracing.paths import Kind, Side
from transformer.tracing.trace import Trace


def query_to_show(
    weights: Float[np.ndarray, "query key"],
    allowed: Bool[np.ndarray, "query key"],
    special_queries: Bool[np.ndarray, " query"],
    special_keys: Bool[np.ndarray, " key"],
) -> int:
    """The index of the query with the largest weight on a key that is not a special token. Weights are rounded to two decimals;
    of several queries with the same weight, the first is chosen. The weight on a key at the query's own position does not
    count. Queries that are special tokens, or that may attend to fewer than three keys, are chosen only if there are no others.

    Args:
        weights: attention weights of one head, 0 to 1.
        allowed: False where a query may not attend to a key.
        special_queries, special_keys: True for special tokens such as `<sos>`.

    Raises:
        InputError: the weights are not an array of numbers with these axes, another array is not of truth values, or their
            shapes differ.
    """
    check_filled_array("weights", weights, "query key")
    queries, keys = weights.shape
    check_truth("allowed", allowed, (queries, keys))
    check_truth("special_queries", special_queries, (queries,))
    check_truth("special_keys", special_keys, (keys,))
    own = np.eye(*weights.shape, dtype=bool)
    strength = np.where(allowed & ~special_keys & ~own, weights, 0).max(1) - special_queries - 2.0 * (allowed.sum(1) < 3)
    return int(strength.round(2).argmax())


def cell_to_show(trace: Trace, kind: str, layer: int, head: int, item: int = 0) -> tuple[int, int]:
    """The attention weight of a head to show first, as indices (query, key): the query that `query_to_show` chooses, and the
    key on which this query has its largest weight.

    Args:
        trace: every tensor of a forward pass, as `Pipeline.trace` returns it.
        kind: the kind of attention: `encoder`, `decoder` or `cross`.
        layer, head: numbers of the layer and the head, counted from 0.
        item: number of the text in the batch, counted from 0.

    Raises:
        InputError: `trace` is not a Trace, or has no such kind of attention.
        PathError: there is no such layer, head or text.
    """
    check_trace(trace)
    weights, allowed = trace.head(kind, layer, head, item).numpy(), trace.head_allowed(kind, layer, head, item).numpy()
    queries, keys = (_special(trace, side, item) for side in (Kind.of(kind).queries, Kind.of(kind).keys))
    row = query_to_show(weights, allowed, queries, keys)
    return row, int(weights[row].argmax())


def _special(trace: Trace, side: Side, item: int) -> Bool[np.ndarray, " position"]:
    """True for the special tokens of a text: tokens that belong to no word (`Trace.words_of`). If the trace does not list the
    words of its tokens, the special tokens are those in `SPECIALS`."""
    words = trace.words_of(side)
    return np.array([word is None for word in words[item]]) if words else np.isin(trace.tokens_of(side)[item], SPECIALS)
