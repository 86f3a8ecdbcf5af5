"""`Comparison`, the result of `compare`: whether a user's network agrees with ours, where they first differ, and why."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transformer.pipeline.checkpoint import as_path, write_whole
from transformer.watching.compared_file import ComparedRun, ComparedTensor, compared_bytes

MOST = 1000  # a larger difference is written as “more than 1000 times”


@dataclass(frozen=True)
class Reason:
    """A reason for a difference, usually a mistake: if our `Transformer` makes it, our numbers equal those of the user's
    network, at least up to the next difference.

    Attributes:
        name: a short name, such as `no scaling`.
        words: the mistake as a clause.
        where: the place in words; empty if the mistake has only one place.
        remaining: the difference of the logits if our network makes this mistake and those before it, relative to the largest
            logit.
    """

    name: str
    words: str
    where: str
    remaining: float

    def __str__(self) -> str:
        return f"{self.words[:1].upper()}{self.words[1:]}{f' (in {self.where})' if self.where else ''}."


@dataclass(frozen=True)
class Comparison:
    """The first difference between a user's Transformer and ours, on the same ids and with the same weights. A difference is
    relative to the largest absolute value of our tensor.

    Attributes:
        agrees: whether the logits agree, nothing in the user's network is random, and no two of its layers, sub-layers or
            projections share weights.
        difference: the largest difference of the logits; ∞ if their shapes differ, NaN if some logits of the user's network are
            not finite.
        first: path of our first tensor that the user's network does not have; None if the logits agree.
        first_difference: the largest difference between the tensor at `first` and the nearest tensor of the user's network.
        place: the place of the first difference in words; empty if there is no difference.
        reasons: first randomness, such as dropout; then shared weights; then the mistakes that were found by trying, in the
            order of the search.
        explained: whether our `Transformer` with all these mistakes gives the logits of the user's network.
        remaining: the difference of the logits if our network makes all these mistakes.
        notes: remarks, each a sentence.
        weights: name of each of our weights → names of the user's parameters from which it was copied.
        tolerance: the largest difference that counts as equal.
        tensors: our tensors beside the nearest tensors of the user's network, for item 0 of the batch, in the order of
            computation.
        labels: side (`source` or `target`) → its ids as labels, for item 0 of the batch.
    """

    agrees: bool
    difference: float
    first: str | None
    first_difference: float
    place: str
    reasons: tuple[Reason, ...]
    explained: bool
    remaining: float
    notes: tuple[str, ...]
    weights: Mapping[str, tuple[str, ...]]
    tolerance: float = field(repr=False)
    tensors: tuple[ComparedTensor, ...] = field(repr=False)
    labels: Mapping[str, tuple[str, ...]] = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write the comparison to a safetensors file, with the bytes of `to_bytes`.

        Raises:
            CheckpointError: the file cannot be written.
        """
        write_whole(as_path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The contents of a safetensors file that the app's page Layers opens: the tensors, and the sentences about them."""
        says = tuple(str(self).splitlines())
        return compared_bytes(ComparedRun(says, self.first, self.tolerance, self.tensors, self.labels))

    def __str__(self) -> str:
        if self.agrees:
            same = f"Both networks give the same logits (largest difference {self.difference:.1e} of the largest logit)."
            return "\n".join((same, *self.notes))
        if self.first is None:
            lines = ["With the same weights, both networks give the same logits. But:"]
        else:
            logits = f"differ by {_size(self.difference)} of the largest"
            if math.isinf(self.difference):
                logits = "have another shape"
            elif math.isnan(self.difference):
                logits = "of yours are not all finite"
            lines = [
                f"The logits {logits}.",
                f"The first tensor of ours that yours does not have is {self.first}: {self.place}.",
                "Yours has none of this size."
                if math.isinf(self.first_difference)
                else f"The nearest tensor of yours differs by {_size(self.first_difference)} of its largest number.",
            ]
        lines += [f"- {reason}" for reason in self.reasons]
        if self.reasons and self.explained:
            mistakes = "this mistake" if len(self.reasons) == 1 else f"these {len(self.reasons)} mistakes"
            lines.append(f"With {mistakes}, our network gives your numbers, to {self.remaining:.0e}.")
        elif self.reasons:
            lines.append("With these, our network gives your numbers up to a later place, and differs from there on.")
        else:
            lines.append("No mistake that was tried gives your numbers.")
        return "\n".join((*lines, *self.notes))


def _size(difference: float) -> str:
    return f"more than {MOST} times" if difference > MOST else f"{difference:.2g}"
