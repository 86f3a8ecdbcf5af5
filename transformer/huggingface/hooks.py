"""Forward hooks that pass the inputs and outputs of modules through taps, the named points of a model.

The hooks are registered once, when a model is opened. They record nothing themselves: outside `with tracing(model)`, a tap
returns its input.
"""

from collections.abc import Generator
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
def running(texts: int = 1) -> Generator[None]:
    """A context manager for one forward pass of `texts` texts. Taps need this number, because some modules put the tokens of
    all texts on one axis.

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
    """The module at a path that starts at `root`. Of several paths with `|` between them, the first that leads to a module is
    used. None if no path leads to a module."""
    for each in path.split("|"):
        module: Any = root
        for part in filter(None, each.split(".")):
            module = getattr(module, part, None)
        if isinstance(module, nn.Module):
            return module
    return None


def hook(module: nn.Module, point: Point, tap: Tap) -> None:
    """Register a forward hook that passes a tensor, the input or the output of `module`, through `tap`, which may change the
    tensor. `point.end` and `point.item` select the tensor."""

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
    """The tensor `values` after `tap`, which may record and edit it. If `values` has one axis for the tokens of all texts, the
    tap gets a tensor with an axis of texts and an axis of tokens; the result is flattened again."""
    if values.ndim == 2 and len(tap.axes) == 3:
        split = values.unflatten(0, (_texts.get(), -1))
        seen = tap(split)
        return values if seen is split else seen.flatten(0, 1)
    return tap(values)


def item(result: Any, index: int) -> Any:
    """The tensor in the output of a module; if the module returns several, the one with this index, counted from 0."""
    return result if isinstance(result, Tensor) else result[index]


def with_item(result: Any, index: int, values: Tensor) -> Any:
    """The output of a module, with `values` in the place of its tensor. If there are several tensors, the one with this index,
    counted from 0, is replaced."""
    if isinstance(result, Tensor):
        return values
    if isinstance(result, tuple):
        return (*result[:index], values, *result[index + 1 :])
    result[[*result][index]] = values  # outputs with names
    return result
