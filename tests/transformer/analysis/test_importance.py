"""Tests of the importance of heads: the change of a log-probability when each head is ablated."""

import numpy as np
import pytest
import torch

from tests.transformer.small import SOURCE, TARGET, small
from transformer import Ablate, InputError, Pipeline
from transformer.analysis.importance import head_importance, predictions
from transformer.tracing.paths import Kind


def test_batched_drops_equal_the_drops_of_one_run_per_head() -> None:
    pipeline = Pipeline.load("reverse")
    trace = pipeline.trace("light")
    source = torch.tensor([pipeline.source_vocabulary.ids(trace.source_tokens[0])])
    target = torch.tensor([pipeline.target_vocabulary.ids(trace.target_tokens[0])])
    position, token = 2, int(trace.logits[0, 2].argmax())
    *_, last = head_importance(pipeline.model, source, target, position, token)
    assert last.done == last.total == 24
    before = trace.logits[0, position].log_softmax(-1)[token].item()
    for kind, drops in last.drops.items():
        assert not np.isnan(drops).any()
        for layer in range(2):
            for head in range(4):
                path = str(Kind.of(kind).path(layer) / "weights")
                edited = pipeline.trace("light", "thgil", [Ablate(path, heads=(head,))])
                after = edited.logits[0, position].log_softmax(-1)[token].item()
                assert drops[layer, head] == pytest.approx(before - after, abs=1e-3)


def test_a_report_does_not_change_after_it_was_yielded() -> None:
    first, last = head_importance(small(), SOURCE[:1], TARGET[:1], 0, 4)
    assert (first.done, last.done, first.total) == (16, 18, 18)
    assert sum(int(np.isfinite(drops).sum()) for drops in first.drops.values()) == 16
    assert sum(int(np.isfinite(drops).sum()) for drops in last.drops.values()) == 18


@pytest.mark.parametrize(
    ("position", "token", "message"),
    [
        (5, 4, "position is 5; allowed are 0 to 4"),
        (-1, 4, "position is -1"),
        (0, 10, "token is 10; allowed are 0 to 9"),
        (0, -1, "token is -1"),
    ],
)
def test_a_missing_position_or_token_is_refused_with_the_allowed_values(position: int, token: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        next(head_importance(small(), SOURCE[:1], TARGET[:1], position, token))


def test_predictions_equal_the_predictions_of_a_trace_with_the_same_edits() -> None:
    pipeline, edits = Pipeline.load("reverse"), [Ablate("decoder.layers.0.cross_attention", heads=(1,))]
    trace = pipeline.trace("light", "thgil", edits)
    wanted = [*trace.target_ids[0][1:], 2]
    made = predictions(pipeline.network, torch.tensor(trace.source_ids), torch.tensor(trace.target_ids), wanted, edits)
    assert made.given.tolist() == [trace.probabilities[0, row, token].item() for row, token in enumerate(wanted)]
    assert made.best.tolist() == trace.logits[0].argmax(-1).tolist()
