"""Methods that choose the next token from a distribution: greedy, sampling, beam search.

A method starts a search. At each step the search receives the logits, and returns the new hypotheses (partial answers) and
which hypotheses the next step continues.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.errors import InputError

WIDEST, LARGEST_WIDTH = 8, 1_000
LARGEST_SEED = 2**32 - 1
LARGEST_PENALTY = 5.0
# Each step of beam search returns `SHOWN * width` candidates. At most `width` of them are kept, the others are pruned.
SHOWN = 2


class Hypothesis(NamedTuple):
    """A partial answer, stored as its last token and the hypothesis that this token continues.

    Attributes:
        number: its number among all hypotheses of the search, counted from 0 in the order in which they are made.
        parent: number of the hypothesis that it continues; −1 if `token` is the first token of an answer.
        step: the step that made it, counted from 0.
        row: the row, in the distribution and the tensors of that step, from which the token was chosen.
        token: id of the last token.
        log_probability: log-probability of this token in the model's own distribution, in nats.
        total: sum of the log-probabilities of all tokens of the partial answer.
        score: the number that beam search ranks by (`Beam.score`); with other methods, `total`.
        ended: whether the last token is `<eos>`.
    """

    number: int
    parent: int
    step: int
    row: int
    token: int
    log_probability: float
    total: float
    score: float
    ended: bool


class Choice(NamedTuple):
    """The result of one step of a search.

    Attributes:
        made: the hypotheses (partial answers) made in the step: in beam search the best first, else in the order of the rows.
        kept: the `Hypothesis.number` of each hypothesis that is still in the search, ended ones included.
        rows: for each row of the next step, the row of this step that it continues; None if the rows stay the same.
        tokens: the new token that each row of the next step reads.
        finished: whether the search is over.
    """

    made: tuple[Hypothesis, ...]
    kept: tuple[int, ...]
    rows: list[int] | None
    tokens: list[int]
    finished: bool


class Search(ABC):
    """The state of a search for answers: the hypotheses (partial answers) so far."""

    @abstractmethod
    def choose(
        self, own: Float[Tensor, "row vocab"], logits: Float[Tensor, "row vocab"], index: int, forced: int | None
    ) -> Choice:
        """Do one step: return the hypotheses (partial answers) made in it, and which hypotheses the next step continues.

        Args:
            own: the model's own log-probabilities, −∞ for tokens that must not be written. Beam search ranks by them.
            logits: the logits after the logits processors. Greedy decoding and sampling choose from them.
            index: index of the step, counted from 0.
            forced: id of a token that is written whatever its probability; None to choose.
        """


@dataclass(frozen=True)
class Greedy:
    """Greedy decoding: choose the most probable token at each step."""

    def start(self, rows: int, eos: int, pad: int, max_new_tokens: int) -> Search:
        """A new search for the answers to a batch of `rows` texts. `eos` and `pad` are ids of the special tokens;
        `max_new_tokens` is not used."""
        return _Independent(rows, eos, pad, lambda logits, _: logits.argmax(-1))


@dataclass(frozen=True)
class Sample:
    """Sample a token: choose it at random, by the probabilities.

    Attributes:
        seed: the same seed gives the same tokens. Each step has its own random numbers, so a token that is forced in one step
            does not change the random numbers of later steps.

    Raises:
        InputError: the seed is not a whole number from 0 to 2³² − 1.
    """

    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral) or not 0 <= self.seed <= LARGEST_SEED:
            raise InputError("The seed is {seed!r}; allowed are 0 to {most}.", seed=self.seed, most=LARGEST_SEED)

    def start(self, rows: int, eos: int, pad: int, max_new_tokens: int) -> Search:
        """A new search for the answers to a batch of `rows` texts. `eos` and `pad` are ids of the special tokens;
        `max_new_tokens` is not used."""
        return _Independent(
            rows, eos, pad, lambda logits, index: self._sampled(logits, self.uniforms(index, rows)[:, None])[:, 0]
        )

    def uniforms(self, index: int, count: int) -> Float[Tensor, " sample"]:
        """`count` random numbers from 0 to 1, each of which selects one token of step `index`. Equal seeds and equal indices
        give equal numbers."""
        return torch.from_numpy(np.random.default_rng([self.seed, index]).random(count))

    def samples(self, logits: Float[Tensor, " vocab"], index: int, count: int) -> Int[Tensor, " sample"]:
        """`count` token ids sampled from `logits`, one independent of the other, with the random numbers of step `index`. The
        first id is the token that the answer gets in this step."""
        return self._sampled(logits[None], self.uniforms(index, count)[None])[0]

    def _sampled(self, logits: Float[Tensor, "row vocab"], uniforms: Float[Tensor, "row sample"]) -> Int[Tensor, "row sample"]:
        cumulated = logits.double().softmax(-1).cumsum(-1)
        # `right=True` skips equal sums, so that a token of probability 0 is never sampled.
        sampled = torch.searchsorted(cumulated, uniforms * cumulated[:, -1:], right=True)
        last = (logits > -math.inf).int().cumsum(-1).argmax(-1, keepdim=True)
        return torch.minimum(sampled, last)


@dataclass(frozen=True)
class Beam:
    """Beam search: at each step every hypothesis is continued by every token, and the `width` best of all are kept.

    A hypothesis is a partial answer. Hypotheses that ended with `<eos>` compete with the others. The search is over when all
    kept hypotheses have ended, or when no other hypothesis can still beat the best ended hypothesis. Logits processors have no
    effect, because beam search ranks by the model's own log-probabilities.

    Attributes:
        width: number of hypotheses that are kept, 1 to 1000; the app offers 1 to 8. 1 is greedy decoding.
        length_penalty: 0 to 5. The sum of the log-probabilities is divided by the length (with `<eos>`) to this power. 0
            favours short answers, because each token makes the sum smaller; 1 compares the mean.

    Raises:
        InputError: the width or the length penalty is not a number in its range.
    """

    width: int = 4
    length_penalty: int | float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, Integral) or not 1 <= self.width <= LARGEST_WIDTH:
            template = "The width is {width!r}; allowed are whole numbers from 1 to {most}."
            raise InputError(template, width=self.width, most=LARGEST_WIDTH)
        penalty = self.length_penalty
        if isinstance(penalty, bool) or not isinstance(penalty, Real) or not 0 <= penalty <= LARGEST_PENALTY:
            template = "The length penalty is {penalty!r}; allowed are 0 to {most}."
            raise InputError(template, penalty=penalty, most=LARGEST_PENALTY)

    def score(self, total: float, length: int) -> float:
        """The score of a partial answer of `length` tokens: `total`, its log-probability, divided by `length` to the power
        `length_penalty`."""
        return total / length**self.length_penalty

    def start(self, rows: int, eos: int, pad: int, max_new_tokens: int) -> Search:
        """A new search for one answer of at most `max_new_tokens` tokens. `eos` is the id of `<eos>`; `pad` is not used.

        Raises:
            InputError: `rows` is not 1.
        """
        if rows != 1:
            raise InputError("Beam search writes one answer at a time, not {rows}.", rows=rows)
        return _BeamSearch(self, eos, max_new_tokens)


Method = Greedy | Sample | Beam


class _Independent(Search):
    """Greedy decoding and sampling: each row of the batch has one hypothesis. An ended row stays in the batch and reads padding
    until all rows have ended, because edits name texts by their row."""

    def __init__(self, rows: int, eos: int, pad: int, pick: Callable[[Tensor, int], Tensor]) -> None:
        self.eos, self.pad, self.pick = eos, pad, pick
        self.last: list[Hypothesis | None] = [None] * rows
        self.count = 0

    def choose(
        self, own: Float[Tensor, "row vocab"], logits: Float[Tensor, "row vocab"], index: int, forced: int | None
    ) -> Choice:
        picked = self.pick(logits, index) if forced is None else torch.full((len(logits),), forced)
        chances = own.gather(-1, picked[:, None])[:, 0].tolist()
        made, tokens = [], picked.tolist()
        for row, before in enumerate(self.last):
            if before is not None and before.ended:
                tokens[row] = self.pad
                continue
            total = chances[row] + (before.total if before else 0.0)
            parent = before.number if before else -1
            new = Hypothesis(self.count, parent, index, row, tokens[row], chances[row], total, total, tokens[row] == self.eos)
            self.last[row], self.count = new, self.count + 1
            made.append(new)
        ends = [hypothesis for hypothesis in self.last if hypothesis]
        kept = tuple(hypothesis.number for hypothesis in ends)
        return Choice(tuple(made), kept, None, tokens, all(hypothesis.ended for hypothesis in ends))


class _BeamSearch(Search):
    """Beam search for one source. `live` has the hypothesis of each row of the next step, `ended` the kept hypotheses that
    have ended."""

    def __init__(self, beam: Beam, eos: int, max_new_tokens: int) -> None:
        self.beam, self.eos, self.max_new_tokens = beam, eos, max_new_tokens
        self.live: list[Hypothesis | None] = [None]
        self.ended: list[Hypothesis] = []
        self.count = 0

    def choose(
        self, own: Float[Tensor, "row vocab"], logits: Float[Tensor, "row vocab"], index: int, forced: int | None
    ) -> Choice:
        candidates = self._candidates(own, index, forced)
        if forced is not None:  # an answer that ended before does not have the forced token
            self.ended = []
        ranked = sorted([*self.ended, *candidates], key=lambda hypothesis: -hypothesis.score)  # stable for equal scores
        best = ranked[: self.beam.width]
        kept = {hypothesis.number for hypothesis in best}
        self.ended = [hypothesis for hypothesis in best if hypothesis.ended]
        live = [hypothesis for hypothesis in best if not hypothesis.ended]
        self.live = [*live]
        rows, tokens = [hypothesis.row for hypothesis in live], [hypothesis.token for hypothesis in live]
        return Choice(tuple(candidates), tuple(kept), rows, tokens, not live or self._decided(live))

    def _candidates(self, own: Float[Tensor, "row vocab"], index: int, forced: int | None) -> list[Hypothesis]:
        """The best `2 * width` continuations of all hypotheses that have not ended, or fewer if fewer are possible."""
        totals = (
            torch.tensor([[hypothesis.total if hypothesis else 0.0] for hypothesis in self.live], dtype=torch.float64) + own
        )
        if forced is not None:
            only = torch.full_like(totals, -math.inf)
            only[:, forced] = totals[:, forced]
            totals = only
        flat = totals.flatten()
        possible = int((flat > -math.inf).sum())
        count = min(SHOWN * self.beam.width, possible)
        made = []
        for place in flat.argsort(descending=True, stable=True)[:count].tolist():
            row, token = divmod(place, own.shape[1])
            before, total = self.live[row], float(flat[place])
            parent, score = before.number if before else -1, self.beam.score(total, index + 1)
            chance = float(own[row, token])
            made.append(Hypothesis(self.count, parent, index, row, token, chance, total, score, token == self.eos))
            self.count += 1
        return made

    def _decided(self, live: Sequence[Hypothesis]) -> bool:
        """Whether no hypothesis of `live` can still beat the best ended hypothesis. The sum of its log-probabilities can only
        fall, and is divided by at most the length of the longest answer."""
        if not self.ended:
            return False
        best = max(hypothesis.score for hypothesis in self.ended)
        return all(self.beam.score(hypothesis.total, self.max_new_tokens + 1) <= best for hypothesis in live)
