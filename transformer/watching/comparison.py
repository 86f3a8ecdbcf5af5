"""What `compare` returns: whether two networks agree, where they first differ, and why."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """A mistake that was tried: with it, our network gives the numbers of theirs, at least as far as the next difference.

    Attributes:
        name: a short name, such as `no scaling`.
        words: the mistake as a clause.
        where: the place in words; empty if the mistake has only one place.
        remaining: the difference of the logits with this mistake and those before it in ours, in units of the largest logit.
    """

    name: str
    words: str
    where: str
    remaining: float

    def __str__(self) -> str:
        return f"{self.words[:1].upper()}{self.words[1:]}{f' (in {self.where})' if self.where else ''}."


@dataclass(frozen=True)
class Comparison:
    """The first difference of somebody's Transformer from ours, on the same ids and with the same weights.

    Attributes:
        agrees: whether the logits agree, and nothing in theirs is random.
        difference: the largest difference of the logits, in units of the largest logit of ours; ∞ if their shapes differ.
        first: path of the first tensor of ours that theirs does not have; None if the logits agree.
        first_difference: how far the nearest tensor of theirs is from it, in units of its largest number.
        place: the first difference in words; empty if there is none.
        reasons: the mistakes that were found by trying, in the order of computation.
        explained: whether ours with all these mistakes gives the logits of theirs.
        remaining: the difference of the logits with all reasons.
        notes: remarks, each a sentence.
        weights: name of each weight of ours → names of theirs, which it was copied from.
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

    def __str__(self) -> str:
        if self.agrees:
            return f"Both networks give the same logits (largest difference {self.difference:.1e} of the largest logit)."
        lines = []
        if self.first is not None:
            lines.append(f"The logits differ by {self.difference:.1e} of the largest logit.")
            lines.append(
                f"The first tensor of ours that yours does not have is {self.first}: {self.place}. The nearest tensor of yours"
                f" differs by {self.first_difference:.1e} of its largest number."
            )
        lines += [f"- {reason}" for reason in self.reasons]
        if self.reasons and self.explained:
            mistakes = "this mistake" if len(self.reasons) == 1 else f"these {len(self.reasons)} mistakes"
            lines.append(f"With {mistakes}, our network gives your numbers, to {self.remaining:.0e}.")
        elif self.reasons:
            lines.append("With these, our network gives your numbers up to a later place, and differs from there on.")
        else:
            lines.append("No mistake that was tried gives your numbers.")
        return "\n".join((*lines, *self.notes))
