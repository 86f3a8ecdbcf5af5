"""Tests of the logit lens and of contributions over many texts."""

import numpy as np
import pytest

from tests.transformer.huggingface.tiny import opened
from transformer import InputError, Pipeline
from transformer.analysis.logit_contributions import logit_contributions
from transformer.analysis.logit_lens import logit_lens
from transformer.analysis.logit_scores import logit_scores
from transformer.pipeline.protocol import TextPipeline

PAIRS = [("the cat sleeps .", "le chat"), ("the dog eats the bread .", "le chien mange")]


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ["english-french", "gpt2", "t5"])
def test_each_report_is_the_mean_over_the_texts_so_far(name: str) -> None:
    shipped = name == "english-french"
    pipeline: TextPipeline = Pipeline.load(name) if shipped else opened(name)
    texts = PAIRS if shipped else ["the cat sees the dog .", "a man runs ."]
    lenses, sums, own = [], [], []
    for text in texts:
        source, target = text if isinstance(text, tuple) else (text, "" if name == "gpt2" else None)
        trace = pipeline.trace(source, target)
        token = int(trace.logits[0, -1].argmax())
        assert pipeline.readout
        lenses.append(logit_lens(pipeline.readout, trace)[:, 0, -1].double().log_softmax(-1)[:, token].numpy())
        own.append(float(trace.logits[0, -1].double().log_softmax(-1).max()))
        sums.append(logit_contributions(pipeline.readout, trace, token).values)
    reports = list(logit_scores(pipeline, iter(texts)))
    assert [(scores.done, scores.total) for scores in reports] == [(1, None), (2, None)]
    for scores in reports:
        np.testing.assert_allclose(scores.lens, np.mean(lenses[: scores.done], axis=0), rtol=1e-9)
        np.testing.assert_allclose([*scores.contributions.values()], np.mean(sums[: scores.done], axis=0), rtol=1e-9)
    assert reports[-1].lens[-1] == pytest.approx(np.mean(own), abs=1e-5)  # at its last point, the lens is the model itself


def test_other_arguments_are_refused_before_a_text_is_read() -> None:
    with pytest.raises(InputError, match="must be a list of texts"):
        logit_scores(Pipeline.load("reverse"), "abc")
    with pytest.raises(InputError):
        logit_scores(opened("bert"), ["a man runs ."])
