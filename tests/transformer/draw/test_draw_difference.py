"""Drawings of the difference of two runs: each drawing takes one, or raises a sentence that says what it needs."""

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from transformer import Ablate, Difference, HeadlightError, InputError, Pipeline, Trace, compare, draw
from transformer.analysis.head_measures import rollout
from transformer.analysis.residual import residual_stream

ONE_RUN = "give `difference.a` or `difference.b`"


@functools.cache
def model() -> Pipeline:
    return Pipeline.load("reverse")


@functools.cache
def run(*edits: Ablate) -> Trace:
    return model().trace("abcd", "dcba", edits)


@functools.cache
def two(first: str = "abcd", second: str = "abcz") -> Difference:
    return compare(model().trace(first, first[::-1]), model().trace(second, second[::-1]))


def other_model() -> Difference:
    """Two models with the same layers and heads, and other sizes."""
    return compare(run(), Pipeline.load("english-french").trace("the cat sleeps"))


def longer() -> Difference:
    return two("abcd", "abxcd")


# Drawings that have a Difference for an argument. Of the others, those with a trace refuse it, and the rest have no trace.
TAKING: dict[str, Callable[[Difference], Any]] = {
    "difference": lambda both: draw.difference(both, kind="cross", layer=1, head=0),
    "embedding": lambda both: draw.embedding(both),
    "head": lambda both: draw.head(both, "cross", 0, 1),
    "heads": lambda both: draw.heads(both, "decoder"),
    "layer": lambda both: draw.layer(both, "decoder"),
    "losses": lambda both: draw.losses(model(), both),
    "mask": lambda both: draw.mask(both),
    "mean_of_heads": lambda both: draw.mean_of_heads(both, "cross", 0),
    "probabilities": lambda both: draw.probabilities(model(), both),
    "residual": lambda both: draw.residual(both, measure="added_norm"),
    "rollout": lambda both: draw.rollout(both, "encoder"),
    "rows": lambda both: draw.rows(model(), both),
    "similarity": lambda both: draw.similarity(model(), both),
    "step": lambda both: draw.step(both, "cross", 0, 1, "scores"),
    "steps": lambda both: draw.steps(both, "cross", 0, 1),
    "tensor": lambda both: draw.tensor(both, "encoder.layers.0.self_attention.weights"),
    "units": lambda both: draw.units(model(), both, "encoder.layers.0.feed_forward", 1),
}
REFUSING: dict[str, Callable[[Difference], Any]] = {
    "attention_gradients": lambda both: draw.attention_gradients(model(), both, "cross", 0, 1, 1),
    "convention": lambda both: draw.convention(both, "decoder", 0, 1),
    "costs": lambda both: draw.costs(model(), both),
    "empty_rows": lambda both: draw.empty_rows(both, "decoder", 0, 1),
    "growth": lambda both: draw.growth(both),
    "importance": lambda both: draw.importance(model(), both, 1),
    "input_gradients": lambda both: draw.input_gradients(model(), both, 1),
    "padding": lambda both: draw.padding(model(), both),
    "terms": lambda both: draw.terms(model(), both, "cross", 0, 1, "weights", 0, 2),
}
# They take a text, a model or a watched module, never a trace.
WITHOUT_TRACE = {
    *("beam", "circle", "contributions", "distances", "distribution", "head_history", "lens", "position_products", "positions"),
    *("rotation", "smoothing", "swap", "training", "vocabulary", "watched_head", "watched_heads", "watched_tensor", "waves"),
    *("weight_sizes", "needed", "patched", "patched_answer", "per_head", "estimated"),
}


def test_every_drawing_is_listed() -> None:
    assert {*TAKING, *REFUSING, *WITHOUT_TRACE} == {*draw.__all__} - {"Drawing"}


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("both", [two, longer], ids=["as long", "longer"])
@pytest.mark.parametrize("name", TAKING)
def test_a_drawing_of_a_difference_is_a_figure_with_data(name: str, both: Callable[[], Difference]) -> None:
    drawing = TAKING[name](both())
    assert drawing.figure.data
    go.Figure(drawing.figure.to_dict())  # Plotly checks every property
    drawing._repr_html_()


@pytest.mark.parametrize("name", REFUSING)
def test_a_drawing_that_needs_one_run_says_so(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(ONE_RUN)):
        REFUSING[name](two())


@pytest.mark.parametrize("name", sorted(WITHOUT_TRACE))
def test_a_drawing_without_a_trace_refuses_a_difference(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(ONE_RUN)):
        getattr(draw, name)(two())


@pytest.mark.parametrize(
    "call",
    [
        lambda: draw.head(two(), "cross", 9, 0),
        lambda: draw.head(two(), "sideways", 0, 0),
        lambda: draw.heads(two(), "cross", 5),
        lambda: draw.tensor(two(), "encoder.layers.0.nothing"),
        lambda: draw.tensor(two(), "encoder.output", 3),
        lambda: draw.layer(two(), "encoder", 9),
        lambda: draw.rollout(two(), "encoder", 9),
        lambda: draw.rollout(two(), "cross"),
        lambda: draw.steps(two(), "cross", 0, 1, 99),
        lambda: draw.residual(two(), measure="weight"),
        lambda: draw.units(model(), longer(), "encoder.layers.0.feed_forward", 99),
        lambda: draw.units(model(), longer(), "encoder.layers.0.feed_forward", 3),  # "x", which A does not have
        lambda: draw.difference(two(), run()),
        lambda: draw.difference(run()),
        lambda: draw.difference(run(), "cross"),
        lambda: draw.probabilities(model(), run()),
        lambda: draw.probabilities(model(), other_model()),
        lambda: draw.losses(model(), other_model()),
        lambda: draw.units(model(), other_model(), "encoder.layers.0.feed_forward", 0),
        lambda: draw.rows(model(), other_model()),
        lambda: draw.residual(two(), "middle"),
    ],
)
def test_a_drawing_of_something_missing_raises_an_error_of_the_library(call: Callable[[], Any]) -> None:
    with pytest.raises(HeadlightError):
        call()


def three(figure: Any) -> list[np.ndarray]:
    return [np.asarray(figure.data[number].z, np.float64) for number in figure.layout.meta["together"]]


def test_three_maps_of_a_head_are_a_and_b_and_their_difference() -> None:
    both = two()
    a, b, change = three(draw.head(both, "encoder", 0, 1).figure)
    before, after = (trace.head("encoder", 0, 1).numpy() for trace in (both.a, both.b))
    np.testing.assert_allclose(a, before, rtol=1e-6)
    np.testing.assert_allclose(b, after, rtol=1e-6)
    np.testing.assert_allclose(change, after - before, atol=1e-7)


def test_a_mean_and_a_rollout_are_computed_before_the_tokens_are_aligned() -> None:
    both = longer()
    kept = [index for index, (a, b) in enumerate(both.places["source"]) if None not in (a, b)]
    rows = [both.places["source"][index][1] for index in kept]
    _, b, _ = three(draw.rollout(both, "encoder").figure)
    expected = rollout(both.b.attention("encoder")[:, 0].numpy())[-1]
    np.testing.assert_allclose(b[np.ix_(kept, kept)], expected[np.ix_(rows, rows)], rtol=1e-5)
    _, b, _ = three(draw.mean_of_heads(both, "encoder", 1).figure)
    expected = both.b.weights("encoder", 1)[0].mean(0).numpy()
    np.testing.assert_allclose(b[np.ix_(kept, kept)], expected[np.ix_(rows, rows)], rtol=1e-5)


def test_lines_of_the_residual_stream_are_the_measure_of_b_minus_that_of_a() -> None:
    both = two()
    before, after = (residual_stream(trace, "encoder").norm for trace in (both.a, both.b))
    lines = np.array([line.y for line in draw.residual(both).figure.data]).T
    np.testing.assert_allclose(lines, after - before, atol=1e-5)


def test_bars_of_probabilities_are_those_of_each_answer() -> None:
    both = two()
    a, b, change = (np.asarray(bars.y, np.float64) for bars in draw.probabilities(model(), both).figure.data)
    for trace, bars in ((both.a, a), (both.b, b)):
        ids = [*trace.target_ids[0][1:], model().vocabulary("target").eos]
        expected = [trace.probabilities[0, row, id].item() for row, id in enumerate(ids)]
        np.testing.assert_allclose(bars, expected, rtol=1e-5)
    np.testing.assert_allclose(change, b - a, atol=1e-6)


def test_two_traces_and_their_difference_give_the_same_map() -> None:
    edit = Ablate("decoder.layers.0.cross_attention.weights", heads=(1,))
    both = compare(run(), run(edit))
    one, other = draw.difference(run(), run(edit), "cross", 0, 1), draw.difference(both, kind="cross", layer=0, head=1)
    assert one.figure == other.figure
