"""Checks of arguments that several analyses share. Each raises an error that names the argument and what is allowed."""

import math
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.network.tap import Recording, Taps
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.difference import Difference
from transformer.tracing.readout import Readout, readout_of
from transformer.tracing.trace import Trace
from transformer.validation import as_list, has_numbers

NUMBER_KINDS = "biuf"  # kinds of NumPy's dtypes: truth values, whole numbers with and without a sign, floating-point numbers


def check_model(model: object) -> None:
    """Check that `model` is a Transformer.

    Raises:
        InputError: `model` is not a Transformer.
    """
    if not isinstance(model, Transformer):
        raise InputError("The model must be a Transformer, not {model!r}.", model=model)


def readable_pass(model: object, values: object) -> tuple[Readout, Mapping[str, Tensor]]:
    """A model as a Readout (how it computes logits from the residual stream), and the tensors of a forward pass by path.

    Returns:
        The Readout: `model` itself, or the Readout of a Transformer. And the tensors: those of a trace, or `values` itself.

    Raises:
        InputError: `model` is neither a Readout nor a Transformer, `values` is neither a Trace nor a mapping, or a vector of
            the residual stream in `values` does not have the length d_model.
    """
    readout = model if isinstance(model, Readout) else readout_of(model)
    if isinstance(values, Trace):
        values = Recording({path: activation.stored for path, activation in values.activations.items()})
    if not isinstance(values, Mapping):
        template = "values must be a Trace, or map paths to tensors as `DecodingStep.values` does, not {values!r}."
        raise InputError(template, values=values)
    for path in readout.stream:
        if path in values and values[path].shape[-1] != readout.d_model:
            template = "The values are those of another model: {path} has {given} columns; this model has d_model {d_model}."
            raise InputError(template, path=path, given=values[path].shape[-1], d_model=readout.d_model)
    return readout, values


def check_network(network: object) -> None:
    """Check that `network` is a model whose tensors can be traced: a `Transformer`, or the network of a Hugging Face model. The
    object must be callable, and have taps.

    Raises:
        InputError: `network` is not such a network.
    """
    if not isinstance(getattr(network, "taps", None), Taps) or not callable(network):
        raise InputError("The model must be a Transformer, not {model!r}.", model=network)


def check_language_head(network: Any) -> None:
    """Check that `network` has logits over its vocabulary. Base models and classifiers have no such logits.

    Raises:
        InputError: `network` is not a network, or has no such logits.
    """
    check_network(network)
    logits = network.taps.get("logits")
    if logits is None or logits.axes[-1] != "vocab":
        raise InputError("This model has no language head, so there is no token whose probability could be computed.")


def check_own_network(pipeline: Any) -> None:
    """Check that `pipeline` is a pipeline with a Transformer of this library, not with a Hugging Face model.

    Raises:
        InputError: `pipeline` is not a pipeline, or has a Hugging Face model.
    """
    check_text_pipeline(pipeline)
    if pipeline.model is None:
        raise InputError("This needs a model with our own network, and {given!r} has another one.", given=pipeline)


def check_text_pipeline(pipeline: object) -> None:
    """Check that `pipeline` is a pipeline: a model with its tokenizer, of this library or of Hugging Face.

    Raises:
        InputError: `pipeline` is not a pipeline.
    """
    if not isinstance(pipeline, TextPipeline):
        raise InputError("The pipeline must be a Pipeline, as `Pipeline.load` returns it, not {given!r}.", given=pipeline)


def check_trace(trace: object) -> None:
    """Check that `trace` is a Trace.

    Raises:
        InputError: `trace` is not a Trace.
    """
    if isinstance(trace, Difference):
        raise InputError("This needs one run, and a Difference has two; give `difference.a` or `difference.b`.")
    if not isinstance(trace, Trace):
        raise InputError("The trace must be a Trace, as `Pipeline.trace` returns it, not {trace!r}.", trace=trace)


def check_traced(model: Transformer, trace: Trace) -> None:
    """Check that the configurations of `model` and `trace` are equal. The weights are not compared.

    Raises:
        InputError: `model` is not a Transformer, `trace` is not a Trace, or their configurations differ.
    """
    check_model(model)
    check_trace(trace)
    if model.config != trace.config:
        raise InputError("The model must be the one that was traced; this one has another configuration.")


def check_array(name: str, values: object, axes: str) -> None:
    """Check that `values` is a NumPy array of numbers, with as many axes as `axes` has names.

    Args:
        name: name of the argument in the message.
        axes: names of the axes, separated by spaces.

    Raises:
        InputError: `values` is not an array of numbers, or has another number of axes.
    """
    if not isinstance(values, np.ndarray) or values.dtype.kind not in NUMBER_KINDS:
        template = "{name} must be a NumPy array of numbers with axes {axes}, not {values!r}."
        raise InputError(template, name=name, axes=axes, values=values)
    _check_axes(name, values, axes)


def check_filled_array(name: str, values: object, axes: str) -> None:
    """Check that `values` is a NumPy array of numbers with one axis for each name in `axes` (separated by spaces), and that no
    axis has the size 0. The error message calls the array `name`.

    Raises:
        InputError: `values` is not an array of numbers, has another number of axes, or has an axis of size 0.
    """
    check_array(name, values, axes)
    if isinstance(values, np.ndarray) and not values.size:
        raise InputError("{name} has shape {shape}; every axis needs a size of at least 1.", name=name, shape=values.shape)


def check_tensor(name: str, values: object, axes: str) -> None:
    """Check that `values` is a tensor of floating-point numbers with one axis for each name in `axes` (separated by spaces).
    The error message calls the tensor `name`.

    Raises:
        InputError: `values` is not a tensor of floating-point numbers, has another number of axes, is sparse, or is on the
            device meta.
    """
    if not isinstance(values, Tensor) or not values.is_floating_point() or not has_numbers(values):
        template = "{name} must be a tensor of floating-point numbers with axes {axes}, not {values!r}."
        raise InputError(template, name=name, axes=axes, values=values)
    _check_axes(name, values, axes)


def check_id_tensor(name: str, ids: object, axes: str) -> None:
    """Check that `ids` is a tensor of token ids with one axis for each name in `axes` (separated by spaces). The error message
    calls the tensor `name`.

    Raises:
        InputError: `ids` is not a tensor of int64 or int32, has another number of axes, is sparse, or is on the device meta.
    """
    if not isinstance(ids, Tensor) or not has_numbers(ids) or ids.dtype not in (torch.int64, torch.int32):
        template = "{name} must be a tensor of int64 or int32 with axes {axes}, not {ids!r}."
        raise InputError(template, name=name, axes=axes, ids=ids)
    _check_axes(name, ids, axes)


def check_truth(name: str, values: Any, shape: Sequence[int]) -> None:
    """Check that `values` is a NumPy array of truth values with the shape `shape`. The error message calls the array
    `name`.

    Raises:
        InputError: `values` is not such an array.
    """
    kind = getattr(values, "dtype", None)
    if not isinstance(values, np.ndarray) or kind != np.bool_ or values.shape != tuple(shape):
        actual = list(getattr(values, "shape", ()))
        template = "{name} must be an array of truth values with shape {shape}, not {kind} with shape {actual}."
        raise InputError(template, name=name, shape=list(shape), kind=str(kind), actual=actual)


def check_tokens(logits: Tensor, tokens: Tensor) -> None:
    """Check that `tokens` has a token id for each position of `logits`, and that each id is in the vocabulary of the logits.

    Args:
        logits: a tensor whose last axes are batch, target and vocab.
        tokens: a tensor of ids with the axes batch and target.

    Raises:
        InputError: the sizes differ, or the vocabulary has no such id.
    """
    places, vocab = tuple(logits.shape[-3:-1]), logits.shape[-1]
    if tuple(tokens.shape) != places:
        template = "The logits are for {places} texts and positions and the tokens for {given}; they must be equal."
        raise InputError(template, places=places, given=tuple(tokens.shape))
    for token in tokens.aminmax() if tokens.numel() else ():
        check_number("token id", int(token), 0, vocab - 1)


def check_ids(name: str, ids: object) -> None:
    """Check that `ids` is a list of at least one token id. The error message calls the list `name`.

    Raises:
        InputError: `ids` is not such a list.
    """
    if isinstance(ids, str | bytes) or not isinstance(ids, Sequence) or not ids or not all(map(is_whole, ids)):
        raise InputError("{name} must be a list of token ids, such as [1, 5, 2], not {ids!r}.", name=name, ids=ids)


def listed_items(name: str, given: object) -> list[Any]:
    """The items of a list or another ordered collection, as a list. The error message calls the collection `name`.

    Raises:
        InputError: `given` is a string, or is not such a collection.
    """
    listed = None if isinstance(given, str) else as_list(given)
    if listed is None:
        raise InputError("{name} must be a list, not {given!r}.", name=name, given=given)
    return listed


def check_number(name: str, value: object, least: int | float, most: int | float = math.inf) -> None:
    """Check that `value` is a whole number from `least` to `most`, or without `most`, a whole number of at least `least`. The
    error message calls the number `name`.

    Raises:
        InputError: `value` is not such a number.
    """
    if is_whole(value) and least <= value <= most:
        return
    if most < math.inf:
        raise InputError("{name} is {value!r}; allowed are {least} to {most}.", name=name, value=value, least=least, most=most)
    if least > -math.inf:
        template = "{name} is {value!r}; it must be a whole number of at least {least}."
        raise InputError(template, name=name, value=value, least=least)
    raise InputError("{name} is {value!r}; it must be a whole number.", name=name, value=value)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is an integer of Python or of NumPy. True, False and floats such as 2.0 are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _check_axes(name: str, values: np.ndarray | Tensor, axes: str) -> None:
    if values.ndim != len(axes.split()):
        shape = tuple(values.shape)
        raise InputError("{name} has shape {shape}; expected axes {axes}.", name=name, shape=shape, axes=axes)
