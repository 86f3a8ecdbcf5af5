"""What one weight of the model does in a run, at the position where it matters most: which number it multiplies or is added to.
`stop` is the description of a tensor that `walk(trace)` returned.

use = weight_use(model, trace, stop, "encoder.layers.0.feed_forward.up_projection.weight", (7, 3))
use.position, use.explained.terms, use.explained.result
"""

from typing import NamedTuple

import numpy as np
from torch import nn

from transformer.analysis.cell import Explanation, explanation_of, linear_output, product_of, sum_of
from transformer.analysis.checks import check_traced
from transformer.analysis.stop_number import explain_stop
from transformer.analysis.walk import Stop, check_stop
from transformer.errors import InputError
from transformer.network.model import Transformer
from transformer.tracing.paths import check_index
from transformer.tracing.trace import Trace


class WeightUse(NamedTuple):
    """The use of a weight at one position.

    Attributes:
        position: the position in the text, counted from 0.
        head: if all heads share the weight, the head, counted from 0, in which it matters most; otherwise None.
        explained: for a weight of a matrix, weight × input: one term of the sum that computes an element of the result. For a
            bias, this sum plus the bias. For a weight of a LayerNorm, the whole computation of an element of the result.
    """

    position: int
    head: int | None
    explained: Explanation


def weight_use(
    model: Transformer, trace: Trace, stop: Stop, parameter: str, index: tuple[int, ...], item: int = 0
) -> WeightUse | None:
    """The use of one weight (one number of a parameter) at the position of a text where the weight matters most: for a weight
    of a matrix, where weight × input is farthest from zero; for a bias or a LayerNorm, where the result is farthest from zero.

    Args:
        model, trace: the model, and every tensor of a forward pass of this model in evaluation mode.
        stop: the tensor that is computed with the weight: one of the descriptions that `walk(trace)` returns.
        parameter: the name of the parameter, one of `stop.parameters`.
        index: the index of the weight on each axis of the parameter, counted from 0.
        item: number of the text in the batch, counted from 0.

    Returns:
        The use; None for a weight of an embedding table, because rows of a table are only copied.

    Raises:
        InputError: `model` is not a Transformer; `trace` is not a Trace, or is of another model; `stop` is not a Stop; or the
            stop has no such parameter, or `index` has another number of axes.
        PathError: the parameter has no such index, or the batch no such text.
    """
    check_traced(model, trace)
    check_stop(stop)
    check_index("item", item, trace.batch_size)
    if parameter not in stop.parameters:
        allowed = ", ".join(stop.parameters) or "none"
        raise InputError(
            "{path} is computed without {name!r}; allowed are {allowed}.", path=stop.path, name=parameter, allowed=allowed
        )
    values = model.get_parameter(parameter)
    if not isinstance(index, tuple) or len(index) != values.ndim:
        raise InputError(
            "The index of a weight of {name} has {axes} numbers, not {index!r}.", name=parameter, axes=values.ndim, index=index
        )
    for axis, (place, size) in enumerate(zip(index, values.shape, strict=True)):
        check_index(f"index[{axis}]", place, size)
    if stop.operation == "LayerNorm":
        place = _strongest(trace, stop.path, item, index[-1])
        explained = explain_stop(model, trace, stop, place[0], index[-1], item)
        return None if explained is None else WeightUse(place[0], None, explained)
    if stop.operation != "linear map":
        return None
    weight, inputs = float(values[index].detach()), trace[stop.inputs[0]].numpy()[item]
    if values.ndim == 1:
        place = _strongest(trace, stop.path, item, index[0])
        linear = model.get_submodule(parameter.rpartition(".")[0])
        assert isinstance(linear, nn.Linear)
        *_, result = linear_output(linear, inputs[place], index[0], "in")
        explained = explanation_of(sum_of({"sum of products": result - weight, "bias": weight}), result)
    else:
        place = _strongest(trace, stop.inputs[0], item, index[1])
        computation = product_of([weight], [float(inputs[(*place, index[1])])], "in")
        explained = explanation_of(computation, computation[-1])
    return WeightUse(place[0], place[1] if len(place) > 1 else None, explained)


def _strongest(trace: Trace, path: str, item: int, column: int) -> tuple[int, ...]:
    """The position, and the head if the tensor has heads, at which the number at the index `column` is farthest from zero."""
    numbers = np.abs(trace[path].numpy()[item][..., column])
    return tuple(int(place) for place in np.unravel_index(int(numbers.argmax()), numbers.shape))
