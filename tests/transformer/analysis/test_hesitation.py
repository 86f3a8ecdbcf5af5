"""Tests of the token of which a model was least sure."""

import torch

from transformer import Pipeline
from transformer.analysis import hesitation as module
from transformer.analysis.hesitation import hesitation

HALF_TRAINED = "reverse@000168"


def test_a_sure_answer_has_no_hesitation(reverse: Pipeline) -> None:
    probabilities = reverse.trace("headlight").probabilities[0].numpy()
    assert hesitation(probabilities) is None


def test_hesitation_returns_the_least_probable_token_and_the_second_most_probable_one() -> None:
    pipeline = Pipeline.load(HALF_TRAINED)
    sources = ["abc", "headlight"]
    trace = pipeline.trace(sources)
    for item, answer in enumerate(pipeline.answers(sources)):
        rows = len(answer.tokens) + answer.ended
        found = hesitation(trace.probabilities[item, :rows].numpy())
        assert found is not None
        ordered = trace.logits[item, :rows].softmax(-1).sort(descending=True)
        row = int(ordered.values[:, 0].argmin())
        assert (found.row, found.token, found.other) == (row, *ordered.indices[row, :2].tolist())
        shares = [found.probability, found.other_probability]
        torch.testing.assert_close(shares, ordered.values[row, :2].tolist())
        assert found.probability < module.UNSURE
