"""The tensors of a part of the network as a flow: rows of chains of tensors, and the lines that follow from `Stop.inputs`."""

from collections.abc import Sequence
from typing import NamedTuple

from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import Stop
from transformer.tracing.paths import TensorPath

MASKS = ("source_mask", "target_mask")


class Flow(NamedTuple):
    """The places of the tensors of a part, and the lines between them.

    Attributes:
        sources: the paths of the tensors of other parts that this part is computed from: the residual stream, the memory.
        rows: the rows from top to bottom. Each row has chains side by side. In a chain, each stop is computed only from the
            stop before it. Queries, keys and values are three chains of one row.
        lines: (from, to) paths: all inputs except those within a chain. Token ids and masks are left out.
        residual: the (from, to) paths from a source to a sum, which are the residual connections around the sub-layer.
    """

    sources: list[str]
    rows: list[list[list[Stop]]]
    lines: list[tuple[str, str]]
    residual: list[tuple[str, str]]


def flow_of(stops: Sequence[Stop]) -> Flow:
    """The flow through the tensors of one part. `stops` is in the order of computation."""
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
    """The chain in the last row whose end is the only input of a stop. The stop continues this chain. None without such a
    chain."""
    for chain in rows[-1] if rows else []:
        if inputs == [chain[-1].path] and TensorPath.parse(chain[-1].path).branch == TensorPath.parse(stop.path).branch:
            return chain
    return None


def _stands_beside(row: list[list[Stop]], stop: Stop, inputs: list[str]) -> bool:
    """Whether a stop begins a new chain in this row. It does if it belongs to another branch of the same attention, or if it is
    computed from no other tensor, as position vectors are."""
    branches = [TensorPath.parse(chain[0].path).branch for chain in row]
    branch = TensorPath.parse(stop.path).branch
    return (branch is not None and None not in branches) or (branch is None and not inputs and branches == [None] * len(row))
