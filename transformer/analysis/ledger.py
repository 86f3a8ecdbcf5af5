"""A table of the tensors of a forward pass with their inputs and costs; and the FLOPs of the pass as PyTorch counts them.

    rows = ledger(model, trace)
    sum(row.parameters for row in rows)  # sum(p.numel() for p in model.parameters())
    sum(row.flops for row in rows)       # sum(counted(model, source, target).values())
    sum(row.held for row in rows)        # trace.tensor_bytes

Each sum equals the number in the comment beside it, which is computed in another way.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from transformer.analysis.checks import check_model, check_trace, check_traced, listed_items
from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import walk
from transformer.errors import InputError
from transformer.network.cost import Cost, Lengths, activation_flops, total, work_of
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.tracing.paths import TensorPath
from transformer.tracing.trace import Activation, Trace

Shape = tuple[int, ...]


class Row(NamedTuple):
    """One tensor of a forward pass, and what it costs to compute.

    Attributes:
        path: path of the tensor in the trace, such as `encoder.layers.0.self_attention.scores`.
        group: the part of the network, such as `encoder 1` (layers are counted from 1); as in `walk.Stop`.
        work: the kind of work, such as `feed-forward`; one of `cost.WORK`.
        operation: the operation that computed the tensor, such as `softmax`; one of `provenance.OPERATIONS`.
        inputs: path and shape of each tensor that the tensor was computed from, including token ids.
        axes, shape: name and size of each axis of the tensor.
        parameters: number of parameters that the tensor was computed with. Each parameter of the model is counted once: a tied
            parameter for the first tensor that is computed with it.
        flops: FLOPs that computed the tensor, counted as in `transformer.network.cost`.
        bytes: size of the tensor.
        held: bytes of memory that the trace keeps for this tensor; 0 if it shares memory with an earlier tensor.
        shares: path of the earlier tensor with which the tensor shares memory; "" if the tensor has its own memory.
    """

    path: str
    group: str
    work: str
    operation: str
    inputs: tuple[tuple[str, Shape], ...]
    axes: tuple[str, ...]
    shape: Shape
    parameters: int
    flops: int
    bytes: int
    held: int
    shares: str

    @property
    def cost(self) -> Cost:
        """The parameters, FLOPs and bytes of the tensor."""
        return Cost(self.parameters, self.flops, self.bytes)


def ledger(model: Transformer, trace: Trace) -> tuple[Row, ...]:
    """Every tensor of a trace with its cost, in the order of computation. The model is not run.

    Args:
        model: the model that was traced. Only the sizes of its parameters are read.
        trace: every tensor of a forward pass of the model.

    Raises:
        InputError: `model` is not a Transformer; or `trace` is not a Trace, or is of a model with another configuration.
    """
    check_traced(model, trace)
    lengths = lengths_of(trace)
    ids = {SOURCE_IDS: (lengths.batch, lengths.source), TARGET_IDS: (lengths.batch, lengths.target)}
    owners: dict[int, str] = {}
    rows, uncounted = [], {id(parameter): parameter.numel() for parameter in model.parameters()}
    for stop in walk(trace):
        held, shares = _memory(trace[stop.path], owners)
        path = TensorPath.parse(stop.path)
        rows.append(
            Row(
                stop.path,
                stop.group,
                work_of(path.stack, path.sublayer, path.name),
                stop.operation,
                tuple((name, ids[name] if name in ids else trace[name].shape) for name in stop.inputs),
                stop.axes,
                stop.shape,
                sum(uncounted.pop(id(model.get_parameter(name)), 0) for name in stop.parameters),
                activation_flops(trace.config, path.stack, path.sublayer, path.name, lengths),
                trace[stop.path].values.nbytes,
                held,
                shares,
            )
        )
    return tuple(rows)


def lengths_of(trace: Trace) -> Lengths:
    """The size of the batch, and the lengths of source and target in tokens. The source has length 0 if the decoder ran alone.

    Raises:
        InputError: `trace` is not a Trace.
        PathError: the encoder ran alone.
    """
    check_trace(trace)
    masks = trace.masks
    return Lengths(len(masks.target), 0 if masks.source is None else masks.source.shape[-1], masks.target.shape[-1])


def _memory(activation: Activation, owners: dict[int, str]) -> tuple[int, str]:
    """`Row.held` and `Row.shares` of a tensor. Adds the tensor's memory address to `owners` (address → path of the first tensor
    there) if it is missing."""
    owner = owners.setdefault(activation.values.untyped_storage().data_ptr(), activation.path)
    return (activation.values.nbytes, "") if owner == activation.path else (0, owner)


def totals(rows: Iterable[Row], by: Callable[[Row], str]) -> dict[str, Cost]:
    """Heading → total cost of the rows with this heading, in the order in which headings first appear. For example, the cost of
    each part of the network: `totals(rows, lambda row: row.group)`.

    Args:
        rows: rows that `ledger` returns.
        by: function that returns the heading of a row.

    Raises:
        InputError: `rows` is not a list of `Row`, or `by` is not a function.
    """
    if not callable(by):
        raise InputError("by must be a function from a row to its heading, not {by!r}.", by=by)
    costs_under: dict[str, list[Cost]] = {}
    for row in listed_items("rows", rows):
        if not isinstance(row, Row):
            raise InputError("Each row must be a Row, as `ledger` returns them; one of them is {row!r}.", row=row)
        costs_under.setdefault(by(row), []).append(row.cost)
    return {heading: total(costs) for heading, costs in costs_under.items()}


def counted(
    model: Transformer, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"]
) -> dict[str, int]:
    """Run a forward pass, and count the FLOPs that compute each tensor: path → FLOPs, by the formulas of
    `torch.utils.flop_counter`. Tensors without FLOPs are left out.

    PyTorch's `FlopCounterMode` puts hooks on the modules of all threads to find out which module runs. This function counts in
    the calling thread only. The FLOPs of an operation are added to the next tensor that the trace records.

    Args:
        model: the model to run. The model is not changed.
        source, target: token ids. The source is None for a decoder without an encoder.

    Raises:
        InputError: `model` is not a Transformer, or it cannot read the ids.
    """
    check_model(model)
    with torch.no_grad(), tracing(model) as values, _FlopCounter(values) as counter:
        model(source, target)
    paths, flops_at = list(values), dict[str, int]()
    for index, flops in counter.counts:
        flops_at[paths[index]] = flops_at.get(paths[index], 0) + flops
    return flops_at


class _FlopCounter(TorchDispatchMode):
    """Counts the FLOPs of each operation. `counts` has a pair for each operation: the number of tensors that were recorded
    before the operation, and its FLOPs."""

    def __init__(self, recorded: Sized) -> None:
        super().__init__()
        self.recorded, self.counts = recorded, list[tuple[int, int]]()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # The default hides each call from PyTorch's compiler. To do so it loads the compiler, which takes 80 MB of memory.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, formula = kwargs or {}, flop_registry.get(func.overloadpacket)
        if formula is None:
            # An operation without a formula may consist of operations with a formula. PyTorch's counter decomposes such
            # operations, too.
            with self:
                result = func.decompose(*args, **kwargs)
            return func(*args, **kwargs) if result is NotImplemented else result
        result = func(*args, **kwargs)
        self.counts.append((len(self.recorded), formula(*args, **kwargs, out_val=result)))
        return result


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as Markdown text, with columns of whole numbers aligned to the right.

    Args:
        columns: headings of the columns.
        rows: the cells of each row, one for each column. The types of the cells in the first row decide the alignment.

    Raises:
        InputError: an argument is not a list, or a row does not have one cell for each column.
    """
    columns = listed_items("columns", columns)
    rows = [listed_items("row", row) for row in listed_items("rows", rows)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            template = "Row {number} has {cells} cells; the table has {columns} columns."
            raise InputError(template, number=number, cells=len(row), columns=len(columns))
    rules = ["---:" if rows and isinstance(rows[0][index], int) else "---" for index in range(len(columns))]
    lines = [columns, rules, *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
