"""Attentions of a small model and traces of edited runs, for tests."""

import itertools

import torch

from tests.transformer.small import SOURCE, TARGET
from transformer.network.model import Transformer
from transformer.tracing.interventions import Intervention
from transformer.tracing.trace import Trace, run_traced

ATTENTIONS = ("encoder.layers.0.self_attention", "decoder.layers.1.self_attention", "decoder.layers.1.cross_attention")
ENCODER, DECODER, CROSS = ATTENTIONS


def edited(model: Transformer, *edits: Intervention) -> Trace:
    return run_traced(model, SOURCE, TARGET, edits)


def equal_before(plain: Trace, other: Trace, path: str) -> bool:
    """Whether every tensor that is computed before the tensor at `path` is equal bit for bit in both traces."""
    before = itertools.takewhile(lambda step: step.path != path, plain)
    return all(torch.equal(step.values, other[step.path].values) for step in before)
