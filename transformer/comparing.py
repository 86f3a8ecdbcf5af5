"""`compare`: the difference between two traces, or between a PyTorch module and our network."""

from collections.abc import Callable, Mapping
from typing import Any, overload

from jaxtyping import Int
from torch import Tensor, nn

from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.tracing.difference import Difference
from transformer.tracing.trace import Trace
from transformer.watching import compare as modules
from transformer.watching.comparison import Comparison


@overload
def compare(mine: Trace, ours: Trace, /) -> Difference: ...


@overload
def compare(
    mine: nn.Module,
    ours: Transformer,
    source: Int[Tensor, "batch source"],
    target: Int[Tensor, "batch target"],
    mapping: Mapping[str, str] | None = None,
    run: modules.Run | None = None,
    tolerance: float = modules.TOLERANCE,
    report: Callable[[str], object] | None = None,
) -> Comparison: ...


def compare(mine: Any, ours: Any, *arguments: Any, **named: Any) -> Difference | Comparison:
    """Compare two traces, or a PyTorch module with our network, and return the difference.

        compare(trace_a, trace_b)                       # a Difference: B − A for every tensor
        compare(my_transformer, ours, source, target)   # a Comparison: the first tensor that differs, and the reasons

    For two traces, see `transformer.tracing.difference.Difference`. For a module and our network (`Transformer`), the arguments
    and errors are those of `transformer.watching.compare.compare`.

    Raises:
        InputError: only one of `mine` and `ours` is a Trace; two traces are given with further arguments, or a module without
            `source` and `target`; or as in `Difference.of` and `watching.compare.compare`.
    """
    if isinstance(mine, nn.Module) and len(arguments) + len({"source", "target"} & {*named}) < 2:
        raise InputError("Two networks are compared on ids that both read: compare(module, ours, source, target).")
    if not arguments and not named:
        return Difference.of(mine, ours)
    if isinstance(mine, Trace) or isinstance(ours, Trace):
        raise InputError("Two runs are compared without further arguments.")
    return modules.compare(mine, ours, *arguments, **named)
