"""Silencing heads in turn."""

import numpy as np
import pytest
import torch

from transformer import Ablate, InputError, Pipeline
from transformer.importance import head_importance
from transformer.trace import KINDS


def test_the_batch_gives_what_one_run_for_each_head_gives() -> None:
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
                path = f"{KINDS[kind][0]}.layers.{layer}.{KINDS[kind][1]}.weights"
                edited = pipeline.trace("light", "thgil", [Ablate(path, (head,))])
                after = edited.logits[0, position].log_softmax(-1)[token].item()
                assert drops[layer, head] == pytest.approx(before - after, abs=1e-3)


def test_a_position_that_is_not_there_is_refused() -> None:
    pipeline = Pipeline.load("reverse")
    with pytest.raises(InputError, match="position"):
        next(head_importance(pipeline.model, torch.tensor([[1, 4, 2]]), torch.tensor([[1]]), 1, 4))
