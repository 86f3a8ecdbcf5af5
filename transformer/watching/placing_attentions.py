"""Which linear layers of a user's Transformer are query, key, value and output of which attention."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import torch
from torch import Tensor

from transformer.errors import InputError
from transformer.network.config import TransformerConfig
from transformer.tracing.paths import BRANCHES, Branch
from transformer.watching.passes import Pass, Use
from transformer.watching.placed import Placed

# The orders of axes in which the rows of a projection may be laid out. `part` is the axis of queries, keys and values in one
# matrix.
LAYOUTS = tuple(permutations(("part", "head", "d_head")))


JOINS = (("head", "d_head"), ("d_head", "head"))


Layout = tuple[Sequence[str], Sequence[str]]


# Every order of the rows of query, key and value, and of the columns of the output projection; the usual one first.
ALL_LAYOUTS: tuple[Layout, ...] = tuple(product(LAYOUTS, JOINS))


# Other layouts that are usual: the numbers of a head far apart; queries, keys and values side by side for each head.
USUAL_LAYOUTS: tuple[Layout, ...] = ((("part", "d_head", "head"), JOINS[1]), (("head", "part", "d_head"), JOINS[0]))


@dataclass
class Group:
    """The linear layers of one attention with all its heads.

    Attributes:
        attentions: indices into `Pass.attentions`: one for each head, if the module computes heads one by one.
        branches: `query`, `key`, `value` → the linear layers, one for each head if every head has its own.
        output: the layer that reads the averages of all heads; None if there is none.
    """

    attentions: list[int]
    branches: dict[Branch, list[Use]]
    output: Use | None


def attention_groups(run: Pass, width: int) -> list[Group]:
    """The linear layers of each attention of a pass. Several attentions are the heads of one attention if one linear layer
    reads their averages. `width` is d_model.

    Raises:
        InputError: two of query, key and value of an attention come from no linear layer that was recorded.
    """
    readers: dict[int, Use] = {}
    for use in run.uses:
        for number in use.reads:
            readers.setdefault(number, use)
    groups: list[Group] = []
    for number, attention in enumerate(run.attentions):
        reader = readers.get(number)
        operands = (attention.product.query, attention.product.key, attention.value)
        uses = [run.made_by(tensor) for tensor in operands]
        before = groups[-1] if groups else None
        if before is None or before.output is not reader or (reader is None and not _is_head(before, uses, run, width)):
            groups.append(Group([], {branch: [] for branch in BRANCHES}, reader))
        groups[-1].attentions.append(number)
        for branch, use in zip(BRANCHES, uses, strict=True):
            if use is not None:  # otherwise our own weights stay, and are found to differ
                groups[-1].branches[branch].append(use)
        if uses.count(None) > 1:
            message = (
                "The queries, keys and values of attention {number} of your module come from no linear layers that are seen."
            )
            raise InputError(message, number=number + 1)
    for group in groups:
        _by_name(group)
    return groups


def _is_head(group: Group, uses: Sequence[Use | None], run: Pass, width: int) -> bool:
    """Whether an attention whose averages no layer reads is one more head of a group. `uses` are the linear layers of its
    query, key and value; `width` is d_model."""
    rows = sum(len(use.weight) for use in group.branches["query"])
    inner = uses[0]
    return inner is not None and rows + len(inner.weight) <= width and run.attentions[group.attentions[-1]].weights.ndim == 3


def is_unread(use: Use, group: Group) -> bool:
    """Whether a linear layer is a projection of this attention that runs but is not read, because another projection is read
    twice: a typing mistake such as `q, k, v = q, k, k`."""
    read = [each for uses in group.branches.values() for each in uses]
    twice = len({id(each) for each in read}) < len(read) and len({each.names for each in read}) > 1
    return twice and any(use.weight.shape == each.weight.shape and _owner(use) == _owner(each) for each in read)


def _owner(use: Use) -> frozenset[str]:
    """The modules that hold the linear layer of a use: `layers.0.attention` for `layers.0.attention.to_v.weight`."""
    return frozenset(name.rsplit(".", 2)[0] if name.count(".") > 1 else "" for name in use.names)


def _by_name(group: Group) -> None:
    """Sort the layers of a group into query, key and value by their names, unless the names are unclear. If the user's module
    exchanges two of them, the comparison then finds a difference."""
    if any(len(uses) != len(group.attentions) for uses in group.branches.values()):
        return
    heads = [[group.branches[branch][head] for branch in BRANCHES] for head in range(len(group.attentions))]
    for head, uses in enumerate(heads):
        if len({id(use) for use in uses}) < 3:
            continue
        by_name = named_branches([min(use.names, key=len) if use.names else "" for use in uses])
        if by_name is None and len({use.names for use in uses}) == 1:  # parts of one matrix: queries, keys, values
            order = sorted(range(3), key=lambda place: uses[place].weight.storage_offset())
            by_name = {branch: order[place] for place, branch in enumerate(BRANCHES)}
        for branch in BRANCHES if by_name else ():
            group.branches[branch][head] = uses[(by_name or {})[branch]]


def named_branches(names: Sequence[str]) -> dict[Branch, int] | None:
    """Branch (query, key or value) → index in `names` of the parameter for it; None if the names are unclear."""
    words = [re.split(r"[.]", name) for name in names]
    differing = [parts for parts in zip(*words, strict=False) if len({*parts}) == 3]
    for parts in differing:
        numbers = [int(part) for part in parts if part.isdecimal()]
        if len(numbers) == 3 and sorted(numbers) == [*range(min(numbers), min(numbers) + 3)]:
            ranked = sorted(range(3), key=lambda place: numbers[place])
            return dict(zip(BRANCHES, ranked, strict=True))
        told = [_branch_of(part, parts) for part in parts]
        if sorted(map(str, told)) == sorted(BRANCHES):
            return {branch: told.index(branch) for branch in BRANCHES}
    return None


def _branch_of(part: str, parts: Sequence[str]) -> Branch | None:
    """The branch that a part of a name stands for: query, key or value. `parts` are the same part of all three names; the
    letters with which all of them begin are ignored."""
    start = 0
    while all(len(each) > start and each[start] == part[start] for each in parts):
        start += 1
    own = part[start:].lower() or part.lower()
    for letter, branch in zip("qkv", BRANCHES, strict=True):
        if own.startswith(letter) or re.search(rf"(^|_){letter}(_|$)", part.lower()):
            return branch
    return next((branch for letter, branch in zip("qkv", BRANCHES, strict=True) if letter in own), None)


def _branch_rows(
    config: TransformerConfig, group: Group, branch: Branch, use: Use, layout: Sequence[str]
) -> tuple[Tensor, Tensor | None]:
    """The rows of the weight and of the bias that belong to one branch, in a linear layer that may have the rows of several
    branches."""
    parts = [other for other in BRANCHES if use in group.branches[other]]
    if len(use.weight) * len(group.branches[branch]) == config.d_model:  # a whole projection, which several branches read
        parts = [branch]
    heads = config.heads if len(group.branches[branch]) == 1 else 1
    sizes = {"part": len(parts), "head": heads, "d_head": len(use.weight) // (len(parts) * heads) if heads else 0}
    fused = sizes["part"] * sizes["head"] * sizes["d_head"] == len(use.weight)
    if not fused or (len(parts) == 1 and [axis for axis in layout if axis != "part"] == [*JOINS[0]]):
        return use.weight, use.bias
    place = [layout.index(axis) for axis in ("part", "head", "d_head")]

    def rows(values: Tensor) -> Tensor:
        split = values.unflatten(0, [sizes[axis] for axis in layout])
        return split.permute(*place, *range(3, split.ndim))[parts.index(branch)].flatten(0, 1)

    return rows(use.weight), None if use.bias is None else rows(use.bias)


def place_attention(placed: Placed, path: str, group: Group, layout: Sequence[str], join: Sequence[str]) -> None:
    config, names = placed.config, frozenset[str]()
    for branch in BRANCHES:
        uses = group.branches[branch]
        if len(uses) != len(group.attentions):
            continue
        weights, biases = zip(*(_branch_rows(config, group, branch, use, layout) for use in uses), strict=True)
        names = frozenset[str]().union(*(use.names for use in uses))
        weight = torch.cat(weights)
        if weight.shape == (config.d_head, config.d_head) and config.heads > 1:  # one map for all heads
            weight = torch.block_diag(*[weight] * config.heads)
            biases = tuple(None if bias is None else bias.repeat(config.heads) for bias in biases)
        placed.put(f"{path}.{branch}.projection.weight", weight, names)
        given = [bias for bias in biases if bias is not None]
        if len(given) == len(uses):
            placed.put(f"{path}.{branch}.projection.bias", torch.cat(given), names)
    if group.output is None:  # our own weights stay, and are found to differ
        return
    weight = group.output.weight
    if tuple(join) != JOINS[0] and weight.shape[-1] == config.d_model:
        weight = weight.unflatten(1, (config.d_head, config.heads)).transpose(1, 2).flatten(1)
    placed.put(f"{path}.output_projection.weight", weight, group.output.names)
    placed.put(f"{path}.output_projection.bias", group.output.bias, group.output.names)
