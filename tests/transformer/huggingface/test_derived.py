"""Tests of scores that a trace does not keep: they are computed again when they are read, and equal those of the pass bit for
bit."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor

pytest.importorskip("transformers", reason="transformers is not installed (requirements-huggingface.txt)")

from tests.transformer.huggingface.tiny import LONG, MODELS, SHORT, opened
from transformer.network.tap import Derived, Edit, Scope, Tap, Traceable
from transformer.tracing.interventions import Ablate, Block, Patch, Scale
from transformer.tracing.paths import SCORES
from transformer.tracing.trace import Trace


class Copy(Edit):
    """Copies a tensor during the pass, and changes nothing."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.copies: list[Tensor] = []

    def place(self, model: Traceable) -> str:
        return self.path

    def needs(self, model: Traceable) -> Iterable[str]:
        return ()

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        self.copies.append(values.clone())
        return values


def traced_with_copies(name: str, edits: Callable[[str], list[Edit]] = lambda _: []) -> tuple[Trace, dict[str, Tensor]]:
    """The trace of two texts, and a copy of every tensor, made during a second, equal pass."""
    pipeline = opened(name)
    target: Any = None if pipeline.stacks == ("encoder",) else ["a dog runs .", "it sees the big cat ."]
    kind = "encoder.layers.1.self_attention" if pipeline.stacks == ("encoder",) else "decoder.layers.1.self_attention"
    trace = pipeline.trace([SHORT, LONG], target, edits(kind))
    copies = [Copy(step.path) for step in trace if step.path in pipeline.network.taps]
    again = pipeline.trace([SHORT, LONG], target, [*edits(kind), *copies])
    assert torch.equal(again.logits, trace.logits)
    return trace, {copy.path: copy.copies[-1] for copy in copies}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_tensor_of_a_trace_is_that_of_the_pass(name: str) -> None:
    trace, copies = traced_with_copies(name)
    assert {step.path for step in trace if isinstance(step.stored, Derived)} == {
        step.path for step in trace if step.path.endswith("scores")
    }
    for path, values in copies.items():
        assert torch.equal(trace[path].values, values), path
        assert trace[path].shape == tuple(values.shape)


EDITS: dict[str, Callable[[str], list[Edit]]] = {
    "scores": lambda attention: [Scale(f"{attention}.scores", heads=(1,), factor=3.0)],
    "scaled": lambda attention: [Scale(f"{attention}.scaled_scores", factor=-1.0)],
    "hidden": lambda attention: [Patch(f"{attention}.scores", heads=(0,), positions=(2,), values=-torch.inf)],
    "blocked": lambda attention: [Block(attention, heads=(1,), edges=((2, 1),))],
    "uniform": lambda attention: [Ablate(attention, heads=(0,), to="uniform")],
    "keys": lambda attention: [Scale(f"{attention}.key.heads", factor=2.0)],
}


@pytest.mark.few_cases(6)
@pytest.mark.parametrize("name", ["marian", "t5", "llama", "gemma2", "bert"])
@pytest.mark.parametrize("edit", EDITS)
def test_every_tensor_of_a_trace_with_edits_is_that_of_the_pass(name: str, edit: str) -> None:
    trace, copies = traced_with_copies(name, EDITS[edit])
    for path, values in copies.items():
        assert torch.equal(trace[path].values, values), path
    for kind in trace.kinds:
        for layer in range(2):
            path = kind.path(layer)
            hidden = ~trace.used_masks[str(path)] | (trace[path / "masked_scores"].values == -torch.inf)
            assert torch.equal(trace.hidden(path), hidden)
            assert torch.equal(trace.allowed(kind)[layer], ~hidden)


def test_a_trace_keeps_the_weights_and_no_scores() -> None:
    trace = opened("llama").trace(SHORT, "")
    kept = [step.path for step in trace if step.axes[-2:] == ("query", "key") and step.nbytes]
    assert kept == [f"decoder.layers.{layer}.self_attention.weights" for layer in range(2)]
    attention = trace["decoder.layers.0.self_attention.scores"]
    assert attention.nbytes == 0 < attention.values.nbytes
    everything = {id(step.stored): step.nbytes for step in trace}
    assert trace.tensor_bytes <= sum(everything.values()) + sum(mask.nbytes for mask in trace.used_masks.values())
    assert all(isinstance(trace[f"decoder.layers.1.self_attention.{name}"].stored, Derived) for name in SCORES)
