"""Each number of the walk outside the heads, computed again."""

import numpy as np
import pytest

from transformer import Change, InputError, PathError, Pipeline
from transformer.analysis.stop_number import COMPUTATIONS, explain_stop
from transformer.analysis.walk import walk
from transformer.tracing.trace import Trace

TEXTS = {"english-french": "the cat sleeps .", "reverse": "abc", "addition": "12+34", "everyday": "the cat sleeps ."}


def of(name: str) -> tuple[Pipeline, Trace]:
    pipeline = Pipeline.load(name)
    return pipeline, pipeline.trace([TEXTS[name], TEXTS[name]])


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", TEXTS)
def test_every_stop_that_is_computed_agrees_with_the_trace(name: str) -> None:
    (pipeline, trace), random, explained = of(name), np.random.default_rng(0), 0
    for stop in walk(trace):
        rows, columns = stop.shape[-2:]
        for row, column in zip(random.integers(rows, size=3).tolist(), random.integers(columns, size=3).tolist(), strict=True):
            explanation = explain_stop(pipeline.model, trace, stop, row, column, item=1)
            if explanation is None:
                assert stop.operation not in COMPUTATIONS or "head" in stop.axes
                continue
            explained += 1
            values = trace[stop.path].numpy()
            assert explanation.traced == pytest.approx(
                float(values[1][row, column] if values.ndim == 3 else values[row, column])
            )
            assert explanation.agrees, (stop.path, row, column, explanation.result, explanation.traced)
    assert explained > 50


def test_a_number_that_does_not_exist_and_another_model_are_refused() -> None:
    pipeline, trace = of("reverse")
    stop = next(stop for stop in walk(trace) if stop.operation == "LayerNorm")
    with pytest.raises(PathError):
        explain_stop(pipeline.model, trace, stop, stop.shape[-2], 0)
    with pytest.raises(PathError):
        explain_stop(pipeline.model, trace, stop, 0, -1)
    with pytest.raises(PathError):
        explain_stop(pipeline.model, trace, stop, 0, 0, item=2)
    with pytest.raises(InputError):
        explain_stop(Pipeline.load("addition").model, trace, stop, 0, 0)


def test_an_edited_number_does_not_agree_with_its_computation() -> None:
    pipeline = Pipeline.load("reverse")
    path = "encoder.layers.0.feed_forward.hidden"
    trace = pipeline.trace("abc", edits=[Change(path, lambda values: values + 1)])
    stop = next(each for each in walk(trace) if each.path == path)
    explanation = explain_stop(pipeline.model, trace, stop, 0, 0)
    assert explanation
    assert not explanation.agrees
    assert explanation.traced == pytest.approx(explanation.result + 1, abs=1e-4)
