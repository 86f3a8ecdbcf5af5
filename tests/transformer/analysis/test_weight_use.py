"""What a weight does in a run."""

import numpy as np
import pytest

from transformer import InputError, PathError, Pipeline
from transformer.analysis.cell import explain
from transformer.analysis.walk import Stop, walk
from transformer.analysis.weight_use import weight_use
from transformer.tracing.trace import Trace


def of(name: str, text: str) -> tuple[Pipeline, Trace, dict[str, Stop]]:
    pipeline = Pipeline.load(name)
    trace = pipeline.trace([text, text[::-1]])
    return pipeline, trace, {stop.path: stop for stop in walk(trace)}


@pytest.mark.parametrize("name", ["reverse", "reverse-shared"])
def test_every_weight_of_a_sum_is_a_term_or_the_bias_of_a_number_of_the_result(name: str) -> None:
    pipeline, trace, stops = of(name, "abcd")
    random, seen = np.random.default_rng(0), set[str]()
    for stop in stops.values():
        for parameter in stop.parameters:
            values = pipeline.model.get_parameter(parameter).detach().numpy()
            index = tuple(int(random.integers(size)) for size in values.shape)
            use = weight_use(pipeline.model, trace, stop, parameter, index, item=1)
            if stop.operation in ("look up", "first rows"):
                assert use is None
                continue
            assert use is not None
            place = (use.position,) if use.head is None else (use.position, use.head)
            result, given = (trace[path].numpy()[1] for path in (stop.path, stop.inputs[0]))
            if stop.operation == "LayerNorm" or values.ndim == 1:
                seen.add(stop.operation)
                numbers = result[..., index[-1]]
                assert use.explained.result == pytest.approx(float(numbers[place]), rel=1e-4, abs=1e-5)
                assert abs(numbers).max() == abs(numbers[place])
                if stop.operation != "LayerNorm":
                    assert use.explained.terms[1].value == pytest.approx(float(values[index]))
            else:
                seen.add("matrix")
                (term,) = use.explained.terms
                assert (term.left, term.right) == (float(values[index]), float(given[(*place, index[1])]))
                assert use.explained.result == term.left * term.right
                assert abs(given[..., index[1]]).max() == abs(term.right)
    assert seen == ({"matrix", "linear map", "LayerNorm"})


def test_the_product_of_a_weight_is_among_the_terms_of_the_number() -> None:
    pipeline, trace, stops = of("reverse", "abcd")
    stop = stops["encoder.layers.0.self_attention.query.projected"]
    use = weight_use(pipeline.model, trace, stop, stop.parameters[0], (21, 7))
    assert use is not None
    head, column = divmod(21, trace.config.d_head)
    whole = explain(pipeline.model, trace, "encoder", 0, head, "query", use.position, column)
    assert whole.terms[7].value == pytest.approx(use.explained.result)


def test_a_weight_that_does_not_exist_is_refused() -> None:
    pipeline, trace, stops = of("reverse", "abcd")
    stop = stops["logits"]
    weight, bias = stop.parameters
    for index in ((30, 0), (0, -1)):
        with pytest.raises(PathError):
            weight_use(pipeline.model, trace, stop, weight, index)
    for parameter, index in (("nothing", (0, 0)), (bias, (0, 0)), (weight, 3)):
        with pytest.raises(InputError):
            weight_use(pipeline.model, trace, stop, parameter, index)
    with pytest.raises(PathError):
        weight_use(pipeline.model, trace, stop, bias, (0,), item=2)
