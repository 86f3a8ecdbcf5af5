"""The books of a forward pass: every tensor with what it was made of and what it took, and PyTorch's own count beside it.

    rows = ledger(model, trace)
    sum(row.parameters for row in rows)  # sum(p.numel() for p in model.parameters())
    sum(row.flops for row in rows)       # sum(counted(model, source, target).values())
    sum(row.held for row in rows)        # trace.tensor_bytes

Each sum is what stands beside it, found in another way.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from transformer.analysis.provenance import SOURCE_IDS, TARGET_IDS
from transformer.analysis.walk import check_traced, walk
from transformer.network.cost import Cost, Lengths, step_flops, total, work_of
from transformer.network.model import Transformer
from transformer.network.tap import tracing
from transformer.tracing.paths import TensorPath
from transformer.tracing.trace import Step, Trace

Shape = tuple[int, ...]


class Row(NamedTuple):
    """One step of a forward pass.

    Attributes:
        path: of its tensor.
        group: where in the network, as `walk.Stop` has it: `encoder 1`.
        work: the kind of work, one of `cost.WORK`.
        operation: what was done, one of `provenance.OPERATIONS`.
        inputs: path and shape of each tensor it was made of; ids of tokens, too.
        axes, shape: name and size of each axis of the result.
        parameters: trainable numbers it used; each parameter of the model belongs to exactly one step.
        flops: as `transformer.network.cost` counts them.
        bytes: of the result.
        held: how many of them the trace holds in memory for it: none where `shares` has it already.
        shares: the path of an earlier one whose memory it is, seen in another shape; or "".
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
        return Cost(self.parameters, self.flops, self.bytes)


def ledger(model: Transformer, trace: Trace) -> tuple[Row, ...]:
    """Every step of a trace, in the order it was computed. Nothing is run for it.

    Args:
        model: the one that was traced; only the sizes of its parameters are read.

    Raises:
        InputError: the trace is of another model.
        PathError: a tap of a kind that the walk does not know.
    """
    check_traced(model, trace)
    lengths = lengths_of(trace)
    ids = {SOURCE_IDS: (lengths.batch, lengths.source), TARGET_IDS: (lengths.batch, lengths.target)}
    first: dict[int, str] = {}
    rows = []
    for stop in walk(trace):
        held, shares = _memory(trace[stop.path], first)
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
                sum(model.get_parameter(name).numel() for name in stop.parameters),
                step_flops(trace.config, path.stack, path.sublayer, path.name, lengths),
                trace[stop.path].values.nbytes,
                held,
                shares,
            )
        )
    return tuple(rows)


def lengths_of(trace: Trace) -> Lengths:
    """How much was run; no source tokens where the decoder ran alone."""
    masks = trace.masks
    return Lengths(len(masks.target), 0 if masks.source is None else masks.source.shape[-1], masks.target.shape[-1])


def _memory(step: Step, first: dict[int, str]) -> tuple[int, str]:
    """Bytes the trace holds for a step, and the path of the one it shares them with, if it does; `first` remembers whose memory
    is whose."""
    owner = first.setdefault(step.values.untyped_storage().data_ptr(), step.path)
    return (step.values.nbytes, "") if owner == step.path else (0, owner)


def totals(rows: Iterable[Row], by: Callable[[Row], str]) -> dict[str, Cost]:
    """What the rows cost together, by a heading of each: `totals(rows, lambda row: row.group)`; in order of appearance."""
    found: dict[str, list[Cost]] = {}
    for row in rows:
        found.setdefault(by(row), []).append(row.cost)
    return {heading: total(costs) for heading, costs in found.items()}


def counted(
    model: Transformer, source: Int[Tensor, "batch source"] | None, target: Int[Tensor, "batch target"]
) -> dict[str, int]:
    """FLOPs of each step as `torch.utils.flop_counter` counts them, measured by running; steps without any are left out.

    Its `FlopCounterMode` finds out which module runs by hooks on the modules of all threads. Here its formulas are asked in
    this thread alone, and what is multiplied belongs to the tap that the result goes to.

    Args:
        model: only run, never changed.
        source, target: token ids, as `Transformer.forward` takes them.

    Raises:
        InputError: ids or lengths the model has no row for.
    """
    with torch.no_grad(), tracing(model) as values, _FlopCounter(values) as counter:
        model(source, target)
    paths, found = list(values), dict[str, int]()
    for place, flops in counter.counts:
        found[paths[place]] = found.get(paths[place], 0) + flops
    return found


class _FlopCounter(TorchDispatchMode):
    """What each operation takes, with the number of tensors that had been kept when it ran."""

    def __init__(self, kept: Sized) -> None:
        super().__init__()
        self.kept, self.counts = kept, list[tuple[int, int]]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, formula = kwargs or {}, flop_registry.get(func.overloadpacket)
        if formula is None:
            # As PyTorch's counter does: what is made of other operations is taken apart, for there may be products in it.
            with self:
                result = func.decompose(*args, **kwargs)
            return func(*args, **kwargs) if result is NotImplemented else result
        result = func(*args, **kwargs)
        self.counts.append((len(self.kept), formula(*args, **kwargs, out_val=result)))
        return result


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as Markdown; numbers to the right."""
    rows = [list(row) for row in rows]
    sides = ["---:" if rows and isinstance(rows[0][at], int) else "---" for at in range(len(columns))]
    cells = [list(columns), sides, *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
