"""Drawings of models from Hugging Face: each is drawn, or raises an error of the library."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import SHORT, opened
from transformer import HeadlightError, compare, draw
from transformer.analysis.word_trace import WordTrace
from transformer.tracing.trace import Trace


@functools.cache
def run(name: str) -> Trace:
    return opened(name).trace(SHORT)


def kind(name: str) -> str:
    return str(run(name).kinds[-1])


ANY: dict[str, Callable[[str], Any]] = {
    "head": lambda name: draw.head(run(name), kind(name), 0, 1),
    "heads": lambda name: draw.heads(run(name), kind(name)),
    "rollout": lambda name: draw.rollout(run(name), str(run(name).kinds[0])),
    "steps": lambda name: draw.steps(run(name), kind(name), 0, 1),
    "terms": lambda name: draw.terms(opened(name), run(name), kind(name), 0, 1, "scores", 0, 1),
    "input_gradients": lambda name: draw.input_gradients(opened(name), run(name), 2),
    "attention_gradients": lambda name: draw.attention_gradients(opened(name), run(name), kind(name), 1, 1, 2),
    "tensor": lambda name: draw.tensor(run(name), "logits"),
    "rows": lambda name: draw.rows(opened(name), SHORT),
    "vocabulary": lambda name: draw.vocabulary(opened(name), SHORT),
}
# Drawings of a written answer. An encoder without a decoder writes no answer.
WRITING: dict[str, Callable[[str], Any]] = {
    "beam": lambda name: draw.beam(opened(name), SHORT, 2),
    "lens": lambda name: draw.lens(opened(name), SHORT),
    "contributions": lambda name: draw.contributions(opened(name), SHORT, 1),
    "losses": lambda name: draw.losses(opened(name), run(name)),
    "importance": lambda name: draw.importance(opened(name), run(name), 1),
}
OURS_ALONE: dict[str, Callable[[str], Any]] = {
    "costs": lambda name: draw.costs(opened(name), run(name)),
    "terms of queries": lambda name: draw.terms(opened(name), run(name), kind(name), 0, 1, "query", 0, 1),
    "convention": lambda name: draw.convention(run(name), kind(name), 0, 0),
}


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("name", ["gpt2", "bert", "gemma2"])
def test_drawings_of_other_models_work_if_the_trace_has_what_they_need(name: str) -> None:
    for call in [*ANY.values(), *([] if name == "bert" else WRITING.values())]:
        assert call(name).figure.data
    for call in [*OURS_ALONE.values(), *(WRITING.values() if name == "bert" else ())]:
        with pytest.raises(HeadlightError):
            call(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "bert", "gemma2"])
def test_two_runs_of_other_models_are_compared(name: str) -> None:
    other = opened(name).trace(f"{SHORT} {SHORT}")
    for both in (compare(run(name), other), compare(WordTrace.of(run(name)), WordTrace.of(other))):
        assert "words" in both.aligned.values()
        assert len([activation.values for activation in both]) == len(run(name))
        for drawing in (
            draw.head(both, kind(name), 0, 1),
            draw.heads(both, kind(name)),
            draw.rollout(both, kind(name)),
            draw.steps(both, kind(name), 0, 1),
            draw.tensor(both, "encoder.output" if name == "bert" else "logits"),
            draw.layer(both, both.kinds[0].stack, 1),
            draw.residual(both, both.kinds[0].stack),
        ):
            assert drawing.figure.data
