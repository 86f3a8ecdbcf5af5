"""`Generation`: all decoding steps of one answer, with their hypotheses (partial answers) as a tree."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from transformer.errors import InputError
from transformer.pipeline.decoding.generate import DecodingStep
from transformer.pipeline.decoding.methods import Hypothesis


@dataclass(frozen=True, eq=False)
class Generation:
    """All decoding steps of one answer to one source. The hypotheses (partial answers) of the steps form a tree; with greedy
    decoding and sampling, a single chain.

    Attributes:
        steps: the steps that `generate` yields, at least one.

    Raises:
        InputError: there are no steps, several sources, or values that are not steps.
    """

    steps: tuple[DecodingStep, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(step, DecodingStep) for step in self.steps):
            raise InputError("The steps of an answer are those that `generate` yields, not {steps!r}.", steps=self.steps)
        if not self.steps or len(self.steps[0].input_ids) != 1:
            raise InputError("An answer needs the steps of one source; there are {count}.", count=len(self.steps))

    @cached_property
    def nbytes(self) -> int:
        """Bytes of memory of all tensors of the steps; tensors that are views of the same memory are counted once."""
        tensors: list[Tensor] = []
        for step in self.steps:
            kept = (values for values in step.values.stored.values() if isinstance(values, Tensor))
            tensors += [step.input_ids, *(stage.logits for stage in step.stages), *kept, *step.masks.values()]
        # Views of the same memory have the same address. They grow from step to step, so the last one is the longest.
        return sum({values.data_ptr(): values.nbytes for values in tensors}.values())

    @classmethod
    def of(cls, steps: Iterable[DecodingStep]) -> "Generation":
        """Run an iterator that `generate` returned to its end, and return all its steps as a Generation.

        Raises:
            InputError: `steps` is empty, has items that `generate` does not yield, or has the steps of several sources.
        """
        return cls(tuple(steps) if isinstance(steps, Iterable) else (steps,))

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses (partial answers) of all steps. The index of each is its `Hypothesis.number`."""
        return tuple(hypothesis for step in self.steps for hypothesis in step.hypotheses)

    @cached_property
    def best(self) -> Hypothesis:
        """The hypothesis with the highest score among those that the last step kept; of equal scores, the first."""
        return max((self.hypotheses[number] for number in sorted(self.steps[-1].kept)), key=lambda kept: kept.score)

    def chain(self, hypothesis: Hypothesis) -> tuple[Hypothesis, ...]:
        """A hypothesis, which stores only its last token, after all hypotheses that it continues: one for each token.

        Raises:
            InputError: the value is not a hypothesis.
        """
        _check(hypothesis)
        chain = [hypothesis]
        while chain[-1].parent >= 0:
            chain.append(self.hypotheses[chain[-1].parent])
        return tuple(reversed(chain))

    @cached_property
    def _numbers_of_best(self) -> frozenset[int]:
        return frozenset(made.number for made in self.chain(self.best))

    def state(self, hypothesis: Hypothesis) -> str:
        """The state of a hypothesis after the last step: `best` if it is part of the best answer, `kept` if it is part of
        another answer of the last step, `pruned` if it was dropped in the step in which it was made, `later` if it was
        dropped in a later step. Raises the same errors as `chain`."""
        _check(hypothesis)
        pruned = self.pruned.get(hypothesis.number)
        if pruned is None:
            return "best" if hypothesis.number in self._numbers_of_best else "kept"
        return "later" if pruned > hypothesis.step else "pruned"

    def written(self, hypothesis: Hypothesis | None = None) -> Hypothesis | None:
        """The given hypothesis, by default the best; or its parent, if its last token is beyond the limit on new tokens, where
        a token is chosen only to see whether the answer ends. None if this parent is the empty answer. Raises the same errors
        as `chain`."""
        made = self.best if hypothesis is None else hypothesis
        _check(made)
        if made.ended or self.steps[made.step].room:
            return made
        return self.hypotheses[made.parent] if made.parent >= 0 else None

    def ids(self, hypothesis: Hypothesis | None = None) -> tuple[int, ...]:
        """The ids of the tokens of a hypothesis, by default the best. `<eos>` and a token beyond the limit (`written`) are left
        out. Raises the same errors as `chain`."""
        made = self.written(hypothesis)
        return tuple(each.token for each in self.chain(made) if not each.ended) if made else ()

    @property
    def total(self) -> float:
        """The log-probability, in nats, of the best answer: the sum over its tokens, `<eos>` included. A token beyond the limit
        (`written`) is left out. 0 if the answer has no tokens."""
        made = self.written()
        return made.total if made else 0.0

    @property
    def ended(self) -> bool:
        """True if the best answer ended with `<eos>`, False if it was stopped before."""
        return self.best.ended

    @cached_property
    def pruned(self) -> dict[int, int]:
        """Number of each pruned (dropped) hypothesis → index of the step that pruned it, counted from 0. A hypothesis is pruned
        if it is not among the best of its own step, if no kept hypothesis continues it, or if it has ended and others
        overtake it."""
        pruned = {}
        for step in self.steps:
            kept = {made.number for number in step.kept for made in self.chain(self.hypotheses[number])}
            for hypothesis in self.hypotheses:
                if hypothesis.step <= step.index and hypothesis.number not in kept:
                    pruned.setdefault(hypothesis.number, step.index)
        return pruned


def _check(hypothesis: object) -> None:
    if not isinstance(hypothesis, Hypothesis):
        raise InputError("A hypothesis must be one of `Generation.hypotheses`, not {given!r}.", given=hypothesis)
