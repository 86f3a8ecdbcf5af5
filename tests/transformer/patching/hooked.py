"""Patching by plain forward hooks of PyTorch on the modules of our network. It shares no code with `transformer.patching`: only
the names of the modules."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from transformer.network.model import Transformer
from transformer.patching import RunPair

ATTENTIONS = {
    "encoder": ("encoder", "self_attention"),
    "decoder": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}
# Grid → the side of its queries, and of its keys.
SIDES = {"encoder": ("source", "source"), "decoder": ("target", "target"), "cross": ("target", "source")}
READ = {"query": ["query"], "key": ["key"], "value": ["value"], "key_and_value": ["key", "value"]}
# A module, whether its input is changed instead of its output, and a function of it; None changes nothing.
Edit = tuple[nn.Module, bool, Callable[[Tensor], Tensor | None]]
HEADS = ("head_output", "weights", *READ)
LAYERS = ("attention", "feed_forward", "residual_stream", "embedding")


def side_of(what: str, grid: str) -> str:
    return SIDES[grid][what in ("key", "value", "key_and_value")]


class Hooked:
    """Runs of a pair with hooks: the tensors of the other run are recorded once, and put into the base run place by place."""

    def __init__(self, pair: RunPair, direction: str) -> None:
        self.pair = pair
        model = pair.network
        assert isinstance(model, Transformer)
        self.model = model
        self.base, other = (pair.corrupt, pair.clean) if direction == "denoise" else (pair.clean, pair.corrupt)
        self.recorded: dict[tuple[nn.Module, bool], Tensor] = {}

        def record(module: nn.Module, given: bool) -> Callable[[Tensor], None]:
            return lambda values: self.recorded.update({(module, given): values.clone()})

        points = [(module, given) for module in model.modules() for given in (False, True)]
        with hooks([(module, given, record(module, given)) for module, given in points]):
            self.logits(other)

    @torch.no_grad()
    def logits(self, ids: Any) -> Tensor:
        return self.model(ids.source, ids.target)[0]

    def patched(self, what: str, grid: str, layer: int, head: int, positions: list[int] | None) -> Tensor:
        """The logits of the base run with one place of the other run; positions is None for all."""
        stack, name = ATTENTIONS[grid]
        block: Any = getattr(self.model, stack).layers[layer]
        attention: Any = getattr(block, name)
        if what == "weights":
            return self.with_weights(attention, grid, head, positions)
        points = {
            "head_output": [(attention.output_projection, True)],
            "attention": [(attention.output_projection, False)],
            "feed_forward": [(block.feed_forward.down_projection, False)],
            "residual_stream": [(block, False)],
            "embedding": [(getattr(self.model, f"{SIDES[grid][0]}_embedding"), False)],
        } | {key: [(getattr(attention, branch).projection, False) for branch in names] for key, names in READ.items()}
        of_head = head if what in HEADS else None
        edits: list[Edit] = []
        for module, given in points[what]:
            edits.append((module, given, self.swap(self.recorded[module, given], of_head, positions)))
        with hooks(edits):
            return self.logits(self.base)

    def swap(self, other: Tensor, head: int | None, positions: list[int] | None) -> Callable[[Tensor], Tensor]:
        """Replace the part of a head (or all of it) at some positions of [1, position, features]."""

        def edit(values: Tensor) -> Tensor:
            new = values.clone()
            for position in range(values.shape[1]) if positions is None else positions:
                if head is None:
                    new[:, position] = other[:, position]
                elif values.ndim == 4:  # [1, position, head, d_head]
                    new[:, position, head] = other[:, position, head]
                else:
                    new[:, position, self.columns(head)] = other[:, position, self.columns(head)]
            return new

        return edit

    def with_weights(self, attention: Any, grid: str, head: int, positions: list[int] | None) -> Tensor:
        """There is no module behind the weights, so the weights of the other run are computed again from its queries and keys,
        and multiplied by the values of the base run."""
        query, key = (self.part(self.recorded[getattr(attention, name).projection, False], head) for name in ("query", "key"))
        scores = (
            query
            @ key.T
            / math.sqrt(query.shape[1] if self.model.config.score_divisor == "d_head" else self.model.config.d_model)
        )
        if grid == "decoder":
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
        values: dict[str, Tensor] = {}

        def joined(heads: Tensor) -> Tensor:
            new = heads.clone()
            mixed = scores.softmax(-1) @ self.part(values["value"], head)
            for position in range(len(mixed)) if positions is None else positions:
                new[0, position, self.columns(head)] = mixed[position]
            return new

        keep: Edit = (attention.value.projection, False, lambda of: values.update(value=of))
        with hooks([keep, (attention.output_projection, True, joined)]):
            return self.logits(self.base)

    def part(self, values: Tensor, head: int) -> Tensor:
        """The vectors of one head, [position, d_head]."""
        return values[0, :, head] if values.ndim == 4 else values[0][:, self.columns(head)]

    def columns(self, head: int) -> slice:
        width = self.model.config.d_head
        return slice(head * width, (head + 1) * width)


@contextmanager
def hooks(edits: list[Edit]) -> Iterator[None]:
    """Within the context, each function changes the output of its module, or with True, the input; or only looks at it."""
    handles = []
    for module, given, edit in edits:
        if given:
            handles.append(module.register_forward_pre_hook(_on_input(edit)))
        else:
            handles.append(module.register_forward_hook(_on_output(edit)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _on_input(edit: Callable[[Tensor], Tensor | None]) -> Any:
    def hook(_: nn.Module, inputs: tuple[Any, ...]) -> Any:
        new = edit(inputs[0]) if inputs and isinstance(inputs[0], Tensor) else None
        return None if new is None else (new, *inputs[1:])

    return hook


def _on_output(edit: Callable[[Tensor], Tensor | None]) -> Any:
    return lambda _, __, output: edit(output) if isinstance(output, Tensor) else None
