"""Tests of the scores of heads over many texts."""

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.transformer.huggingface.tiny import opened
from transformer import InputError, Pipeline
from transformer.analysis.ablation import ablation_scores
from transformer.analysis.head_measures import mean_of, measure
from transformer.analysis.head_scores import SCORES, head_scores, mean_head_scores
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.trace import Trace

TEXTS = ["abca", "dcba", "hello"]
WORDS = ["the cat sees the dog .", "a man runs .", "it sees a cat ."]


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_last_report_is_the_mean_of_the_measures_of_each_text(kind: str) -> None:
    pipeline, expected = Pipeline.load("reverse"), []
    for text in TEXTS:
        trace = pipeline.trace(text)
        ids = {"encoder": trace.source_ids, "decoder": trace.target_ids}.get(kind, (None,))[0]
        expected.append(measure(trace.attention(kind)[:, 0].double().numpy(), ids=ids))
    *_, last = head_scores(pipeline, TEXTS, kind)
    assert (last.done, last.total) == (3, 3)
    means = mean_of(expected)
    assert list(last.means) == [name for name in SCORES if name in means]
    assert ("induction" in means) == (kind != "cross")
    for name, values in last.means.items():
        np.testing.assert_allclose(values, means[name], rtol=1e-12)


@pytest.mark.few_cases(2)
@pytest.mark.parametrize(("name", "kind"), [("gpt2", "decoder"), ("llama", "decoder"), ("bert", "encoder"), ("t5", "cross")])
def test_models_of_hugging_face_are_measured_on_the_text_itself(name: str, kind: str) -> None:
    pipeline: TextPipeline = opened(name)
    scores = mean_head_scores(pipeline, WORDS, kind, ["first", "entropy"])
    traces = [pipeline.trace(text, "" if name in ("gpt2", "llama") else None) for text in WORDS]
    expected = np.mean([trace.attention(kind)[:, 0, :, :, 0].double().numpy().mean(-1) for trace in traces], axis=0)
    assert list(scores) == ["first", "entropy"]
    np.testing.assert_allclose(scores["first"], expected, rtol=1e-6)


def test_targets_are_read_as_they_are_given() -> None:
    pipeline = Pipeline.load("reverse")
    given = mean_head_scores(pipeline, [("abc", "xyz")], "cross")
    assert (
        given["entropy"] == measure(pipeline.trace("abc", "xyz").attention("cross")[:, 0].double().numpy())["entropy"]
    ).all()


@pytest.mark.parametrize("analysis", [head_scores, ablation_scores])
def test_an_iterator_is_read_one_text_at_a_time_and_no_trace_is_kept_meanwhile(analysis: Callable[..., Any]) -> None:
    def traces() -> int:
        gc.collect()
        return sum(type(each) is Trace for each in gc.get_objects())

    kept = []

    def texts() -> Iterator[str]:
        for text in TEXTS:
            kept.append(traces())
            yield text

    gc.freeze()  # the objects of the tests before this one, which are many, are not looked through each time
    try:
        reports = [(scores.done, scores.total) for scores in analysis(Pipeline.load("reverse"), texts())]
    finally:
        gc.unfreeze()
    assert [done for done, _ in reports] == [1, 2, 3]
    assert {total for _, total in reports} == {None if analysis is head_scores else 3}
    assert kept == [0] * 3


def test_the_reports_come_while_an_iterator_is_read() -> None:
    waiting = iter(TEXTS)
    next(head_scores(Pipeline.load("reverse"), waiting, "encoder", ["self"]))
    assert list(waiting) == TEXTS[1:]


def test_a_report_does_not_change_after_it_was_yielded() -> None:
    first, *_ = reports = [*head_scores(Pipeline.load("reverse"), TEXTS, "encoder")]
    alone = mean_head_scores(Pipeline.load("reverse"), TEXTS[:1], "encoder")
    assert {name: values.tolist() for name, values in first.means.items()} == {
        name: values.tolist() for name, values in alone.items()
    }
    assert (first.means["self"] != reports[-1].means["self"]).any()


def test_a_model_without_the_kind_of_attention_is_refused() -> None:
    with pytest.raises(InputError, match="This run has no decoder attention; it has encoder"):
        next(head_scores(opened("bert"), WORDS))
