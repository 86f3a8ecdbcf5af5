"""The query of a head that a page shows first: a query with a large weight on a word, not on the start of the sentence."""

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
    """The index of the query with the largest weight on a key that is not a special token, to two decimals; of several, the
    first. The weight on a key at the query's own position does not count. Queries that are special tokens, or that may attend
    to fewer than three keys, are chosen only if there are no other queries.

    Args:
        weights: weights of one head, 0 to 1.
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
    """(query, key): the query of a head to show first (`query_to_show`), and the key on which it has the largest weight of all.

    Args:
        trace: trace of the run.
        kind, layer, head: kind of attention, layer and head. Layers and heads are counted from 0.
        item: number of the text in the batch, counted from 0.

    Raises:
        InputError: `trace` is not a Trace.
        HeadlightError: the trace has no such head.
    """
    check_trace(trace)
    weights, allowed = trace.head(kind, layer, head, item).numpy(), trace.head_allowed(kind, layer, head, item).numpy()
    queries, keys = (_special(trace, side, item) for side in (Kind.of(kind).queries, Kind.of(kind).keys))
    row = query_to_show(weights, allowed, queries, keys)
    return row, int(weights[row].argmax())


def _special(trace: Trace, side: Side, item: int) -> Bool[np.ndarray, " position"]:
    """True for the special tokens of a text. Each tokenizer has its own names for them, so the names of ours count only if the
    trace does not say which tokens belong to a word."""
    words = trace.words_of(side)
    return np.array([word is None for word in words[item]]) if words else np.isin(trace.tokens_of(side)[item], SPECIALS)
