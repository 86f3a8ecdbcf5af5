"""`Output`: what a model of `transformers` computes from the vectors after its last layer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer.pipeline.protocol import OutputKind
from transformer.tracing.paths import Side


@dataclass(frozen=True)
class Output:
    """What a model computes from the vectors after its last layer.

    Attributes:
        kind: `tokens`, logits over the vocabulary; `label`, logits over the labels of a text; `labels`, logits over the labels
            of each token; `span`, two logits for each token, as the start and as the end of an answer; `vectors`, no logits.
        labels: the names of the labels; empty for other kinds of output.
        independent: whether each label has a probability of its own (sigmoid), so that several labels may apply to a text.
        separator: for `span`, the id between the question and the text; −1 if the tokenizer has no such id.
        typed: for `span`, whether the model reads which tokens belong to the text (`token_type_ids`).
    """

    kind: OutputKind = "tokens"
    labels: tuple[str, ...] = ()
    independent: bool = False
    separator: int = -1
    typed: bool = False

    def axes(self, side: Side) -> str:
        """The names of the axes of the logits, separated by spaces, such as `batch source vocab`. `side`, `source` or `target`,
        is the name of the axis of the tokens."""
        axes = {"tokens": f"batch {side} vocab", "labels": f"batch {side} label", "span": f"batch bound {side}"}
        return axes.get(self.kind, "batch label")

    def given(self, ids: Int[Tensor, "batch source"]) -> dict[str, Tensor]:
        """More named arguments for a call of the model with `ids`. If `kind` is `span` and `typed` is True: `token_type_ids`,
        which are 1 for the tokens after the first separator, up to and including the second; otherwise empty."""
        if self.kind != "span" or not self.typed:
            return {}
        separators = ids == self.separator
        # 1 for the tokens after the first separator, up to the second one.
        return {"token_type_ids": (separators.cumsum(1) - separators.long() == 1).long()}

    def of(self, model: Any, given: Mapping[str, Any], last: Int[Tensor, " batch"] | None = None) -> Tensor:
        """The logits of a model, or the vectors after its last layer if it has no output layer.

        Args:
            model: a model of `transformers`.
            given: the named arguments with which the model is called.
            last: for a decoder alone, the index of the last token of each text; None for other models. The label of a text is
                read from the vector of this token.
        """
        if self.kind == "label" and last is not None:  # a model without a token for padding would refuse a batch
            vectors = getattr(model, model.base_model_prefix)(**given)[0]
            return model.score(vectors)[torch.arange(len(vectors)), last]
        result = model(**given)
        if self.kind == "vectors":
            return result[0]
        return torch.stack([result.start_logits, result.end_logits], 1) if self.kind == "span" else result.logits

    def probabilities(self, logits: Tensor) -> Tensor | None:
        """The probabilities of logits, of the same shape. None for a model with only one label, whose output is a number, not a
        logit."""
        if self.labels and len(self.labels) == 1:
            return None
        return logits.sigmoid() if self.independent else logits.softmax(-1)


# The output of a model with a language head.
TOKENS = Output()


def last_tokens(keep: Bool[Tensor, "batch target"]) -> Int[Tensor, " batch"]:
    """For each text, the index of its last token. `keep` is True for tokens and False for padding."""
    return keep.shape[1] - 1 - keep.flip(1).int().argmax(1)


def best_span(logits: Float[Tensor, "bound source"], allowed: Bool[Tensor, " source"], longest: int) -> tuple[int, int]:
    """The indices of the first and the last token of the span (part of a text) whose start and end have the largest sum of
    logits.

    Args:
        logits: for each token, its logit as the start and as the end of the span.
        allowed: True for the tokens that the span may start or end at; at least one must be True.
        longest: most tokens of the span.
    """
    scores = logits[0, :, None] + logits[1, None, :]
    ends = torch.ones_like(scores, dtype=torch.bool).triu() & ~torch.ones_like(scores, dtype=torch.bool).triu(longest)
    scores = scores.masked_fill(~(ends & allowed[:, None] & allowed[None, :]), -torch.inf)
    first, last = divmod(int(scores.argmax()), scores.shape[1])
    return first, last
