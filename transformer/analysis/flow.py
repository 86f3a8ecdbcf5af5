"""A diagram of one part of the network: its tensors, arranged in rows, and lines from the inputs of a tensor to the tensor
(`walk.Stop.inputs`)."""

from collections.abc import Sequence
from typing import NamedTuple

from transformer.analysis.checks import listed_items
from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import Stop, check_stop
from transformer.tracing.paths import TensorPath

MASKS = ("source_mask", "target_mask")


class Flow(NamedTuple):
    """A diagram of one part of the network, such as a sub-layer: the places of its tensors, and the lines between them.

    Attributes:
        sources: the paths of tensors of other parts that are inputs of this part: the residual stream, the encoder's output.
        rows: the rows from top to bottom. A row is a list of chains, side by side. A chain is a list of tensors (`Stop`), each
            computed only from the tensor before it. Queries, keys and values are three chains of one row.
        lines: pairs of paths (input, tensor) to connect. Pairs within a chain, token ids and masks have no line.
        residual: the pairs (input, tensor) that are residual connections: from one of `sources` to a sum. Not in `lines`.
    """

    sources: list[str]
    rows: list[list[list[Stop]]]
    lines: list[tuple[str, str]]
    residual: list[tuple[str, str]]


def flow_of(stops: Sequence[Stop]) -> Flow:
    """The diagram of one part of the network. `stops` has a description (`Stop`) of each tensor of this part, in the order of
    computation, as `walk` returns them.

    Raises:
        InputError: `stops` is not a list of `Stop`.
    """
    stops = listed_items("stops", stops)
    for stop in stops:
        check_stop(stop)
    inside = {stop.path for stop in stops}
    rows: list[list[list[Stop]]] = []
    lines: list[tuple[str, str]] = []
    residual: list[tuple[str, str]] = []
    for stop in stops:
        inputs = [path for path in stop.inputs if path not in (SOURCE_IDS, TARGET_IDS, *MASKS)]
        chain = _chain_that_ends_in(inputs, rows, stop)
        if chain is not None:
            chain.append(stop)
            continue
        if rows and _stands_beside(rows[-1], stop, inputs):
            rows[-1].append([stop])
        else:
            rows.append([[stop]])
        for path in inputs:
            around = path not in inside and stop.operation == "add"
            (residual if around else lines).append((path, stop.path))
    sources = dict.fromkeys(path for path, _ in (*lines, *residual) if path not in inside)
    return Flow(list(sources), rows, lines, residual)


def _chain_that_ends_in(inputs: list[str], rows: list[list[list[Stop]]], stop: Stop) -> list[Stop] | None:
    """The chain in the last row that the tensor `stop` continues: the chain's last tensor is its only input, and both belong to
    the same branch of an attention (query, key, value), or both to no branch. None if there is no such chain."""
    for chain in rows[-1] if rows else []:
        if inputs == [chain[-1].path] and TensorPath.parse(chain[-1].path).branch == TensorPath.parse(stop.path).branch:
            return chain
    return None


def _stands_beside(row: list[list[Stop]], stop: Stop, inputs: list[str]) -> bool:
    """Whether the tensor `stop` begins a new chain in `row`: if it and all chains of the row belong to branches of an attention
    (query, key, value), or if they all belong to no branch and the tensor has no `inputs`, such as position vectors."""
    branches = [TensorPath.parse(chain[0].path).branch for chain in row]
    branch = TensorPath.parse(stop.path).branch
    return (branch is not None and None not in branches) or (branch is None and not inputs and branches == [None] * len(row))
