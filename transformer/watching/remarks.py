"""Remarks of `compare` besides differences of numbers: shared weights, unused weights, another number of heads."""

import math
from collections.abc import Iterator
from itertools import combinations

import torch
from torch import nn

from transformer.tracing.paths import BRANCHES, TensorPath
from transformer.watching.comparison import Reason
from transformer.watching.search import Compared

NAMED = 3  # most weights that are named in a sentence


def shared_weights(compared: Compared) -> list[Reason]:
    """The reasons about weights that the user's network shares and ours does not: between layers, between sub-layers, or
    between query, key and value. Empty if there are no such weights.

    Our network gets a copy of the weights at each place, so the logits agree all the same.
    """
    places: dict[str, set[str]] = {}
    for name, theirs in compared.placed.names.items():
        path = TensorPath.parse(name)
        if path.layer is not None:  # embeddings and the output are often tied on purpose
            for each in theirs:
                places.setdefault(each, set()).add(str(TensorPath(path.stack, path.layer, path.sublayer)))
    shared = sorted(name for name, of in places.items() if len(of) > 1)
    reasons = []
    if shared:
        words = (
            f"several layers or sub-layers use the same weights ({_listed(shared)}), "
            "as if one block stood in a list several times"
        )
        reasons.append(Reason("shared weights", words, "", 0.0))
    joined = sorted(path for path in compared.attentions if _has_one_map(compared, path))
    if joined:
        words = f"query, key and value do not have a map each: two of them use the same weights ({_listed(joined)})"
        reasons.append(Reason("shared query, key and value", words, "", 0.0))
    return reasons


def _has_one_map(compared: Compared, path: str) -> bool:
    """Whether two of the projections of an attention (query, key, value) have the same weights."""
    names = [f"{path}.{branch}.projection.weight" for branch in BRANCHES]
    weights = [compared.placed.tensors[name] for name in names if name in compared.placed.tensors]
    return any(torch.equal(one, other) for one, other in combinations(weights, 2))


def remarks(mine: nn.Module, compared: Compared) -> Iterator[str]:
    """Yields sentences about `mine` that help to understand a difference: unused weights, another number of heads, another
    shape of the logits."""
    placed = {name for names in compared.placed.names.values() for name in names}
    unused = [name for name, _ in mine.named_parameters() if name not in placed]
    if unused:
        yield f"Weights of yours that had no part in the logits: {_listed(unused)}."
    batch, heads = len(compared.source), compared.model.config.heads
    shapes = [(each.weights.shape, each.product.axes) for each in compared.recorder.attentions if each.weights.ndim == 4]
    counts = {
        math.prod(size for axis, size in zip(axes, shape, strict=True) if axis not in ("query", "key")) // batch
        for shape, axes in shapes
    }
    if len(counts) == 1 and counts != {heads}:
        yield f"Your attentions have {counts.pop()} heads, and ours have {heads}: give ours the same number (`heads`)."
    shape = (*compared.target.shape, compared.model.config.target_vocab)
    if tuple(compared.logits.shape) != shape:
        yield f"Your logits have the shape {tuple(compared.logits.shape)}, and ours {shape}."


def _listed(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
