"""Measures of attention heads: which keys each head attends to, and whether the task needs these keys.

Each function reads attention weights as a NumPy array and computes all layers and heads at once. The mask may hide all keys of
a query. Then all weights of the query are zero, and averages leave the query out. If the number that replaces hidden scores is
finite, such a query attends to every key equally, and is counted.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float

from transformer.analysis.checks import check_array, check_filled_array, check_number, is_whole
from transformer.errors import InputError
from transformer.tracing.paths import check_index
from transformer.validation import as_list

Weights = Float[np.ndarray, "layer head query key"]
WEIGHT_AXES = "layer head query key"
PER_HEAD_AXES = "layer head"
PerHead = Float[np.ndarray, "layer head"]

# The measures with values from 0 to 1. Entropy is in bits, distance in tokens.
SHARES = ("self", "previous", "next", "first", "last", "diagonal", "anti-diagonal", "duplicate", "induction", "alignment")
MEASURES = ("entropy", "distance", *SHARES)


def measure(
    weights: Weights,
    aligned: Bool[np.ndarray, "query key"] | None = None,
    ids: Sequence[int] | Sequence[str] | None = None,
) -> dict[str, PerHead]:
    """Name of a measure → its value for each layer and head, a mean over the queries:

    - `entropy`: Shannon entropy of a query's weights, in bits: 0 if one key has all the weight, log2(keys) for equal weights.
    - `distance`: mean distance between query and key, in tokens, weighted by the attention.
    - `self`, `previous`, `next`, `first`, `last`: share of the weight on the key at the query's own position, one position
      before, one position after, at the start, at the end. A query without such a key counts as 0, so in a text of four tokens,
      a head that always attends to the previous token has 0.75.
    - `diagonal`, `anti-diagonal`: share of the weight within one token of a line. The diagonal runs from the first query and
      first key to the last query and last key, the anti-diagonal from the first query and last key to the last query and first
      key.
    - `duplicate`: share of the weight on earlier positions with the same token as the query's. Only queries with such a key are
      counted.
    - `induction`: share of the weight on the positions right after those of `duplicate`: on tokens that followed the query's
      token earlier. A head that completes repeated texts has a high share (Olsson et al. 2022). Only queries with such a key
      are counted.
    - `alignment`: share of the weight on the keys that a query needs for the task. Only queries that need a key are counted.

    Args:
        weights: attention weights. The weights of a query sum to 1, or to 0 if the query may attend to no key.
        aligned: True where a query needs a key for the task. `alignment` is left out if `aligned` is None or has no True.
        ids: for self-attention, the id of each token of the text, or the tokens themselves. `duplicate` and `induction` are
            left out if `ids` is None or no token occurs twice.

    Raises:
        InputError: the weights are not an array of numbers with the axes layer, head, query and key, `aligned` is not an array
            with the same queries and keys, or there is not exactly one id for each query and for each key.
    """
    check_array("weights", weights, WEIGHT_AXES)
    if aligned is not None:
        check_array("aligned", aligned, "query key")
    if aligned is not None and aligned.shape != weights.shape[2:]:
        template = "aligned has shape {shape}; the weights have {expected} queries and keys."
        raise InputError(template, shape=aligned.shape, expected=weights.shape[2:])
    queries, keys = weights.shape[-2:]
    query, key = np.arange(queries)[:, None], np.arange(keys)[None, :]
    line = query * (keys - 1) / max(1, queries - 1)
    measured_keys = {
        "self": key == query,
        "previous": key == query - 1,
        "next": key == query + 1,
        "first": key == np.zeros_like(query),
        "last": key == np.full_like(query, keys - 1),
        "diagonal": abs(key - line) <= 1,
        "anti-diagonal": abs(key - (keys - 1 - line)) <= 1,
    }
    attending = weights.sum(-1) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(weights > 0, -weights * np.log2(weights), 0.0).sum(-1)
    measures = {"entropy": _mean(bits, attending), "distance": _mean((weights * abs(query - key)).sum(-1), attending)}
    measures |= {name: _mean((weights * measured).sum(-1), attending) for name, measured in measured_keys.items()}
    some_queries = {} if ids is None else _repetitions(ids, queries, keys)
    if aligned is not None:
        some_queries["alignment"] = aligned
    for name, measured in some_queries.items():
        if measured.any():
            measures[name] = _mean((weights * measured).sum(-1), attending & measured.any(-1))
    return measures


def mean_of(measures: Iterable[dict[str, PerHead]]) -> dict[str, PerHead]:
    """Name of a measure → its mean over several sentences, for each layer and head. Sentences without the measure are not
    counted.

    Args:
        measures: for each sentence, a result of the function `measure`.

    Raises:
        InputError: `measures` is not a list of such results, or the results differ in the number of layers or heads.
    """
    listed = as_list(measures)
    if listed is None:
        raise InputError("measures must be a list of results of `measure`, not {measures!r}.", measures=measures)
    collected: dict[str, list[PerHead]] = {}
    for of_sentence in listed:
        if not isinstance(of_sentence, Mapping):
            raise InputError("measures must be a list of results of `measure`; one of them is {one!r}.", one=of_sentence)
        for name, values in of_sentence.items():
            check_array(name, values, PER_HEAD_AXES)
            collected.setdefault(name, []).append(values)
    for name, arrays in collected.items():
        for values in arrays:
            if values.shape != arrays[0].shape:
                template = "{name} has shape {shape} in one sentence and {other} in another; they must be equal."
                raise InputError(template, name=name, shape=arrays[0].shape, other=values.shape)
    return {name: np.mean(values, axis=0) for name, values in collected.items()}


def strongest(values: PerHead) -> tuple[int, int]:
    """The head with the largest value, as (layer, head), counted from 0. NaN is left out.

    Raises:
        InputError: `values` is not an array of numbers with the axes layer and head, or all of them are NaN.
    """
    check_array("values", values, PER_HEAD_AXES)
    if np.isnan(values).all():
        raise InputError("There are no heads to compare.")
    layer, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return int(layer), int(head)


def shift(
    weights_a: Float[np.ndarray, "layer head key"],
    weights_b: Float[np.ndarray, "layer head key"],
    first: int,
    second: int,
) -> PerHead:
    """How far each head moves its attention from key `first` to key `second` when sentence b replaces sentence a, −1 to 1:
    ½[(a₁ − a₂) − (b₁ − b₂)], where a₁ and a₂ are the weights of the keys `first` and `second` in sentence a.

    Args:
        weights_a, weights_b: the attention weights of one query, such as a pronoun, in two sentences that differ in a word.
        first, second: index of the key that the query refers to in sentence a, and in sentence b.

    Raises:
        InputError: the weights are not arrays of numbers with the axes layer, head and key, or have different numbers of layers
            or heads.
        PathError: there is no such key.
    """
    for name, weights in (("weights_a", weights_a), ("weights_b", weights_b)):
        check_array(name, weights, "layer head key")
    if weights_a.shape[:2] != weights_b.shape[:2]:
        template = "The weights have {first} and {second} layers and heads; they must have the same."
        raise InputError(template, first=weights_a.shape[:2], second=weights_b.shape[:2])
    for name, key in (("first", first), ("second", second)):
        check_index(name, key, min(weights_a.shape[-1], weights_b.shape[-1]))
    return ((weights_a[..., first] - weights_a[..., second]) - (weights_b[..., first] - weights_b[..., second])) / 2


def rollout(weights: Weights) -> Float[np.ndarray, "layer query key"]:
    """Attention rollout (Abnar and Zuidema 2020): for each position (query) after each layer, the share of its content that
    would come from each input token (key) if every layer copied half of the residual stream unchanged, and mixed the other half
    by the mean weights of its heads. Only for self-attention, because queries and keys must be the same tokens.

        R_l = A_l R_{l−1};   A_l = ½ (W_l + I), rows rescaled to sum to 1;   W_l: mean weights of the heads of layer l

    Raises:
        InputError: the weights are not an array of numbers with the axes layer, head, query and key, are empty, or have
            different numbers of queries and keys.
    """
    mixed = mixed_with_stream(weights)
    products = [mixed[0]]
    for layer in mixed[1:]:
        products.append(layer @ products[-1])
    return np.stack(products)


def mixed_with_stream(weights: Weights) -> Float[np.ndarray, "layer query key"]:
    """The matrices of attention rollout, one for each layer: ½ (W + I), with rows rescaled to sum to 1, where W is the mean of
    the weights over the heads. `weights` has the axes layer, head, query and key. Errors are those of `rollout`."""
    check_filled_array("weights", weights, WEIGHT_AXES)
    if weights.shape[-2] != weights.shape[-1]:
        template = "Rollout needs as many queries as keys; these weights have {queries} queries and {keys} keys."
        raise InputError(template, queries=weights.shape[-2], keys=weights.shape[-1])
    mixed = (weights.mean(1) + np.eye(weights.shape[-1])) / 2
    return mixed / mixed.sum(-1, keepdims=True)


def reachable(
    allowed: Bool[np.ndarray, "layer head query key"],
) -> Bool[np.ndarray, "layer query key"]:
    """True where information of an input token (key) can have reached a position (query) after a layer, through residual
    connections and heads. `allowed` is True where a query may attend to a key. Raises the same errors as `rollout`."""
    check_array("allowed", allowed, WEIGHT_AXES)
    return rollout(allowed.astype(np.float32)) > 0


def alignment_mask(
    alignment: Iterable[tuple[int, int]] | None, queries: int, keys: int
) -> Bool[np.ndarray, "query key"] | None:
    """A mask over the weights of cross-attention, True where a query needs a key for the task; None if `alignment` is None.

    Row `t` of the decoder reads token `t` of its input and predicts the next token. Both source and target begin with `<sos>`,
    so target token `i` belongs to row `i`, and source token `j` to key `j + 1`.

    Args:
        alignment: pairs (target index, source index) of tokens that belong together, from 0, `<sos>` and `<eos>` not counted.
            None if the task has no alignment. Pairs outside the matrix are ignored.
        queries, keys: number of rows and of columns of the matrix.

    Raises:
        InputError: `alignment` is not a list of pairs of whole numbers of at least 0, or a size is not such a number.
    """
    for name, size in (("queries", queries), ("keys", keys)):
        check_number(name, size, 0)
    if alignment is None:
        return None
    mask = np.zeros((queries, keys), dtype=bool)
    for target, source in _pairs(alignment):
        if target < queries and source + 1 < keys:
            mask[target, source + 1] = True
    return mask


def _repetitions(ids: Sequence[int] | Sequence[str], queries: int, keys: int) -> dict[str, Bool[np.ndarray, "query key"]]:
    """`duplicate` and `induction` → True for the keys that the measure counts. Raises InputError if there is not exactly one id
    for each position."""
    listed = as_list(ids)
    if listed is None or not all(isinstance(each, str) or is_whole(each) for each in listed):
        raise InputError("ids must be a list of token ids or of tokens, such as [1, 5, 2], not {ids!r}.", ids=ids)
    if not len(listed) == queries == keys:
        template = "There are {count} ids, but {queries} queries and {keys} keys; in self-attention the numbers are equal."
        raise InputError(template, count=len(listed), queries=queries, keys=keys)
    number: dict[int | str, int] = {}
    numbers = np.array([number.setdefault(each, len(number)) for each in listed], dtype=np.int64)
    duplicate = np.tril(numbers[:, None] == numbers, -1)
    return {"duplicate": duplicate, "induction": np.roll(duplicate, 1, axis=1)}


def _pairs(alignment: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """An alignment as a list of pairs. Raises InputError if `alignment` is not a list of pairs of indices."""
    listed = as_list(alignment)
    pairs = [] if listed is None else [as_list(pair) or [] for pair in listed]
    if listed is None or not all(len(pair) == 2 and all(is_whole(index) and index >= 0 for index in pair) for pair in pairs):
        template = "An alignment must be a list of pairs (target index, source index), such as [(0, 0)], not {alignment!r}."
        raise InputError(template, alignment=alignment)
    return [(target, source) for target, source in pairs]


def _mean(values: Float[np.ndarray, "layer head query"], counted: Bool[np.ndarray, "layer head query"]) -> PerHead:
    return (values * counted).sum(-1) / np.maximum(1, counted.sum(-1))
