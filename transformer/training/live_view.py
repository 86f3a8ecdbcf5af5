"""The present answer of a model in training to one text, with the attention weights of all its heads."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from transformer.pipeline.checkpoint import read_safetensors
from transformer.pipeline.pipeline import Pipeline
from transformer.tasks import find_task
from transformer.tracing.paths import Kind

PARTS = ("step", "text", "answer", "ended", "written", "probabilities", "right", "tokens")


@dataclass(frozen=True, eq=False)
class LiveView:
    """The model's answer to one text at one step of a training.

    Attributes:
        step: optimiser steps done.
        text: the source.
        answer: the model's answer, as text.
        ended: whether the model ended its answer with `<eos>`.
        written: the tokens of the answer, and `<eos>` if the model wrote it.
        probabilities: the probability of each token of `written`.
        right: the right answer; None if the task that the model learns does not define it.
        tokens: kind of attention → the tokens of its queries and of its keys.
        weights: kind of attention → weights of all heads, [layer, head, query, key].
        allowed: kind of attention → True where a query may attend to a key, with the axes of `weights`.
    """

    step: int
    text: str
    answer: str
    ended: bool
    written: tuple[str, ...]
    probabilities: tuple[float, ...]
    right: str | None
    tokens: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    weights: dict[str, np.ndarray]
    allowed: dict[str, np.ndarray]

    def to_bytes(self) -> bytes:
        """This LiveView as the contents of a safetensors file, which `from_bytes` reads."""
        tensors = {f"weights/{kind}": torch.from_numpy(values) for kind, values in self.weights.items()}
        tensors |= {f"allowed/{kind}": torch.from_numpy(values) for kind, values in self.allowed.items()}
        return save(tensors, {"view": json.dumps({name: getattr(self, name) for name in PARTS})})

    @classmethod
    def from_bytes(cls, data: bytes) -> "LiveView":
        """The LiveView whose `to_bytes` returned `data`.

        Raises:
            CheckpointError: the data is not a safetensors file.
        """
        metadata, tensors = read_safetensors(data, "view")
        parts: dict[str, Any] = json.loads(metadata["view"])
        parts |= {name: tuple(parts[name]) for name in ("written", "probabilities")}
        parts["tokens"] = {kind: (tuple(queries), tuple(keys)) for kind, (queries, keys) in parts["tokens"].items()}
        parts |= {"weights": {}, "allowed": {}}
        for name, values in tensors.items():
            part, kind = name.split("/")
            parts[part][kind] = values.numpy()
        return cls(**parts)


def live_view(pipeline: Pipeline, text: str, step: int) -> LiveView:
    """The model's answer to a text, with the attention weights of all heads. `step` is the number of optimiser steps done.

    Raises:
        InputError: the model cannot read the text.
    """
    encoding = pipeline.encode(text)
    answer = pipeline.answers([encoding])[0]
    trace = pipeline.trace(encoding, answer)
    vocabulary = pipeline.target_vocabulary
    written = [*answer.tokens, *(vocabulary.tokens_of([vocabulary.eos]) if answer.ended else ())]
    shares = trace.logits[0].softmax(-1)
    rows = torch.arange(len(written))
    return LiveView(
        step,
        text,
        answer.text,
        answer.ended,
        tuple(written),
        tuple(shares[rows, torch.tensor(vocabulary.ids(written), dtype=torch.long)].tolist()),
        find_task(pipeline.card.task).solve(text),
        {str(kind): trace.tokens(str(kind)) for kind in Kind},
        {str(kind): trace.attention(str(kind))[:, 0].contiguous().numpy() for kind in Kind},
        {str(kind): trace.allowed(str(kind))[:, 0].contiguous().numpy() for kind in Kind},
    )
