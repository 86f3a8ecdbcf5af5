"""Forward hooks that pass the inputs and outputs of modules through taps.

They are registered once, when a model is opened. They record nothing themselves: outside a scope, a tap returns its input.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from torch import Tensor, nn

from transformer.errors import HeadlightError, InputError
from transformer.huggingface.families import Point
from transformer.huggingface.folder import first_line
from transformer.network.tap import Tap

# The number of texts in the pass that is running. Some modules get the positions of all texts on one axis.
_texts: ContextVar[int] = ContextVar("texts", default=1)


@contextmanager
def running(texts: int = 1) -> Iterator[None]:
    """A context manager around one forward pass. It tells the taps how many texts the pass has.

    Raises:
        InputError: replaces any exception of the model's code, such as one from a configuration that works only for some
            lengths. A `HeadlightError` is raised unchanged.
    """
    token = _texts.set(texts)
    try:
        yield
    except HeadlightError:
        raise
    except Exception as error:  # an invalid configuration can cause any exception
        raise InputError("This model fails on your text ({problem}).", problem=first_line(error)) from error
    finally:
        _texts.reset(token)


def find_module(root: nn.Module, path: str) -> nn.Module | None:
    """The module at a path. Several paths may be given, with `|` between them; the first that leads to a module is used. None
    if no path does."""
    for each in path.split("|"):
        module: Any = root
        for part in filter(None, each.split(".")):
            module = getattr(module, part, None)
        if isinstance(module, nn.Module):
            return module
    return None


def hook(module: nn.Module, point: Point, tap: Tap) -> None:
    """Register a forward hook that passes the input or the output of a module, as `point` says, through a tap, which may change
    it."""

    def output(_module: nn.Module, _inputs: Any, result: Any) -> Any:
        values = item(result, point.item)
        seen = see(tap, values)
        return None if seen is values else with_item(result, point.item, seen)

    def given(_module: nn.Module, inputs: tuple[Any, ...]) -> Any:
        values, *rest = inputs
        seen = see(tap, values)
        if seen is values:
            return None
        if point.stream:  # the layer reads this tensor again afterwards, to add to it
            values.copy_(seen)
            seen = values
        return (seen, *rest)

    if point.end == "output":
        module.register_forward_hook(output)
    else:
        module.register_forward_pre_hook(given)


def see(tap: Tap, values: Tensor) -> Tensor:
    """The tensor after a tap. A tensor with all texts on one axis is split into texts for the tap, and joined again."""
    if values.ndim == 2 and len(tap.axes) == 3:
        split = values.unflatten(0, (_texts.get(), -1))
        seen = tap(split)
        return values if seen is split else seen.flatten(0, 1)
    return tap(values)


def item(result: Any, index: int) -> Any:
    """The output of a module, or the output with this index if the module returns several."""
    return result if isinstance(result, Tensor) else result[index]


def with_item(result: Any, index: int, values: Tensor) -> Any:
    """The output of a module with `values` in the place of its tensor, or of the tensor with this index if there are
    several."""
    if isinstance(result, Tensor):
        return values
    if isinstance(result, tuple):
        return (*result[:index], values, *result[index + 1 :])
    result[[*result][index]] = values  # outputs with names
    return result
