"""Changes of a pass of our `Transformer` that `compare` tries: edits of tensors, replaced parts of the network, other ids."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from transformer.network.model import Transformer
from transformer.network.tap import Edit, Recording, Scope, Tap, Traceable, tracing


@dataclass(frozen=True, eq=False)
class Change(Edit):
    """An edit that replaces one tensor by a function of this tensor and of tensors that came before it in the pass.

    Attributes:
        path: path of the tensor.
        function: called with the tensor and the `Scope` of the pass, whose `values` are the tensors so far; returns the new
            tensor.
    """

    path: str
    function: Callable[[Tensor, Scope], Tensor]

    def place(self, model: Traceable) -> str:
        return self.path

    def needs(self, model: Traceable) -> Iterable[str]:
        return model.taps

    def apply(self, values: Tensor, tap: Tap, scope: Scope) -> Tensor:
        return self.function(values, scope)


@dataclass(frozen=True, eq=False)
class Alteration:
    """A change of a pass of our `Transformer`.

    Attributes:
        edits: edits of tensors.
        parts: (module, name, value) for each replaced part of the network: while the pass runs, the attribute or submodule of
            that name has this value.
        source, target: ids that are read instead; None for the same ids.
        logits: a function whose result replaces the logits; None for the same logits.
    """

    edits: tuple[Edit, ...] = ()
    parts: tuple[tuple[nn.Module, str, Any], ...] = ()
    source: Tensor | None = None
    target: Tensor | None = None
    logits: Callable[[Tensor], Tensor] | None = None


@dataclass(frozen=True, eq=False)
class Candidate:
    """A mistake that `compare` tries in our `Transformer`, at one place or group of places.

    Attributes:
        names: a short name of the mistake; two names if two mistakes are made at once.
        words: the mistakes in words, one for each name.
        where: the place in words; empty if the mistake has only one place.
        parts: the parts of the network that the mistake changes: paths of sub-layers, `source_embedding`, `target_embedding`,
            `encoder`, `decoder` or `logits`.
        make: a function that returns the change.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    where: str
    parts: tuple[str, ...]
    make: Callable[[], Alteration]


def run_altered(
    model: Transformer, source: Tensor, target: Tensor, alterations: Sequence[Alteration]
) -> tuple[Tensor, Recording]:
    """The logits and all tensors of a pass of our `Transformer` with all of `alterations` at once."""
    for each in alterations:
        source = source if each.source is None else each.source
        target = target if each.target is None else each.target
    edits = [edit for each in alterations for edit in each.edits]
    with torch.inference_mode(), ExitStack() as stack:
        for each in alterations:
            for part in each.parts:
                stack.enter_context(replaced(*part))
        recording = stack.enter_context(tracing(model, edits))
        logits = model(source, target)
        for each in alterations:
            logits = logits if each.logits is None else each.logits(logits)
    return logits, recording


@contextmanager
def replaced(module: nn.Module, name: str, value: Any) -> Generator[None]:
    """A context within which the attribute or submodule `name` of a module is `value`."""
    own = name in vars(module) or name in module._modules
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        if own:
            setattr(module, name, before)
        else:
            delattr(module, name)
