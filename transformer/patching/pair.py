"""`RunPair`: two runs of one network that are to be compared by patching, and the two tokens between which they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer.analysis.checks import check_language_head, check_number, check_text_pipeline, check_trace
from transformer.errors import InputError
from transformer.pipeline.answer import Source, Target
from transformer.pipeline.decoding.generate import Network
from transformer.pipeline.protocol import TextPipeline
from transformer.tracing.trace import Trace

LENGTHS = (
    "The {side} of the clean run has {clean} tokens and that of the corrupt run {corrupt}. Patching puts the vector of a token "
    "in the place of another, so both need equally many; change one text by a word."
)
OTHER_TARGETS = "The two runs read different targets; give both the same one, because the tokens before the row must be equal."


class Ids(NamedTuple):
    """What the network reads in a run. A side that it lacks is None."""

    source: Int[Tensor, "1 source"] | None
    target: Int[Tensor, "1 target"] | None

    @classmethod
    def of(cls, trace: Trace) -> "Ids":
        """The ids of the first text of a trace."""
        return cls(*(torch.tensor(ids[:1]) if ids else None for ids in (trace.source_ids, trace.target_ids)))

    def times(self, count: int) -> "Ids":
        """The ids for a batch of equal texts; nothing is copied."""
        return Ids(*(None if ids is None else ids.expand(count, -1) for ids in self))


@dataclass(frozen=True, eq=False)
class RunPair:
    """A clean and a corrupt run of one network.

    A network with an encoder reads two sources and the same target in both runs, so that every difference comes from the
    source. A decoder alone reads two targets of equal length.

    Attributes:
        network: the network, in evaluation mode. It is not changed.
        clean, corrupt: what it reads.
        row: the row of the logits that is compared.
        tokens: ids of the token that the clean run prefers and of the one that the corrupt run prefers. The logit difference
            is the logit of the first minus the logit of the second.
        wanted: the most probable token of the clean run in each row from `row` on: its answer from there.
        same_answer: whether both runs find the same token most probable in this row. Then the second of `tokens` is the token
            that gains most in the corrupt run.
    """

    network: Network
    clean: Ids
    corrupt: Ids
    row: int
    tokens: tuple[int, int]
    wanted: tuple[int, ...]
    same_answer: bool

    @classmethod
    def of(
        cls, network: Network, clean: Trace, corrupt: Trace, row: int | None = None, tokens: Sequence[int] | None = None
    ) -> "RunPair":
        """The pair of two traces of a network; the first text of each.

        Args:
            network: the network that was traced.
            clean, corrupt: the traces, without edits.
            row: the row of the logits to compare. By default, the first row in which the most probable tokens differ, or if
                there is none, the row whose distributions differ most. For a decoder alone, the last row.
            tokens: ids of the two tokens whose logits are compared; by default, the most probable tokens of the row.

        Raises:
            InputError: an argument has a wrong type, the runs are of another network, they differ in length or read different
                targets, the network has no language head, or there is no such row or token.
        """
        check_language_head(network)
        for trace in (clean, corrupt):
            check_trace(trace)
            if trace.config != network.config:
                raise InputError("The network must be the one that was traced; this one has another configuration.")
        _check_lengths(clean, corrupt)
        logits = [trace.logits[0] for trace in (clean, corrupt)]
        crossed = len(clean.sides) > 1
        last = len(logits[0]) - 1
        if row is None:
            row = last if clean.sides == ("target",) else first_different(*logits)
        check_number("row", row, 0, last)
        tokens, same = _tokens(logits[0][row], logits[1][row], tokens)
        wanted = tuple(logits[0][row:].argmax(-1).tolist()) if crossed else (int(logits[0][row].argmax()),)
        return cls(network, Ids.of(clean), Ids.of(corrupt), int(row), tokens, wanted, same)


def run_pair(
    pipeline: TextPipeline,
    clean: Source,
    corrupt: Source,
    target: Target = None,
    row: int | None = None,
    tokens: Sequence[int] | None = None,
) -> RunPair:
    """The pair of runs on two texts.

        pair = run_pair(pipeline, "the cat … it was too tired .", "the cat … it was too wide .")

    Args:
        pipeline: the pipeline of a model with a language head.
        clean, corrupt: two texts of equally many tokens.
        target: what the decoder reads in both runs; by default, the answer to the clean text. A decoder alone reads no target
            besides its text.
        row, tokens: as in `RunPair.of`.

    Raises:
        InputError: the errors of `RunPair.of`, or the model cannot read a text.
    """
    check_text_pipeline(pipeline)
    check_language_head(pipeline.network)
    if pipeline.stacks == ("decoder",):
        traces = [pipeline.trace([text], [""]) for text in (clean, corrupt)]
    else:
        read = pipeline.answers([clean])[0] if target is None and pipeline.writes else target
        traces = [pipeline.trace([text], [read]) for text in (clean, corrupt)]
    return RunPair.of(pipeline.network, traces[0], traces[1], row, tokens)


def first_different(clean: Float[Tensor, "row vocab"], corrupt: Float[Tensor, "row vocab"]) -> int:
    """The first row whose most probable tokens differ; if there is none, the row with the largest divergence from the clean to
    the corrupt distribution."""
    differing = (clean.argmax(-1) != corrupt.argmax(-1)).nonzero()
    if len(differing):
        return int(differing[0])
    before, after = clean.double().log_softmax(-1), corrupt.double().log_softmax(-1)
    return int((before.exp() * (before - after)).sum(-1).argmax())


def _check_lengths(clean: Trace, corrupt: Trace) -> None:
    """Check that both runs have the same sides and equally many tokens on each, and with an encoder the same target."""
    if clean.sides != corrupt.sides:
        raise InputError("The two runs must have the same sides, source and target.")
    for side in clean.sides:
        lengths = [len(trace.ids_of(side)[0]) for trace in (clean, corrupt)]
        if side == "target" and len(clean.sides) > 1 and clean.target_ids[0] != corrupt.target_ids[0]:
            raise InputError(OTHER_TARGETS)
        if lengths[0] != lengths[1]:
            raise InputError(LENGTHS, side=side, clean=lengths[0], corrupt=lengths[1])


def _tokens(
    clean: Float[Tensor, " vocab"], corrupt: Float[Tensor, " vocab"], given: Sequence[int] | None
) -> tuple[tuple[int, int], bool]:
    """The two tokens that are compared, and whether both runs find the same one most probable."""
    best, other = int(clean.argmax()), int(corrupt.argmax())
    same = best == other
    if given is not None:
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
            raise InputError("tokens is {given!r}; it must be two ids of tokens.", given=given)
        for token in given:
            check_number("token", token, 0, len(clean) - 1)
        return (int(given[0]), int(given[1])), same
    if same:
        gains = (corrupt.double().softmax(-1) - clean.double().softmax(-1)).index_fill(0, torch.tensor([best]), -torch.inf)
        other = int(gains.argmax())
    return (best, other), same
