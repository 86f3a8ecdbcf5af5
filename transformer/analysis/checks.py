"""Checks of the arguments that analyses have in common: each refuses a wrong one in a sentence."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.tracing.trace import Trace


def check_model(model: object) -> None:
    """Refuse what is not a model.

    Raises:
        InputError: it is not a Transformer.
    """
    if not isinstance(model, Transformer):
        raise InputError("The model must be a Transformer, not {model!r}.", model=model)


def check_trace(trace: object) -> None:
    """Refuse what is not a trace.

    Raises:
        InputError: it is not a Trace.
    """
    if not isinstance(trace, Trace):
        raise InputError("The trace must be a Trace, as `Pipeline.trace` returns it, not {trace!r}.", trace=trace)


def check_traced(model: Transformer, trace: Trace) -> None:
    """Refuse a trace of another model. Models with equal configurations are not told apart.

    Raises:
        InputError: not a model, not a trace, or the trace is of a model with another configuration.
    """
    check_model(model)
    check_trace(trace)
    if model.config != trace.config:
        raise InputError("The model must be the one that was traced; this one has another configuration.")


def check_axes(name: str, values: object, axes: str) -> None:
    """Refuse what is not an array or a tensor with as many axes.

    Args:
        name: of the argument, for the message.
        axes: their names, separated by spaces.

    Raises:
        InputError: it has another number of axes, or is not an array.
    """
    if not isinstance(values, np.ndarray | Tensor):
        raise InputError("{name} must be an array with axes {axes}, not {values!r}.", name=name, axes=axes, values=values)
    if values.ndim != len(axes.split()):
        shape = tuple(values.shape)
        raise InputError("{name} has shape {shape}; expected axes {axes}.", name=name, shape=shape, axes=axes)


def check_ids(name: str, ids: object) -> None:
    """Refuse what is not a list of token ids, or an empty one.

    Raises:
        InputError: it is not.
    """
    if isinstance(ids, str | bytes) or not isinstance(ids, Sequence) or not ids or not all(map(is_whole, ids)):
        raise InputError("{name} must be a list of token ids, such as [1, 5, 2], not {ids!r}.", name=name, ids=ids)


def check_number(name: str, value: object, least: int, most: int) -> None:
    """Refuse what is not a whole number from `least` to `most`.

    Raises:
        InputError: it is not.
    """
    if not is_whole(value) or not least <= value <= most:  # pyright: ignore[reportOperatorIssue]
        raise InputError("{name} is {value!r}; allowed are {least} to {most}.", name=name, value=value, least=least, most=most)


def is_whole(value: object) -> bool:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)
